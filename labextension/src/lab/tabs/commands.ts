import * as WORDS from "../../basics/strings";
import { COMMANDS } from "../../state/commands";
import type { LabCommand } from "../commands";
import type { Tabs } from "./tabs";

/** The explorer's own commands, for the explorer in front; their keys are the explorer's. */
export function explorerCommands(tabs: Tabs): readonly LabCommand[] {
  return COMMANDS.flatMap(({ does, palette }) =>
    does === null || palette === undefined
      ? []
      : {
          id: `ckpt-viz:explorer-${palette}`,
          label: tabs.trans.__(WORDS.commands[palette]),
          isInPalette: true,
          isEnabled: () => tabs.inFront() !== null,
          execute: () => tabs.inFront()?.run(does),
        },
  );
}
