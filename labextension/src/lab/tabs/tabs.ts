/** Explorers as tabs of JupyterLab: the widgets around a panel, and the panel's place. */

import type { JupyterFrontEnd } from "@jupyterlab/application";
import { MainAreaWidget } from "@jupyterlab/apputils";
import { PathExt } from "@jupyterlab/coreutils";
import type { IDocumentManager } from "@jupyterlab/docmanager";
import type { DocumentRegistry } from "@jupyterlab/docregistry";
import { FileDialog } from "@jupyterlab/filebrowser";
import type { ITranslator, TranslationBundle } from "@jupyterlab/translation";
import { refreshIcon, Toolbar, ToolbarButton } from "@jupyterlab/ui-components";
import { Token } from "@lumino/coreutils";
import { TabPanel, Widget } from "@lumino/widgets";
import { visible } from "../../basics/text";
import { checkpointIcon } from "../icons";
import { mayBeCheckpoint, prefixOf } from "../paths";
import type { CheckpointServer } from "../server";
import type { Kept, Source } from "../source";
import { acceptPaths } from "./drop";
import { ExplorerPanel } from "./panel";

export const ITabs = new Token<Tabs>("ckpt-viz:ITabs", "Opens explorers in tabs.");
export type ITabs = Tabs;

export interface TabOptions {
  /** The same id for the same content: a tab that is already open comes to the front. */
  readonly id: string;
  readonly title: string;
  readonly caption: string;
  readonly source: Source;
  readonly compareWords: string;
  /** The first directory in the dialog that picks a checkpoint to compare with: a contents path. */
  readonly directory: string;
  /** Handles a checkpoint that the user picks, or drops on the explorer. */
  compareWith(path: string): void;
}

export class Tabs {
  readonly #panels = new Set<ExplorerPanel>();
  readonly #open = new Map<string, MainAreaWidget<ExplorerPanel>>();

  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly area: "main" | "down",
    private readonly manager: IDocumentManager,
    private readonly translator: ITranslator,
    readonly trans: TranslationBundle,
    readonly server: CheckpointServer,
  ) {}

  /** Shows an explorer in a tab; creates it first if necessary. */
  open(options: TabOptions): MainAreaWidget<ExplorerPanel> {
    return this.show(this.#open.get(options.id) ?? this.#make(options));
  }

  /** Brings a tab to the front, in the main area or, in Notebook 7, below the notebook. */
  show<T extends MainAreaWidget>(tab: T): T {
    const { shell } = this.app;
    if (!tab.isAttached) {
      shell.add(tab, this.area);
    }
    shell.activateById(tab.id);
    const panel = tab.parent?.parent;
    if (panel instanceof TabPanel) {
      panel.currentWidget = tab; // Notebook 7 does not bring a tab to the front by itself
    }
    return tab;
  }

  /** Gives a new tab its id, its title and the look of its area. */
  label(tab: MainAreaWidget, id: string, title: string, caption: string): void {
    tab.id = id;
    tab.title.label = visible(title);
    tab.title.caption = visible(caption);
    tab.title.icon = checkpointIcon;
    tab.title.closable = true;
    tab.toggleClass("ckpt-viz-below", this.area === "down");
  }

  /** The explorer that has the focus or is in front, of files or of a kernel. */
  inFront(): ExplorerPanel | null {
    const { currentWidget } = this.app.shell;
    const panels = [...this.#panels];
    return (
      panels.find(({ node }) => node.contains(document.activeElement)) ??
      panels.find((panel) => currentWidget?.contains(panel)) ??
      null
    );
  }

  /** The toolbar above an explorer, for documents and for all other tabs. */
  toolbar(
    panel: ExplorerPanel,
    compareWords: string,
    directory: () => string,
    compareWith: (path: string) => void,
    showKept: ((path: string) => void) | null,
  ): DocumentRegistry.IToolbarItem[] {
    const refresh = new ToolbarButton({
      icon: refreshIcon,
      tooltip: this.trans.__("Read the source again"),
      onClick: () => void panel.refresh(),
    });
    const compare = new ToolbarButton({
      label: compareWords,
      tooltip: this.trans.__("Choose a checkpoint, or drop one here"),
      onClick: () =>
        void this.pick(compareWords, directory()).then((path) => {
          if (path !== null) {
            compareWith(path);
          }
        }),
    });
    acceptPaths(panel, compareWith);
    this.#panels.add(panel);
    panel.disposed.connect(() => this.#panels.delete(panel));
    const items = [
      { name: "refresh", widget: refresh },
      { name: "spacer", widget: Toolbar.createSpacerItem() },
      { name: "compare", widget: compare },
    ];
    if (showKept !== null) {
      const kept = new KeptChoice(this.trans, showKept);
      panel.loaded.connect((_, found) => kept.list(found));
      items.splice(1, 0, { name: "kept", widget: kept });
    }
    return items;
  }

  /** Lets the user pick one of the server's checkpoints; null if the user cancels. */
  async pick(title: string, directory: string): Promise<string | null> {
    const { button, value } = await FileDialog.getOpenFiles({
      manager: this.manager,
      translator: this.translator,
      title,
      label: this.trans.__(
        "An .index file, a file of Keras, a directory of checkpoints, or a SavedModel",
      ),
      filter: ({ name, type }) => (type === "directory" || mayBeCheckpoint(name) ? {} : null),
      defaultPath: directory,
    });
    return button.accept ? (value?.[0]?.path ?? null) : null;
  }

  #make(options: TabOptions): MainAreaWidget<ExplorerPanel> {
    const { id, title, caption, source, compareWords, directory } = options;
    const content = new ExplorerPanel(source, this.trans);
    const tab = new MainAreaWidget({ content });
    const items = this.toolbar(content, compareWords, () => directory, options.compareWith, null);
    for (const { name, widget } of items) {
      tab.toolbar.addItem(name, widget);
    }
    this.label(tab, id, title, caption);
    this.#open.set(id, tab);
    tab.disposed.connect(() => this.#open.delete(id));
    return tab;
  }
}

/** The checkpoints of a directory, the last saved first; empty if there is only one. */
class KeptChoice extends Widget {
  readonly #select: HTMLSelectElement;

  constructor(
    private readonly trans: TranslationBundle,
    show: (path: string) => void,
  ) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", trans.__("Checkpoints that are kept here"));
    select.className = "jp-mod-styled";
    const node = document.createElement("div");
    node.append(select);
    super({ node });
    this.addClass("ckpt-viz-kept");
    this.#select = select;
    this.hide();
    select.addEventListener("change", () => show(select.value));
  }

  /** A checkpoint from the list brings no list of its own, so the earlier list stays. */
  list(kept: readonly Kept[]): void {
    if (kept.length > 1) {
      this.#select.replaceChildren(...[...kept].reverse().map((one) => this.#option(one)));
      this.show();
    }
  }

  #option({ path, exists, named, latest }: Kept): HTMLOptionElement {
    const name = path === null ? "…" : PathExt.basename(prefixOf(path));
    const element = new Option(this.#words(name, exists, named, latest), path ?? "");
    element.disabled = path === null || !exists;
    return element;
  }

  #words(name: string, exists: boolean, named: boolean, latest: boolean): string {
    if (!exists) {
      return this.trans.__("%1 (gone)", name);
    }
    if (!named) {
      return this.trans.__("%1 (not in the checkpoint file)", name);
    }
    return latest ? this.trans.__("%1 (latest)", name) : name;
  }
}
