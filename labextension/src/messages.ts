/** What a widget's view asks of the kernel: by messages, which every host of anywidget carries. */

import type { AnyModel } from "@anywidget/types";

// ckpt_viz/jupyter/shared_models.py has the same.
const QUESTION = "ckpt-viz:question";
const ANSWER = "ckpt-viz:answer";

interface Message<T> {
  readonly kind?: unknown;
  readonly id?: unknown;
  readonly answer: T;
}

/** Gives the answer and its buffers, unless the signal ends the patience before. */
export function askKernel<T>(
  model: Pick<AnyModel, "on" | "off" | "send">,
  question: object,
  signal: AbortSignal,
): Promise<readonly [T, readonly DataView[]]> {
  return new Promise((resolve, reject) => {
    // Views of one model hear the answers to all of them, in other pages too.
    const id = `${Math.random()}`;
    const listen = (message: Message<T> | null, buffers: readonly DataView[]) => {
      if (message?.kind === ANSWER && message.id === id) {
        model.off("msg:custom", listen);
        resolve([message.answer, buffers]);
      }
    };
    signal.throwIfAborted();
    signal.addEventListener("abort", () => {
      model.off("msg:custom", listen);
      reject(signal.reason);
    });
    model.on("msg:custom", listen);
    model.send({ kind: QUESTION, id, question });
  });
}
