/** The plugin that opens checkpoints from files: documents, comparisons, commands, settings. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import { IDocumentManager } from "@jupyterlab/docmanager";
import { IFileBrowserFactory } from "@jupyterlab/filebrowser";
import { ILauncher } from "@jupyterlab/launcher";
import { ISettingRegistry } from "@jupyterlab/settingregistry";
import { ITranslator, nullTranslator } from "@jupyterlab/translation";
import { addCommands } from "../commands";
import { type Keys, remapKeys } from "../keys";
import { CheckpointServer } from "../server";
import { followSettings } from "../settings";
import { ITabs, Tabs } from "../tabs/tabs";
import { COMMANDS } from "./command-ids";
import { fileCommands } from "./commands";
import { addFilesOfKeras } from "./documents";
import { FileExplorers } from "./explorers";
import { followListings } from "./found";
import { Histories } from "./history";

const ID = "ckpt-viz:explorer";

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
    const { contents, serverSettings } = app.serviceManager;
    const server = new CheckpointServer(serverSettings, contents, trans);
    // Notebook 7 has one widget in its main area, and space for others below.
    const area = labShell === null ? "down" : "main";
    const tabs = new Tabs(app, area, manager, translator ?? nullTranslator, trans, server);
    const addKeras = () => addFilesOfKeras(app, trans.__("Keras model or weights"));
    // Notebook 7 opens a file in a new page, which chooses by name before it could know more.
    if (labShell === null) {
      addKeras();
    } else {
      // Not earlier: other extensions register what they open.
      void app.restored.then(addKeras);
    }
    if (labShell !== null && browsers !== null) {
      followListings(app.docRegistry, server, trans.__("TensorFlow checkpoint"), browsers);
    }
    const explorers = new FileExplorers(app, manager, tabs, browsers);
    const histories = new Histories(tabs, server, trans);
    addCommands(app.commands, palette, trans.__("Checkpoints"), fileCommands(explorers, histories));
    explorers.restore(restorer);
    void restorer?.restore(histories.tracker, {
      command: COMMANDS.history,
      args: ({ content }) => ({ path: content.path }),
      name: ({ content }) => content.path,
    });
    launcher?.add({
      command: COMMANDS.open,
      category: trans.__("Other"),
      args: { isLauncher: true },
    });
    if (settings !== null) {
      followKeysAndLooks(settings);
    }
    return tabs;
  },
};

function followKeysAndLooks(settings: ISettingRegistry): void {
  let keys: Keys = {};
  remapKeys(window, () => keys);
  void followSettings(settings, ID, (wanted) => {
    keys = wanted;
  });
}

export default explorer;
