import type { JupyterFrontEnd } from "@jupyterlab/application";
import { PathExt } from "@jupyterlab/coreutils";
import type { LabCommand } from "../commands";
import { prefixOf } from "../paths";
import { call, insertCode } from "./code";
import { COMMANDS } from "./command-ids";
import type { Live, LiveExplorers } from "./explorers";
import type { FollowedKernel } from "./followed";

/** The commands for live objects; a command without a name is for the explorer in front. */
export function liveCommands(
  { shell }: JupyterFrontEnd,
  explorers: LiveExplorers,
  followed: FollowedKernel,
  showPanel: () => void,
): readonly LabCommand[] {
  const { tabs } = explorers;
  const { trans } = tabs;
  return [
    {
      id: COMMANDS.panel,
      label: trans.__("Show Live TensorFlow Objects"),
      caption: trans.__("The checkpointable objects of the current notebook's kernel"),
      isInPalette: true,
      execute: showPanel,
    },
    {
      id: COMMANDS.show,
      label: trans.__("Show Live Object"),
      caption: trans.__("Open the explorer of a variable of the current kernel"),
      execute: (args) => {
        const wanted = isLive(args) ? args : explorers.named(args.name);
        if (wanted === null) {
          throw new Error(`${COMMANDS.show}: expected the name of a variable, and a kernel`);
        }
        return explorers.open(wanted);
      },
    },
    {
      id: COMMANDS.check,
      label: trans.__("Check Restore of…"),
      caption: trans.__("Show what restoring a checkpoint into live objects would do"),
      isInPalette: true,
      isEnabled: ({ name }) => explorers.meant(name) !== null,
      execute: async ({ name, path }) => {
        const wanted = explorers.meant(name);
        if (wanted !== null) {
          const directory = PathExt.dirname(wanted.place);
          const title = trans.__("Check Restore of…");
          const picked = typeof path === "string" ? path : await tabs.pick(title, directory);
          await (picked === null ? undefined : explorers.check(wanted, picked));
        }
      },
    },
    {
      id: COMMANDS.insert,
      label: trans.__("Insert Code for Live Explorer"),
      isInPalette: true,
      isEnabled: ({ name }) =>
        followed.hasNotebook && (name !== undefined || explorers.meant(name) !== null),
      execute: ({ name }) => {
        const wanted = explorers.meant(name);
        const notebook = followed.notebookAt(wanted?.place);
        if (wanted !== null && notebook !== null) {
          const against = wanted.path === null ? null : prefixOf(wanted.path);
          insertCode(notebook, call(wanted.name, against, notebook.context.path));
          shell.activateById(notebook.id);
        }
      },
    },
  ];
}

function isLive(args: object): args is Live {
  return "name" in args && "kernel" in args && "place" in args;
}
