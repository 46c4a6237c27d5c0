import { PathExt } from "@jupyterlab/coreutils";
import type { LabCommand } from "../commands";
import { checkpointIcon } from "../icons";
import { COMMANDS } from "./command-ids";
import type { FileExplorers } from "./explorers";

/** The commands for checkpoints in files. */
export function fileCommands(explorers: FileExplorers): readonly LabCommand[] {
  return [...openings(explorers), ...comparisons(explorers), refresh(explorers)];
}

function openings(explorers: FileExplorers): readonly LabCommand[] {
  const { tabs } = explorers;
  const { trans } = tabs;
  return [
    {
      id: COMMANDS.open,
      label: ({ isLauncher }) =>
        isLauncher ? trans.__("Checkpoint") : trans.__("Open Checkpoint…"),
      caption: trans.__("Explore a TensorFlow checkpoint as its graph of objects"),
      icon: ({ isPalette }) => (isPalette ? undefined : checkpointIcon),
      describedBy: { args: { type: "object", properties: { path: { type: "string" } } } },
      isInPalette: true,
      execute: async ({ path, cwd }) => {
        const directory = typeof cwd === "string" ? cwd : "";
        const found =
          typeof path === "string" ? path : await tabs.pick(trans.__("Open Checkpoint"), directory);
        return found === null ? undefined : explorers.openPath(found);
      },
    },
    {
      id: COMMANDS.openSelected,
      label: trans.__("Open in Checkpoint Explorer"),
      icon: checkpointIcon,
      isVisible: () => explorers.selected().length === 1,
      execute: () => {
        const [model] = explorers.selected();
        return model === undefined ? undefined : explorers.open(model);
      },
    },
  ];
}

function comparisons(explorers: FileExplorers): readonly LabCommand[] {
  const { tabs } = explorers;
  const { trans } = tabs;
  return [
    {
      id: COMMANDS.compare,
      label: trans.__("Compare Two Checkpoints"),
      caption: trans.__("Show how the checkpoint at one path differs from that at another"),
      execute: ({ path, against }) => {
        if (typeof path !== "string" || typeof against !== "string") {
          throw new Error(`${COMMANDS.compare}: expected the paths of two checkpoints`);
        }
        return explorers.compare(path, against);
      },
    },
    {
      id: COMMANDS.compareSelected,
      label: trans.__("Compare Checkpoints"),
      icon: checkpointIcon,
      isVisible: () => explorers.selectedPair() !== null,
      execute: () => {
        const pair = explorers.selectedPair();
        return pair === null ? undefined : explorers.compare(pair.newer.path, pair.older.path);
      },
    },
    {
      id: COMMANDS.compareWith,
      label: trans.__("Compare Checkpoint With…"),
      isInPalette: true,
      isEnabled: () => explorers.currentPath() !== null,
      execute: async () => {
        const path = explorers.currentPath();
        const against = path && (await tabs.pick(trans.__("Compare with…"), PathExt.dirname(path)));
        return path !== null && typeof against === "string"
          ? explorers.compare(path, against)
          : undefined;
      },
    },
  ];
}

function refresh({ tabs }: FileExplorers): LabCommand {
  return {
    id: COMMANDS.refresh,
    label: tabs.trans.__("Refresh Checkpoint Explorer"),
    isInPalette: true,
    isEnabled: () => tabs.inFront() !== null,
    execute: () => tabs.inFront()?.refresh(),
  };
}
