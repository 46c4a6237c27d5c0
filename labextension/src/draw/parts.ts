/** The parts of the page that actions use. Each has its name in the attribute `data-part`. */

import type { Part } from "../deeds";

export type { Part };

/** Shows the details where the panes are tabs. */
export function showDetailsTab(within: Element): void {
  const root = within.closest(".ckpt-viz");
  root?.querySelector<HTMLElement>("[role=tab][data-tab=details]")?.click();
}

export function partOf(root: Element, part: Part): HTMLElement | null {
  return root.querySelector<HTMLElement>(`[data-part=${part}]`);
}
