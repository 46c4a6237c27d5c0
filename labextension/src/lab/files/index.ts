/** The plugin that opens checkpoints from files: documents, comparisons, commands, settings. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { ICommandPalette, type MainAreaWidget, WidgetTracker } from "@jupyterlab/apputils";
import { PathExt } from "@jupyterlab/coreutils";
import { IDocumentManager } from "@jupyterlab/docmanager";
import { IFileBrowserFactory } from "@jupyterlab/filebrowser";
import { ILauncher } from "@jupyterlab/launcher";
import type { Contents } from "@jupyterlab/services";
import { ISettingRegistry } from "@jupyterlab/settingregistry";
import { ITranslator, nullTranslator } from "@jupyterlab/translation";
import { checkpointIcon } from "../icons";
import { type Keys, remapKeys } from "../keys";
import { mayBeCheckpoint, prefixOf } from "../paths";
import { CheckpointServer } from "../server";
import { followSettings } from "../settings";
import type { ExplorerPanel } from "../tabs/panel";
import { ITabs, Tabs } from "../tabs/tabs";
import { addDocuments, type CheckpointDocument, factoryOf } from "./documents";

const ID = "ckpt-viz:explorer";

/** Names of commands; schema/explorer.json has menus and keys for them. */
const COMMANDS = {
  open: "ckpt-viz:open",
  openSelected: "ckpt-viz:open-selected",
  compare: "ckpt-viz:compare",
  compareSelected: "ckpt-viz:compare-selected",
  compareWith: "ckpt-viz:compare-with",
  refresh: "ckpt-viz:refresh",
} as const;

const explorer: JupyterFrontEndPlugin<ITabs> = {
  id: ID,
  description: "Opens TensorFlow checkpoints from the file browser, alone or compared.",
  autoStart: true,
  provides: ITabs,
  requires: [IDocumentManager],
  // Notebook 7 lacks some of them.
  optional: [
    ITranslator,
    ILabShell,
    ILayoutRestorer,
    ICommandPalette,
    ILauncher,
    IFileBrowserFactory,
    ISettingRegistry,
  ],
  activate: (
    app: JupyterFrontEnd,
    manager: IDocumentManager,
    translator: ITranslator | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    browsers: IFileBrowserFactory | null,
    settings: ISettingRegistry | null,
  ) => {
    const trans = (translator ?? nullTranslator).load("ckpt_viz");
    const { commands, serviceManager, shell } = app;
    const { contents, serverSettings } = serviceManager;
    const server = new CheckpointServer(serverSettings, contents, trans);
    // Notebook 7 has one widget in its main area, and room for others below.
    const area = labShell === null ? "down" : "main";
    const tabs = new Tabs(app, area, manager, translator ?? nullTranslator, trans, server);

    const documents = new WidgetTracker<CheckpointDocument>({ namespace: "ckpt-viz-documents" });
    const comparisons = new WidgetTracker<Comparison>({ namespace: "ckpt-viz-comparisons" });
    const comparedIn = new WeakMap<Comparison, Compared>();
    const compare = (path: string, against: string) => {
      void commands.execute(COMMANDS.compare, { path, against });
    };
    const factories = new WeakMap<CheckpointDocument, string>();
    addDocuments(app, tabs, compare, (document, factory) => {
      factories.set(document, factory);
      void documents.add(document);
    });

    const selected = (): readonly Contents.IModel[] => [
      ...(browsers?.tracker.currentWidget?.selectedItems() ?? []),
    ];
    const current = (): CheckpointDocument | Comparison | null => {
      const widget = shell.currentWidget;
      const found = [documents, comparisons].map((tracker) =>
        tracker.find((one) => one === widget),
      );
      return found[0] ?? found[1] ?? null;
    };
    const openModel = ({ path, type }: Pick<Contents.IModel, "path" | "type">) =>
      manager.openOrReveal(path, factoryOf({ type }));

    commands.addCommand(COMMANDS.open, {
      label: ({ isLauncher }) =>
        isLauncher ? trans.__("Checkpoint") : trans.__("Open Checkpoint…"),
      caption: trans.__("Explore a TensorFlow checkpoint as the graph of objects that it is"),
      icon: ({ isPalette }) => (isPalette ? undefined : checkpointIcon),
      describedBy: { args: { type: "object", properties: { path: { type: "string" } } } },
      execute: async ({ path, cwd }) => {
        const directory = typeof cwd === "string" ? cwd : "";
        const found =
          typeof path === "string" ? path : await tabs.pick(trans.__("Open Checkpoint"), directory);
        return found === null
          ? undefined
          : openModel(await contents.get(found, { content: false }));
      },
    });
    commands.addCommand(COMMANDS.openSelected, {
      label: trans.__("Open in Checkpoint Explorer"),
      icon: checkpointIcon,
      isVisible: () => selected().length === 1,
      execute: () => {
        const [model] = selected();
        return model === undefined ? undefined : openModel(model);
      },
    });
    commands.addCommand(COMMANDS.compare, {
      label: trans.__("Compare Two Checkpoints"),
      caption: trans.__("Show how the checkpoint at one path differs from that at another"),
      execute: ({ path, against }) => {
        if (typeof path !== "string" || typeof against !== "string") {
          throw new Error("ckpt-viz:compare: expected the paths of two checkpoints");
        }
        const names = [against, path].map((one) => PathExt.basename(prefixOf(one)));
        const tab: Comparison = tabs.open({
          id: `ckpt-viz-compare:${JSON.stringify([path, against])}`,
          title: names.join(" → "),
          caption: `${against} → ${path}`,
          source: server.source(path, against),
          compareWords: trans.__("Compare with another…"),
          directory: PathExt.dirname(path),
          compareWith: (other) => compare(path, other),
        });
        if (!comparisons.has(tab)) {
          comparedIn.set(tab, { path, against });
          void comparisons.add(tab);
        }
        return tab;
      },
    });
    commands.addCommand(COMMANDS.compareSelected, {
      label: trans.__("Compare Checkpoints"),
      icon: checkpointIcon,
      isVisible: () => selected().length === 2 && selected().every(mayBeOne),
      execute: () => {
        const [older, newer] = [...selected()].sort((one, other) =>
          one.last_modified.localeCompare(other.last_modified),
        );
        if (older !== undefined && newer !== undefined) {
          compare(newer.path, older.path);
        }
      },
    });
    commands.addCommand(COMMANDS.compareWith, {
      label: trans.__("Compare Checkpoint With…"),
      isEnabled: () => current() !== null,
      execute: async () => {
        const widget = current();
        const against =
          widget && (await tabs.pick(trans.__("Compare with…"), PathExt.dirname(pathOf(widget))));
        if (widget !== null && typeof against === "string") {
          compare(pathOf(widget), against);
        }
      },
    });
    commands.addCommand(COMMANDS.refresh, {
      label: trans.__("Refresh Checkpoint Explorer"),
      isEnabled: () => tabs.inFront() !== null,
      execute: () => tabs.inFront()?.refresh(),
    });
    const pathOf = (widget: CheckpointDocument | Comparison) =>
      "context" in widget ? widget.context.path : (comparedIn.get(widget)?.path ?? "");

    void restorer?.restore(documents, {
      command: "docmanager:open",
      args: (document) => ({
        path: document.context.path,
        factory: factories.get(document) ?? null,
      }),
      name: ({ context }) => context.path,
    });
    void restorer?.restore(comparisons, {
      command: COMMANDS.compare,
      args: (tab) => ({ ...comparedIn.get(tab) }),
      name: ({ id }) => id,
    });

    const category = trans.__("Checkpoints");
    for (const command of [COMMANDS.open, COMMANDS.compareWith, COMMANDS.refresh]) {
      palette?.addItem({ command, category, args: { isPalette: true } });
    }
    launcher?.add({
      command: COMMANDS.open,
      category: trans.__("Other"),
      args: { isLauncher: true },
    });
    if (settings !== null) {
      let keys: Keys = {};
      remapKeys(window, () => keys);
      void followSettings(settings, ID, (wanted) => {
        keys = wanted;
      });
    }
    return tabs;
  },
};

type Comparison = MainAreaWidget<ExplorerPanel>;

interface Compared {
  readonly path: string;
  readonly against: string;
}

function mayBeOne({ name, type }: Contents.IModel): boolean {
  return type === "directory" || mayBeCheckpoint(name);
}

export default explorer;
