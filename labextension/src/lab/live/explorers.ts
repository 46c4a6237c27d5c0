/** The open explorers of live objects, alone or checked against a checkpoint. */

import type { ILayoutRestorer, JupyterFrontEnd } from "@jupyterlab/application";
import { type MainAreaWidget, showErrorMessage, WidgetTracker } from "@jupyterlab/apputils";
import { PathExt } from "@jupyterlab/coreutils";
import { whyWords } from "../../basics/text";
import { prefixOf } from "../paths";
import type { ExplorerPanel } from "../tabs/panel";
import type { Tabs } from "../tabs/tabs";
import { COMMANDS } from "./command-ids";
import type { FollowedKernel } from "./followed";
import { LiveSource } from "./source";

/** The content of a live tab; enough to open it again. */
export interface Live {
  readonly name: string;
  /** The kernel's id. */
  readonly kernel: string;
  /** The notebook or console whose kernel it is: its contents path. */
  readonly place: string;
  /** The contents path of the checkpoint for the check, and its path as `restore` would get it. */
  readonly path: string | null;
  readonly prefix: string | null;
}

type Tab = MainAreaWidget<ExplorerPanel>;

export class LiveExplorers {
  readonly #tracker = new WidgetTracker<Tab>({ namespace: "ckpt-viz-live" });
  readonly #shown = new WeakMap<Tab, Live>();

  constructor(
    private readonly app: JupyterFrontEnd,
    readonly tabs: Tabs,
    private readonly followed: FollowedKernel,
  ) {}

  open(wanted: Live): Tab {
    const { name, path } = wanted;
    const { trans } = this.tabs;
    const tab = this.tabs.open({
      id: `ckpt-viz-live:${JSON.stringify([wanted.kernel, name, path])}`,
      title: path === null ? name : `${PathExt.basename(prefixOf(path))} → ${name}`,
      caption: trans.__("%1 in the kernel of %2", name, wanted.place),
      source: new LiveSource(() => this.#connect(wanted.kernel), trans, {
        name,
        against: wanted.prefix,
      }),
      compareWords: trans.__("Check restore of…"),
      directory: PathExt.dirname(wanted.place),
      compareWith: (other) => void this.check(wanted, other),
    });
    if (!this.#tracker.has(tab)) {
      this.#shown.set(tab, wanted);
      void this.#tracker.add(tab);
    }
    return tab;
  }

  /** Opens the check of restoring a checkpoint, a contents path, into a live object. */
  async check(wanted: Live, path: string): Promise<void> {
    try {
      // The server knows the file's path on its machine, and whether it is a checkpoint.
      const { prefix } = await this.tabs.server.graph(path, null);
      this.open({ ...wanted, path, prefix });
    } catch (error) {
      await showErrorMessage(this.tabs.trans.__("Check Restore"), whyWords(error));
    }
  }

  /** The live object for a command: the one with that name, else the one in front. */
  meant(name: unknown): Live | null {
    return name === undefined ? this.#current() : this.named(name);
  }

  /** A variable in the followed kernel. */
  named(name: unknown): Live | null {
    const { objects, path } = this.followed;
    return typeof name !== "string" || objects.kernel === null
      ? null
      : { name, kernel: objects.kernel.id, place: path, path: null, prefix: null };
  }

  /** Opens the tabs from before JupyterLab was closed. */
  restore(restorer: ILayoutRestorer | null): void {
    void restorer?.restore(this.#tracker, {
      command: COMMANDS.show,
      args: (tab) => ({ ...this.#shown.get(tab) }),
      name: ({ id }) => id,
    });
  }

  #current(): Live | null {
    const { currentWidget } = this.app.shell;
    const tab = this.#tracker.find((one) => one === currentWidget);
    return (tab && this.#shown.get(tab)) ?? null;
  }

  async #connect(id: string) {
    const { kernels } = this.app.serviceManager;
    await kernels.refreshRunning();
    const model = [...kernels.running()].find((one) => one.id === id);
    if (model === undefined) {
      throw new Error(
        this.tabs.trans.__("Its kernel is gone. Open it again from the list of live objects."),
      );
    }
    return kernels.connectTo({ model, handleComms: false });
  }
}
