/** The open explorers of files: documents of one checkpoint, comparisons of two. */

import type { ILayoutRestorer, JupyterFrontEnd } from "@jupyterlab/application";
import { type MainAreaWidget, WidgetTracker } from "@jupyterlab/apputils";
import { PathExt } from "@jupyterlab/coreutils";
import type { IDocumentManager } from "@jupyterlab/docmanager";
import type { IFileBrowserFactory } from "@jupyterlab/filebrowser";
import type { Contents } from "@jupyterlab/services";
import { FOUND, mayBeCheckpoint, prefixOf } from "../paths";
import type { ExplorerPanel } from "../tabs/panel";
import type { Tabs } from "../tabs/tabs";
import { COMMANDS } from "./command-ids";
import { addDocuments, type CheckpointDocument, factoryOf } from "./documents";
import { inOrderOfSaving } from "./saving-order";

type Comparison = MainAreaWidget<ExplorerPanel>;
type Pair = readonly [Contents.IModel, Contents.IModel];

interface Compared {
  readonly path: string;
  readonly against: string;
}

export class FileExplorers {
  readonly #documents = new WidgetTracker<CheckpointDocument>({ namespace: "ckpt-viz-documents" });
  readonly #factories = new WeakMap<CheckpointDocument, string>();
  readonly #comparisons = new WidgetTracker<Comparison>({ namespace: "ckpt-viz-comparisons" });
  readonly #comparedIn = new WeakMap<Comparison, Compared>();

  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly manager: IDocumentManager,
    readonly tabs: Tabs,
    private readonly browsers: IFileBrowserFactory | null,
  ) {
    const compare = (path: string, against: string) => void this.compare(path, against);
    addDocuments(app, tabs, compare, (document, factory) => {
      this.#factories.set(document, factory);
      void this.#documents.add(document);
    });
  }

  open({ path, type }: Pick<Contents.IModel, "path" | "type">) {
    return this.manager.openOrReveal(path, factoryOf({ type }));
  }

  async openPath(path: string) {
    const { contents } = this.app.serviceManager;
    return this.open(await contents.get(path, { content: false }));
  }

  compare(path: string, against: string): Comparison {
    const names = [against, path].map((one) => PathExt.basename(prefixOf(one)));
    const tab: Comparison = this.tabs.open({
      id: `ckpt-viz-compare:${JSON.stringify([path, against])}`,
      title: names.join(" → "),
      caption: `${against} → ${path}`,
      source: this.tabs.server.source(path, against),
      compareWords: this.tabs.trans.__("Compare with another…"),
      directory: PathExt.dirname(path),
      compareWith: (other) => void this.compare(path, other),
    });
    if (!this.#comparisons.has(tab)) {
      this.#comparedIn.set(tab, { path, against });
      void this.#comparisons.add(tab);
    }
    return tab;
  }

  /** The selection in the file browser. */
  selected(): readonly Contents.IModel[] {
    return [...(this.browsers?.tracker.currentWidget?.selectedItems() ?? [])];
  }

  /** The two selected checkpoints; null unless exactly two are selected. */
  selectedPair(): Pair | null {
    const [one, other, ...others] = this.selected();
    return one !== undefined &&
      other !== undefined &&
      others.length === 0 &&
      [one, other].every((model) => this.#mayBeOne(model))
      ? [one, other]
      : null;
  }

  /** Compares two checkpoints, from the one that was saved first to the other. */
  async compareInOrder([one, other]: Pair): Promise<Comparison> {
    const { contents } = this.app.serviceManager;
    // A program may have saved since the file browser listed its files.
    const now = (listed: Contents.IModel) =>
      contents.get(listed.path, { content: false }).catch(() => listed);
    const [older, newer] = inOrderOfSaving(...(await Promise.all([now(one), now(other)])));
    return this.compare(newer.path, older.path);
  }

  #mayBeOne({ name, type }: Contents.IModel): boolean {
    const types = this.app.docRegistry.getFileTypesForPath(name);
    const isFound = types.some((one) => one.name === FOUND);
    return type === "directory" || isFound || mayBeCheckpoint(name);
  }

  /** The path of the checkpoint in front; for a comparison, of the newer one. */
  currentPath(): string | null {
    const { currentWidget } = this.app.shell;
    const document = this.#documents.find((one) => one === currentWidget);
    const comparison = this.#comparisons.find((one) => one === currentWidget);
    return document?.context.path ?? (comparison && this.#comparedIn.get(comparison)?.path) ?? null;
  }

  /** Opens the tabs from before JupyterLab was closed. */
  restore(restorer: ILayoutRestorer | null): void {
    void restorer?.restore(this.#documents, {
      command: "docmanager:open",
      args: (document) => ({
        path: document.context.path,
        factory: this.#factories.get(document) ?? null,
      }),
      name: ({ context }) => context.path,
    });
    void restorer?.restore(this.#comparisons, {
      command: COMMANDS.compare,
      args: (tab) => ({ ...this.#comparedIn.get(tab) }),
      name: ({ id }) => id,
    });
  }
}
