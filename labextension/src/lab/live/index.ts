/** The plugin for objects in kernels: the side panel, live explorers, restore checks. */

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import { IConsoleTracker } from "@jupyterlab/console";
import { INotebookTracker } from "@jupyterlab/notebook";
import type { TranslationBundle } from "@jupyterlab/translation";
import { addCommands } from "../commands";
import { checkpointIcon } from "../icons";
import { ITabs } from "../tabs/tabs";
import { COMMANDS } from "./command-ids";
import { liveCommands } from "./commands";
import { LiveExplorers } from "./explorers";
import { FollowedKernel } from "./followed";
import { LivePanel } from "./panel";

/** Below the file browser and the running sessions. */
const RANK = 600;

const live: JupyterFrontEndPlugin<void> = {
  id: "ckpt-viz:live",
  description: "Lists the checkpointable objects of a kernel, shows them and checks restores.",
  autoStart: true,
  requires: [ITabs],
  optional: [INotebookTracker, IConsoleTracker, ILayoutRestorer, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tabs: ITabs,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
  ) => {
    const { trans } = tabs;
    const followed = new FollowedKernel(app.shell, notebooks, consoles, trans);
    const explorers = new LiveExplorers(app, tabs, followed);
    const panel = makePanel(app, followed, trans);
    app.shell.add(panel, "left", { rank: RANK, type: "Live TensorFlow Objects" });
    // A second time, the same keys lead back.
    const showPanel = () => {
      const back = panel.node.contains(document.activeElement) ? app.shell.currentWidget : null;
      app.shell.activateById((back ?? panel).id);
    };
    const table = liveCommands(app, explorers, followed, showPanel);
    addCommands(app.commands, palette, trans.__("Checkpoints"), table);
    restorer?.add(panel, panel.id);
    explorers.restore(restorer);
  },
};

function makePanel(
  { commands }: JupyterFrontEnd,
  followed: FollowedKernel,
  trans: TranslationBundle,
): LivePanel {
  const panel = new LivePanel(
    followed.objects,
    {
      show: (name) => void commands.execute(COMMANDS.show, { name }),
      check: (name, path) =>
        void commands.execute(COMMANDS.check, path === undefined ? { name } : { name, path }),
      insert: (name) => void commands.execute(COMMANDS.insert, { name }),
    },
    () => followed.name,
    trans,
  );
  panel.id = "ckpt-viz-live-objects";
  panel.title.icon = checkpointIcon;
  panel.title.caption = trans.__("Live TensorFlow Objects");
  return panel;
}

export default live;
