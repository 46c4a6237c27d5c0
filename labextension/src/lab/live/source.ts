/** Live objects of a kernel, alone or beside a checkpoint: read in the kernel, shown here. */

import type { Kernel, KernelMessage } from "@jupyterlab/services";
import type { TranslationBundle } from "@jupyterlab/translation";
import { DisposableDelegate, type IDisposable } from "@lumino/disposable";
import { version } from "../../../package.json";
import { VERSION } from "../../data/contract";
import { bytesOf } from "../../host/shared";
import type { Answer, Ask } from "../../kernel/kernel";
import type { ViewState } from "../../view/view";
import { type Loaded, type Source, unpacked } from "../source";
import { evaluate, KernelError, literal } from "./requests";

interface Opened {
  readonly error?: string;
  /** The kernel does not know the tab. */
  readonly gone?: boolean;
  readonly version: string;
  readonly format: number;
  readonly tab: string;
  readonly payload: string;
  readonly selected?: number | null;
  readonly expanded?: readonly number[] | null;
}

interface Answered {
  readonly error?: string;
  readonly answer?: Answer;
  readonly buffers?: readonly string[];
}

const TABS = "__import__('ckpt_viz.entrances.jupyter.live_tabs', fromlist=['_'])";

/** Closes a tab without imports: a kernel that has restarted may lack the module. */
const FORGET =
  "(lambda tab: (lambda tabs: tabs and tabs.closed(tab))" +
  "(__import__('sys').modules.get('ckpt_viz.entrances.jupyter.live_tabs')))";

/** A variable of a kernel; for a check also the checkpoint's path as `restore` would get it. */
export interface LivePlace {
  readonly name: string;
  readonly against: string | null;
}

export class LiveSource implements Source {
  readonly canStop = false;
  readonly #connect: () => Promise<Kernel.IKernelConnection>;
  #kernel: Kernel.IKernelConnection | null = null;
  #tab: string | null = null;

  constructor(
    connect: () => Promise<Kernel.IKernelConnection>,
    private readonly trans: TranslationBundle,
    private readonly place: LivePlace,
  ) {
    this.#connect = connect;
  }

  get staleWords(): string {
    return this.trans.__("Cells have run since this was read, or the kernel was restarted.");
  }

  get loadingWords(): string {
    const { name } = this.place;
    return this.#kernel?.status === "busy"
      ? this.trans.__("The kernel is running other cells; %1 comes after them …", name)
      : this.trans.__("Asking the kernel for %1 …", name);
  }

  readonly ask: Ask = async (question) => {
    const named = JSON.stringify({ ...question, source: this.place.name });
    const asked = `asked(${literal(this.#tab ?? "")}, ${literal(named)})`;
    const kernel = await this.#connected();
    const { error, answer, buffers } = await evaluate<Answered>(kernel, `${TABS}.${asked}`);
    return [answer ?? { error: error ?? "" }, unpacked(buffers ?? [])];
  };

  async load(signal: AbortSignal, before: ViewState | null): Promise<Loaded> {
    const kernel = await this.#connected();
    const opened = await this.#opened(kernel, before, signal);
    if (opened.error !== undefined) {
      throw new Error(opened.error);
    }
    if (opened.format !== VERSION) {
      throw new Error(
        this.trans.__(
          "The kernel has ckpt-viz %1, which sends graphs in format %2; this page has %3, which reads format %4. Install the same version in both environments, and restart the kernel.",
          opened.version,
          opened.format,
          version,
          VERSION,
        ),
      );
    }
    this.#tab = opened.tab;
    const { selected = null, expanded = null } = opened;
    return {
      payload: bytesOf(opened.payload),
      notes: this.#mismatch(opened),
      kept: [],
      state: before === null ? {} : { selected, expanded },
    };
  }

  watch(isStale: () => void): IDisposable {
    // Kernels do not announce silent requests as input, and these explorers send silent ones.
    const onMessage = (_: Kernel.IKernelConnection, { header }: KernelMessage.IIOPubMessage) => {
      if (header.msg_type === "execute_input") {
        isStale();
      }
    };
    const follow = (_: Kernel.IKernelConnection, status: Kernel.Status) => {
      if (status === "restarting" || status === "autorestarting" || status === "dead") {
        isStale();
      }
    };
    const kernel = this.#kernel;
    kernel?.iopubMessage.connect(onMessage);
    kernel?.statusChanged.connect(follow);
    return new DisposableDelegate(() => {
      kernel?.iopubMessage.disconnect(onMessage);
      kernel?.statusChanged.disconnect(follow);
    });
  }

  dispose(): void {
    const kernel = this.#kernel;
    this.#kernel = null;
    if (kernel === null || kernel.isDisposed || this.#tab === null) {
      kernel?.dispose();
      return;
    }
    const closed = evaluate(kernel, `${FORGET}(${literal(this.#tab)})`);
    void closed.catch(() => undefined).finally(() => kernel.dispose());
  }

  async #opened(
    kernel: Kernel.IKernelConnection,
    before: ViewState | null,
    signal: AbortSignal,
  ): Promise<Opened> {
    const { name, against } = this.place;
    const other = against === null ? "None" : literal(against);
    try {
      if (this.#tab !== null) {
        const state = [before?.selected ?? null, before?.expanded ?? null];
        const [selected, expanded] = state.map((one) =>
          one === null ? "None" : JSON.stringify(one),
        );
        const again = `renewed(${literal(this.#tab)}, ${selected}, ${expanded})`;
        const renewed = await evaluate<Opened>(kernel, `${TABS}.${again}`, signal);
        if (renewed.gone !== true) {
          return renewed;
        }
        // A kernel that has restarted may know the variable, but it does not know the tab.
      }
      return await evaluate<Opened>(kernel, `${TABS}.opened(${name}, ${other})`, signal);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  #explained(error: unknown): unknown {
    if (!(error instanceof KernelError)) {
      return error;
    }
    if (error.type === "ModuleNotFoundError" && error.message.includes("'ckpt_viz.")) {
      return new Error(
        this.trans.__(
          "The kernel's ckpt-viz is too old for this page's, %1. Run `%pip install --upgrade ckpt-viz` in a cell, restart the kernel, and try again.",
          version,
        ),
      );
    }
    if (error.type === "ModuleNotFoundError") {
      return new Error(
        this.trans.__(
          "The kernel's environment has no ckpt-viz (%1). Run `%pip install ckpt-viz` in a cell, and try again.",
          error.message,
        ),
      );
    }
    if (error.type === "NameError") {
      return new Error(
        this.trans.__(
          "The kernel has no variable %1: run the cell that creates it, and try again.",
          this.place.name,
        ),
      );
    }
    return error;
  }

  async #connected(): Promise<Kernel.IKernelConnection> {
    const kernel = this.#kernel;
    if (kernel !== null && !kernel.isDisposed && kernel.status !== "dead") {
      return kernel;
    }
    kernel?.dispose();
    this.#kernel = null;
    this.#kernel = await this.#connect();
    return this.#kernel;
  }

  #mismatch({ version: theirs }: Opened): readonly string[] {
    return theirs === version
      ? []
      : [
          this.trans.__(
            "This page has ckpt-viz %1, the kernel has %2: install the same version in both environments.",
            version,
            theirs,
          ),
        ];
  }
}
