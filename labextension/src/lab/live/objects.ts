/** The checkpointable objects among a kernel's variables, up to date while the list is visible. */

import type { Kernel, KernelMessage } from "@jupyterlab/services";
import type { TranslationBundle } from "@jupyterlab/translation";
import { type ISignal, Signal } from "@lumino/signaling";
import LISTING from "../../../../ckpt_viz/entrances/jupyter/live_objects.py";
import { whyWords } from "../../basics/text";
import { evaluate, InterruptedError, infoOf, literal } from "./requests";

export type Kind =
  | "checkpoint"
  | "manager"
  | "saver"
  | "model"
  | "optimizer"
  | "layer"
  | "module"
  | "trackable";

export interface LiveObject {
  /** The variable's name. */
  readonly name: string;
  readonly kind: Kind;
  /** The class's name. */
  readonly type: string;
}

export interface Listed {
  readonly objects: readonly LiveObject[];
  /** The number of further objects. */
  readonly left_off: number;
  /** The number of names that there was no time to read. */
  readonly unread: number;
  /** Whether the program has imported TensorFlow. */
  readonly tensorflow: boolean;
  /** The version of ckpt-viz in the kernel's environment; null if it is not installed there. */
  readonly ckpt_viz: string | null;
  /** The kernel's interpreter. */
  readonly python: string;
}

// The kernel may lack ckpt_viz, so we send it the code that lists. The expression uses no name that
// the program may have redefined, such as `list`.
const EXPRESSION =
  `(lambda ns: (__import__('builtins').exec(${literal(LISTING)}, ns), ` +
  "ns['listed'](__import__('builtins').globals()))[1])({})";

/** Lists a kernel's objects at first and after each cell, while the list is visible. */
export class LiveObjects {
  readonly #changed = new Signal<this, void>(this);
  #kernel: Kernel.IKernelConnection | null = null;
  #isWatched = false;
  /** A cell has run since we last asked for the list. */
  #isDue = false;
  #isAsking = false;
  #listed: Listed | null = null;
  #problem: string | null = null;

  constructor(private readonly trans: TranslationBundle) {}

  /** Emits at each new list. */
  get changed(): ISignal<this, void> {
    return this.#changed;
  }

  /** The last list; null before the first one. */
  get listed(): Listed | null {
    return this.#listed;
  }

  /** Why there is no list; null if there is one, or will be one. */
  get problem(): string | null {
    return this.#problem;
  }

  get kernel(): Kernel.IKernelConnection | null {
    return this.#kernel;
  }

  setKernel(kernel: Kernel.IKernelConnection | null): void {
    if (kernel === this.#kernel) {
      this.#changed.emit(); // the same kernel (perhaps none) may have another place
      return;
    }
    this.#kernel?.iopubMessage.disconnect(this.#onMessage, this);
    this.#kernel?.statusChanged.disconnect(this.#followStatus, this);
    this.#kernel = kernel;
    this.#listed = null;
    this.#problem = null;
    kernel?.iopubMessage.connect(this.#onMessage, this);
    kernel?.statusChanged.connect(this.#followStatus, this);
    this.#isDue = true;
    this.#changed.emit();
    void this.#list();
  }

  /** Whether the list is visible; while it is not, we ask the kernel nothing. */
  setWatched(isWatched: boolean): void {
    this.#isWatched = isWatched;
    void this.#list();
  }

  // Kernels do not announce silent requests as input, and our own requests are silent.
  #onMessage(_: Kernel.IKernelConnection, message: KernelMessage.IIOPubMessage): void {
    if (message.header.msg_type === "execute_input") {
      this.#isDue = true;
    }
  }

  #followStatus(_: Kernel.IKernelConnection, status: Kernel.Status): void {
    if (status === "restarting" || status === "autorestarting" || status === "dead") {
      this.#listed = null;
      this.#isDue = true;
      this.#changed.emit();
    } else if (status === "idle") {
      void this.#list();
    }
  }

  async #list(): Promise<void> {
    const kernel = this.#kernel;
    if (kernel === null || !this.#isWatched || !this.#isDue || this.#isAsking) {
      return;
    }
    this.#isDue = false;
    this.#isAsking = true;
    let found: Listed | null = null;
    let problem: string | null = null;
    try {
      const { language_info: language } = await infoOf(kernel);
      if (language.name === "python") {
        found = await evaluate<Listed>(kernel, EXPRESSION);
      } else {
        problem = this.trans.__("The kernel runs %1, not Python.", language.name);
      }
    } catch (error) {
      problem = whyWords(error);
      this.#isDue ||= error instanceof InterruptedError; // the user meant to interrupt a cell
    }
    this.#isAsking = false;
    if (kernel === this.#kernel) {
      this.#listed = found ?? this.#listed;
      this.#problem = problem;
      this.#changed.emit();
    }
    void this.#list(); // another kernel, or a cell that has run meanwhile
  }
}
