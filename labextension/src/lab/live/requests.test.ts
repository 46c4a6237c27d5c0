import { Signal } from "@lumino/signaling";
import { expect, test, vi } from "vitest";
import { evaluate, infoOf, literal } from "./requests";

const REPLY = "application/vnd.ckpt-viz.reply+json";

/** A kernel that answers every request with this content, or never. */
function kernel(content?: object) {
  const dispose = vi.fn();
  const done = content === undefined ? new Promise(() => {}) : Promise.resolve({ content });
  const requestExecute = vi.fn(() => ({ done, dispose }));
  return { requestExecute: requestExecute as never, asked: requestExecute, dispose };
}

const ok = (reply: object) => ({ status: "ok", user_expressions: { reply } });

test("a question leaves no trace: no code, no number, nothing in the history", async () => {
  const { requestExecute, asked } = kernel(ok({ status: "ok", data: { [REPLY]: { n: 1 } } }));
  expect(await evaluate({ requestExecute }, "f()")).toEqual({ n: 1 });
  expect(asked).toHaveBeenCalledExactlyOnceWith({
    ...{ code: "", silent: true, store_history: false, allow_stdin: false, stop_on_error: false },
    user_expressions: { reply: "f()" },
  });
});

test("an exception in the expression becomes an error with the name of its class", async () => {
  const raised = { status: "error", ename: "NameError", evalue: "name 'ckpt' is not defined" };
  await expect(evaluate(kernel(ok(raised)), "ckpt")).rejects.toMatchObject({
    type: "NameError",
    message: "NameError: name 'ckpt' is not defined",
  });
  await expect(evaluate(kernel({ status: "abort" }), "1")).rejects.toThrow("status abort");
});

test("a kernel that is gone or was interrupted causes an error of one sentence", async () => {
  const requestExecute = () => ({ done: Promise.reject(new Error("Canceled future")) });
  const lost = evaluate({ requestExecute: requestExecute as never }, "f()");
  await expect(lost).rejects.toThrow("The kernel ended or was restarted before it answered.");
  const stopped = { status: "error", ename: "KeyboardInterrupt", evalue: "" };
  for (const content of [stopped, ok(stopped)]) {
    const answer = evaluate(kernel(content), "f()");
    await expect(answer).rejects.toThrow("The kernel was interrupted before it answered.");
  }
});

test("a connection closed before the kernel told of itself causes the same sentence", async () => {
  const info = new Promise<never>(() => {});
  for (const isDisposed of [false, true]) {
    const disposed = new Signal<never, void>({} as never);
    const lost = infoOf({ info, isDisposed, disposed });
    disposed.emit();
    await expect(lost).rejects.toThrow("The kernel ended or was restarted before it answered.");
  }
});

test("a kernel that has told of itself is not listened to any more", async () => {
  const disposed = new Signal<never, void>({} as never);
  const disconnect = vi.spyOn(disposed, "disconnect");
  const reply = { language_info: { name: "python" } };
  const info = Promise.resolve(reply) as never;
  expect(await infoOf({ info, isDisposed: false, disposed })).toBe(reply);
  await vi.waitFor(() => expect(disconnect).toHaveReturnedWith(true));
});

test("a caller can stop waiting for a busy kernel", async () => {
  const { requestExecute, dispose } = kernel();
  const cancelled = new AbortController();
  const answer = evaluate({ requestExecute }, "f()", cancelled.signal);
  cancelled.abort();
  await expect(answer).rejects.toThrow();
  expect(dispose).toHaveBeenCalledOnce();
});

test("any text becomes a valid Python literal", () => {
  expect(literal("a'b\"c\\d\n\u0000é")).toBe('"a\'b\\"c\\\\d\\n\\u0000é"');
  expect(literal("\u202e\u009b\u2028\u{e0001}")).toBe(
    '"\\U0000202e\\U0000009b\\U00002028\\U000e0001"',
  );
});
