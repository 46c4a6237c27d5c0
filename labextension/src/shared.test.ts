import type { AnyModel } from "@anywidget/types";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bytesOf, type Sharing, sharedParts } from "./shared";

const PARTS = { digest: "d1", payload: "AAH/" };

type Answer = (message: unknown) => void;

/** A widget in a host whose models find each other, or not, and whose kernel answers, or not. */
function widget(finds: boolean, answer?: unknown): AnyModel<Sharing> {
  const listeners = new Set<Answer>();
  return {
    get: () => "IPY_MODEL_abc",
    on: (_: string, listener: Answer) => listeners.add(listener),
    off: (_: string, listener: Answer) => listeners.delete(listener),
    send: (asked: object) => {
      for (const listener of listeners) {
        listener(null);
        listener({ kind: "other" });
        if (answer !== undefined) {
          listener({ ...asked, parts: answer });
        }
      }
    },
    widget_manager: {
      get_model: (id: string) =>
        finds && id === "abc" ? Promise.resolve({ get: () => PARTS }) : Promise.reject(Error(id)),
    },
  } as unknown as AnyModel<Sharing>;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

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

test("where there is no kernel either it is an error after a while", async () => {
  const failure = expect(sharedParts(widget(false), "_shared_code")).rejects.toThrow("no answer");
  await vi.advanceTimersByTimeAsync(20_000);
  await failure;
});

test("bytes come out of base64", () => {
  expect(bytesOf(PARTS.payload)).toEqual(Uint8Array.of(0, 1, 255));
});
