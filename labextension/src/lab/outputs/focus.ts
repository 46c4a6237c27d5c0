/** Moves the focus from a notebook's cell into the explorer of its output, and back. */

import type { Notebook } from "@jupyterlab/notebook";

const EXPLORER = ".ckpt-viz, .ckpt-viz-timeline";
const PLACES = "[role=treegrid], [role=grid], [role=tree][tabindex], [role=application]";

/** Returns to the notebook if an explorer has the focus, else goes to that of the active cell. */
export function moveFocus(notebook: Notebook): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement.closest(EXPLORER) !== null) {
    activeElement.blur(); // a notebook that has the focus inside keeps it there
    notebook.mode = "command";
    notebook.activate();
  } else {
    placeIn(notebook)?.focus();
  }
}

/** The first part that takes keys of the active cell's explorer, or of the one above it. */
function placeIn({ activeCellIndex, widgets }: Notebook): HTMLElement | null {
  for (let index = activeCellIndex; index >= 0; index--) {
    for (const explorer of widgets[index]?.node.querySelectorAll(EXPLORER) ?? []) {
      const places = [...explorer.querySelectorAll<HTMLElement>(PLACES)];
      const place = places.find((one) => one.checkVisibility());
      if (place !== undefined) {
        return place;
      }
    }
  }
  return null;
}
