/** Puts the code of a remedy into a new cell below the explorer that shows it. */

import { NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import { HAS_CELLS, INSERT } from "../../host/cells";

export function takeCode({ content }: NotebookPanel): void {
  content.node.setAttribute(HAS_CELLS, "");
  content.node.addEventListener(INSERT, ({ target, detail }: CustomEventInit & Event) => {
    const index = content.widgets.findIndex(
      ({ node }) => target instanceof Node && node.contains(target),
    );
    if (index >= 0 && typeof detail === "string") {
      content.activeCellIndex = index;
      NotebookActions.insertBelow(content);
      content.activeCell?.model.sharedModel.setSource(detail);
      content.activate();
    }
  });
}
