/** The parts of the page that actions use. Each has its name in the attribute `data-part`. */

import type { Part } from "../deeds";

export type { Part };

export function partOf(root: Element, part: Part): HTMLElement | null {
  return root.querySelector<HTMLElement>(`[data-part=${part}]`);
}
