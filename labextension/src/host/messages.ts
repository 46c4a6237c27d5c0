/**
 * Questions from a widget's view to the kernel. Custom messages work in every host of anywidget.
 */

import type { AnyModel } from "@anywidget/types";
import * as WORDS from "../basics/strings";

// ckpt_viz/entrances/jupyter/shared_models.py has the same name.
const QUESTION = "ckpt-viz:question";
const ANSWER = "ckpt-viz:answer";

// ckpt_viz/entrances/jupyter/widget.py has the same value.
const REFRESHED = "ckpt-viz:refreshed";
const PROGRESS = "ckpt-viz:progress";

interface Message<T> {
  readonly kind?: unknown;
  readonly id?: unknown;
  readonly answer: T;
  readonly done?: unknown;
  readonly total?: unknown;
}

/**
 * Returns the answer and its buffers, unless the signal ends the wait first. Tells how far the
 * kernel is, for all views of the model.
 */
export function askKernel<T>(
  model: Pick<AnyModel, "on" | "off" | "send">,
  question: object,
  signal: AbortSignal,
  tell?: (done: number, total: number) => void,
): Promise<readonly [T, readonly DataView[]]> {
  return new Promise((resolve, reject) => {
    // All views of a model get all answers to it, even in other pages.
    const id = `${Math.random()}`;
    const listen = (message: Message<T> | null, buffers: readonly DataView[]) => {
      if (message?.kind === ANSWER && message.id === id) {
        model.off("msg:custom", listen);
        resolve([message.answer, buffers]);
      } else if (message?.kind === PROGRESS) {
        tell?.(Number(message.done), Number(message.total));
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

/** The same, for so many ms. */
export async function askPatiently<T>(
  model: Pick<AnyModel, "on" | "off" | "send">,
  question: object,
  patience: number,
  tell?: (done: number, total: number) => void,
): Promise<readonly [T, readonly DataView[]]> {
  try {
    return await askKernel<T>(model, question, AbortSignal.timeout(patience), tell);
  } catch (error) {
    throw new Error(WORDS.noAnswer, { cause: error });
  }
}

/** Calls whenever the kernel has read the graph again and found the same; returns what stops it. */
export function onRefresh(model: Pick<AnyModel, "on" | "off">, call: () => void): () => void {
  const listen = (message: Partial<Message<unknown>> | null) => {
    if (message?.kind === REFRESHED) {
      call();
    }
  };
  model.on("msg:custom", listen);
  return () => model.off("msg:custom", listen);
}

/**
 * Calls once for all traits that change at a time, and for none that change while `isIgnored`;
 * returns what stops it. Hosts tell of each trait as soon as the model has it, some when it does not
 * have the next one yet. Some take only one name at a time.
 */
export function onChanges<Name extends string>(
  model: Pick<AnyModel, "on" | "off">,
  names: readonly Name[],
  call: (changed: ReadonlySet<Name>) => void,
  isIgnored = () => false,
): () => void {
  const changed = new Set<Name>();
  const tell = () => {
    const now = new Set(changed);
    changed.clear();
    if (now.size > 0) {
      call(now);
    }
  };
  const listeners = names.map((name) => {
    const listen = () => {
      if (!isIgnored()) {
        changed.add(name);
        queueMicrotask(tell);
      }
    };
    model.on(`change:${name}`, listen);
    return () => model.off(`change:${name}`, listen);
  });
  return () => {
    changed.clear();
    for (const ignore of listeners) {
      ignore();
    }
  };
}
