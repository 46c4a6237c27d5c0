/** Commands of JupyterLab: each is one table entry with everything that belongs to it. */

import type { JupyterFrontEnd } from "@jupyterlab/application";
import type { ICommandPalette } from "@jupyterlab/apputils";

type Commands = JupyterFrontEnd["commands"];
type Options = Parameters<Commands["addCommand"]>[1];

/** schema/explorer.json has the menus and keys of commands. */
export interface LabCommand extends Options {
  readonly id: string;
  readonly isInPalette?: boolean;
}

export function addCommands(
  commands: Commands,
  palette: ICommandPalette | null,
  category: string,
  table: readonly LabCommand[],
): void {
  for (const { id, isInPalette = false, ...options } of table) {
    commands.addCommand(id, options);
    if (isInPalette) {
      palette?.addItem({ command: id, category, args: { isPalette: true } });
    }
  }
}
