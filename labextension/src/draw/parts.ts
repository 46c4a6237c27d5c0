/** The parts of the page that actions use. Each has its name in the attribute `data-part`. */

import type { Part } from "../state/deeds";

export type { Part };

/** Shows the details, or the table or drawing, where the panes are tabs. */
export function showTab(within: Element, tab: "details" | "drawing"): void {
  const root = within.closest(".ckpt-viz");
  root?.querySelector<HTMLElement>(`[role=tab][data-tab=${tab}]`)?.click();
}

export function partOf(root: Element, part: Part): HTMLElement | null {
  return root.querySelector<HTMLElement>(`[data-part=${part}]`);
}
