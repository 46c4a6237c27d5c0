/** Graphviz in a worker: loads on the first request, and stops at once when cancelled. */

import * as WORDS from "../basics/strings";
import { sentenceText } from "../basics/text";
import type { Places } from "./places";

/** The source text of worker.ts as built; each host fetches it in its own way. */
export type LoadGraphviz = (signal: AbortSignal) => Promise<string>;

export type Answer =
  | { readonly type: "ready" }
  | { readonly type: "drawn"; readonly places: Places }
  | { readonly type: "failed"; readonly message: string }
  /** Graphviz cannot run here at all. */
  | { readonly type: "broken"; readonly message: string };

export interface Engine {
  /**
   * Lays out Sizes, written as JSON, one at a time. Throws an error of one sentence for the user
   * after a failure, and the signal's reason after a cancellation.
   */
  layout(sizes: string, signal: AbortSignal, onDrawing: () => void): Promise<Places>;
  /** Ends the worker, but keeps the loaded source. */
  rest(): void;
}

export const DRAWING_SECONDS = 10;
/** The kernel cannot answer while a cell runs. */
export const LOADING_SECONDS = 30;

export function makeEngine(load: LoadGraphviz): Engine {
  let script: string | null = null;
  let worker: Worker | null = null;
  const rest = () => {
    worker?.terminate();
    worker = null;
  };
  return {
    async layout(sizes, signal, onDrawing) {
      script ??= await bounded(LOADING_SECONDS, WORDS.loadedTooLate, signal, load);
      const code = script;
      onDrawing();
      return bounded(DRAWING_SECONDS, WORDS.drawnTooLate, signal, (own) => {
        worker ??= start(code);
        // Immediately, since the next layout may begin before this one's promise settles.
        own.addEventListener("abort", rest);
        return ask(worker, sizes, rest);
      });
    },
    rest,
  };
}

function start(script: string): Worker {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  try {
    const worker = new Worker(url);
    for (const first of ["message", "error"]) {
      worker.addEventListener(first, () => URL.revokeObjectURL(url), { once: true });
    }
    return worker;
  } catch {
    throw new Error(WORDS.workersForbidden);
  }
}

function ask(worker: Worker, sizes: string, giveUp: () => void): Promise<Places> {
  return new Promise((resolve, reject) => {
    const fail = (words: string) => {
      giveUp();
      reject(new Error(words));
    };
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      if (data.type === "drawn") {
        resolve(data.places);
      } else if (data.type === "failed") {
        fail(WORDS.graphvizFailed(sentenceText(data.message)));
      } else if (data.type === "broken") {
        fail(WORDS.graphvizBroken(sentenceText(data.message)));
      }
    };
    // If a policy forbids the script, this error arrives, and its message is empty.
    worker.onerror = ({ message }) =>
      fail(message ? WORDS.graphvizBroken(sentenceText(message)) : WORDS.workersForbidden);
    worker.postMessage(sizes);
  });
}

/** Waits for a promise, but no longer than this time, and not after the signal. */
function bounded<T>(
  seconds: number,
  late: string,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const cancel = () => own.abort(signal.reason);
  const timer = setTimeout(() => own.abort(new Error(late)), seconds * 1000);
  return new Promise<T>((resolve, reject) => {
    own.signal.addEventListener("abort", () => reject(own.signal.reason));
    signal.addEventListener("abort", cancel);
    if (signal.aborted) {
      cancel();
    } else {
      begin(own.signal).then(resolve, reject);
    }
  }).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  });
}
