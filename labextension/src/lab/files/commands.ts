import { PathExt } from "@jupyterlab/coreutils";
import type { LabCommand } from "../commands";
import { checkpointIcon } from "../icons";
import { COMMANDS } from "./command-ids";
import type { FileExplorers } from "./explorers";
import type { Histories } from "./history";

/** The commands for checkpoints in files. */
export function fileCommands(
  explorers: FileExplorers,
  histories: Histories,
): readonly LabCommand[] {
  return [
    ...openings(explorers),
    ...comparisons(explorers),
    ...ofHistories(explorers, histories),
    refresh(explorers),
  ];
}

function ofHistories(explorers: FileExplorers, histories: Histories): readonly LabCommand[] {
  const { trans } = explorers.tabs;
  /** The selected directory or `checkpoint` file; null without one. */
  const selected = () => {
    const [model, ...others] = explorers.selected();
    const isSource = model?.type === "directory" || model?.name === "checkpoint";
    return isSource && others.length === 0 ? (model?.path ?? null) : null;
  };
  return [
    {
      id: COMMANDS.history,
      label: trans.__("Show Checkpoint History"),
      caption: trans.__("Show what each save of a training changed"),
      describedBy: { args: { type: "object", properties: { path: { type: "string" } } } },
      execute: ({ path }) => {
        if (typeof path !== "string") {
          throw new Error(`${COMMANDS.history}: expected the path of a directory`);
        }
        return histories.open(path);
      },
    },
    {
      id: COMMANDS.historySelected,
      label: trans.__("Show Checkpoint History"),
      icon: checkpointIcon,
      isVisible: () => selected() !== null,
      execute: () => {
        const path = selected();
        return path === null ? undefined : histories.open(path);
      },
    },
  ];
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
        return pair === null ? undefined : explorers.compareInOrder(pair);
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
