import type { AnyModel } from "@anywidget/types";
import { afterEach, expect, test, vi } from "vitest";
import { bytesOf, type Sharing, sharedParts } from "./shared";

const PARTS = { digest: "d1", payload: "AAH/" };

type Listener = (message: unknown, buffers: readonly DataView[]) => void;

/** A widget in a host whose models find each other, or not, and whose kernel answers, or not. */
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

test("a widget with a payload of its own names no model", async () => {
  const own = { get: () => undefined } as unknown as AnyModel<Sharing>;
  expect(await sharedParts(own, "_shared_payload")).toBe(null);
});

test("what is shared is in the model that the widget names", async () => {
  expect(await sharedParts(widget(true), "_shared_payload")).toBe(PARTS);
});

test("where models do not find each other the kernel is asked", async () => {
  expect(await sharedParts(widget(false, PARTS), "_shared_payload")).toBe(PARTS);
});

test("a kernel that does not have it says so", async () => {
  const asked = sharedParts(widget(false, null), "_shared_code");
  await expect(asked).rejects.toThrow("The kernel has no _shared_code.");
});

test("where there is no kernel either it is an error after a while", async () => {
  const patience = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(patience.signal);
  const failure = expect(sharedParts(widget(false), "_shared_code")).rejects.toThrow("too late");
  await Promise.resolve();
  patience.abort(new Error("too late"));
  await failure;
  expect(timeout).toHaveBeenCalledWith(10_000);
});

test("bytes come out of base64", () => {
  expect(bytesOf(PARTS.payload)).toEqual(Uint8Array.of(0, 1, 255));
});
