/** Questions to a kernel that leave no trace there: one user expression, silent and unnumbered. */

import type { Kernel, KernelMessage } from "@jupyterlab/services";
import { INVISIBLE } from "../../basics/text";

/** The media type of the answer; ckpt_viz/entrances/jupyter/live_objects.py and live_tabs.py return it. */
const REPLY = "application/vnd.ckpt-viz.reply+json";
/** A cell that fails cancels the requests in the queue behind it; we repeat ours a few times. */
const TRIES = 5;
/** The exception that an interrupted kernel raises in the code that it runs. */
const INTERRUPT = "KeyboardInterrupt";

type Connection = Pick<Kernel.IKernelConnection, "requestExecute">;
type Informed = Pick<Kernel.IKernelConnection, "info" | "isDisposed" | "disposed">;

interface Evaluated {
  readonly status?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly ename?: string;
  readonly evalue?: string;
}

const LOST =
  "The kernel ended or was restarted before it answered. Run the cells again, then ask again.";
const INTERRUPTED = "The kernel was interrupted before it answered. Ask again.";

/** The kernel still runs, but the user has interrupted our request. */
export class InterruptedError extends Error {
  constructor() {
    super(INTERRUPTED);
  }
}

/** The error that the kernel reported. */
export class KernelError extends Error {
  /** The exception's class. */
  readonly type: string;

  constructor(type: string, message: string) {
    super(`${type}: ${message}`);
    this.type = type;
  }
}

/** What a kernel tells of itself; JupyterLab never answers for a connection that it has closed. */
export function infoOf(kernel: Informed): Promise<KernelMessage.IInfoReply> {
  return new Promise<KernelMessage.IInfoReply>((resolve, reject) => {
    const lost = () => reject(new Error(LOST));
    if (kernel.isDisposed) {
      lost();
    }
    kernel.disposed.connect(lost);
    kernel.info.then(resolve, reject).finally(() => kernel.disposed.disconnect(lost));
  });
}

/** The value of an expression in a Python kernel; waits for the cells that run. */
export async function evaluate<Data>(
  kernel: Connection,
  expression: string,
  signal?: AbortSignal,
): Promise<Data> {
  for (let left = TRIES; ; left--) {
    const content = await executed(kernel, expression, signal);
    if (left === 1 || !content.status.startsWith("abort")) {
      return dataOf<Data>(content);
    }
  }
}

async function executed(
  kernel: Connection,
  expression: string,
  signal: AbortSignal | undefined,
): Promise<KernelMessage.IExecuteReplyMsg["content"]> {
  signal?.throwIfAborted();
  const future = kernel.requestExecute({
    code: "",
    silent: true,
    store_history: false,
    allow_stdin: false,
    stop_on_error: false,
    user_expressions: { reply: expression },
  });
  const cancelled = new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => {
      future.dispose();
      reject(new DOMException("", "AbortError"));
    });
  });
  // JupyterLab cancels its requests to a kernel that is gone, or that another one has replaced.
  const answered = future.done.catch(() => {
    throw new Error(LOST);
  });
  return (await Promise.race([answered, cancelled])).content;
}

function dataOf<Data>(content: KernelMessage.IExecuteReplyMsg["content"]): Data {
  if (content.status === "error" && content.ename === INTERRUPT) {
    throw new InterruptedError();
  }
  if (content.status !== "ok") {
    throw new KernelError("KernelError", `the kernel answered with status ${content.status}`);
  }
  const { reply } = content.user_expressions as { readonly reply?: Evaluated };
  if (reply?.ename === INTERRUPT) {
    throw new InterruptedError();
  }
  if (reply?.status !== "ok") {
    throw new KernelError(reply?.ename ?? "KernelError", reply?.evalue ?? "no answer");
  }
  return reply.data?.[REPLY] as Data;
}

/** A Python literal for a text. */
export function literal(text: string): string {
  // Python knows each escape that JSON.stringify writes. Other invisible characters may be in a
  // literal, but could show a reader other code than the one that runs.
  return JSON.stringify(text).replace(
    INVISIBLE,
    (c) => `\\U${(c.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`,
  );
}
