/** The Python code that repeats in a notebook what the user did by hand. */

import { PathExt } from "@jupyterlab/coreutils";
import { NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import { literal } from "./requests";

const IMPORT = "import ckpt_viz as cv";

/** The call that shows a variable, or checks it against the checkpoint at a contents path. */
export function call(name: string, against: string | null, notebook: string): string {
  if (against === null) {
    return `cv.show(${name})`;
  }
  const path = PathExt.relative(PathExt.dirname(notebook), against);
  return `cv.show(cv.check(${name}, ${literal(path)}))`;
}

/** Puts code into a new cell below the active one; adds the import if no cell has it. */
export function insertCode({ content }: NotebookPanel, code: string): void {
  const sources = [...(content.model?.cells ?? [])].map(({ sharedModel }) => sharedModel.source);
  const isImported = sources.some((source) => source.includes(IMPORT));
  NotebookActions.insertBelow(content);
  content.activeCell?.model.sharedModel.setSource(isImported ? code : `${IMPORT}\n\n${code}`);
  content.activate();
}
