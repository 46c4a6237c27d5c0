/** The parts of the page that actions use. Each has its name in the attribute `data-part`. */

import type { Part } from "../state/deeds";

export type { Part };

/** The explorer that has a part. */
export function rootOf(part: Element | null): HTMLElement | null {
  return part?.closest<HTMLElement>(".ckpt-viz") ?? null;
}

/** The table or the drawing of that explorer, for the focus. */
export function gridOf(part: Element | null): HTMLElement | null {
  return rootOf(part)?.querySelector("[role=treegrid], [role=tree][tabindex]") ?? null;
}

/** Shows the details, or the table or drawing, where the panes are tabs. */
export function showTab(within: Element, tab: "details" | "drawing"): void {
  rootOf(within)?.querySelector<HTMLElement>(`[role=tab][data-tab=${tab}]`)?.click();
}

export function partOf(root: Element, part: Part): HTMLElement | null {
  return root.querySelector<HTMLElement>(`[data-part=${part}]`);
}
