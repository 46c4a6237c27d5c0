import type { AnyModel } from "@anywidget/types";
import { afterEach, expect, test, vi } from "vitest";
import { bytesOf, type Sharing, sharedParts } from "./shared";

const PARTS = { digest: "d1", payload: "AAH/" };

type Listener = (message: unknown, buffers: readonly DataView[]) => void;

/** A widget whose host lets models find each other or not, and whose kernel answers or not. */
function widget(finds: boolean, answer?: unknown): AnyModel<Sharing> {
  const listeners = new Set<Listener>();
  return {
    get: () => "IPY_MODEL_abc",
    on: (_: string, listener: Listener) => listeners.add(listener),
    off: (_: string, listener: Listener) => listeners.delete(listener),
    send: ({ id }: { readonly id: string }) => {
      for (const listener of listeners) {
        listener(null, []);
        listener({ kind: "other", id, answer: "wrong" }, []);
        listener({ kind: "ckpt-viz:answer", id: "of another view", answer: "wrong" }, []);
        if (answer !== undefined) {
          listener({ kind: "ckpt-viz:answer", id, answer }, []);
        }
      }
    },
    widget_manager: {
      get_model: (id: string) =>
        finds && id === "abc" ? Promise.resolve({ get: () => PARTS }) : Promise.reject(Error(id)),
    },
  } as unknown as AnyModel<Sharing>;
}

afterEach(() => void vi.restoreAllMocks());

test("a widget with its own payload names no shared model", async () => {
  const own = { get: () => undefined } as unknown as AnyModel<Sharing>;
  expect(await sharedParts(own, "_shared_payload")).toBe(null);
});

test("the model that the widget names has the shared parts", async () => {
  expect(await sharedParts(widget(true), "_shared_payload")).toBe(PARTS);
});

test("the widget asks the kernel if the host does not let it find the model", async () => {
  expect(await sharedParts(widget(false, PARTS), "_shared_payload")).toBe(PARTS);
});

test("a kernel without the shared parts gives an error", async () => {
  const asked = sharedParts(widget(false, null), "_shared_code");
  await expect(asked).rejects.toThrow("The kernel has no _shared_code.");
});

test("without a kernel there is an error after a while", async () => {
  const patience = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(patience.signal);
  const failure = expect(sharedParts(widget(false), "_shared_code")).rejects.toThrow("too late");
  await Promise.resolve();
  patience.abort(new Error("too late"));
  await failure;
  expect(timeout).toHaveBeenCalledWith(10_000);
});

test("base64 becomes bytes", () => {
  expect(bytesOf(PARTS.payload)).toEqual(Uint8Array.of(0, 1, 255));
});
