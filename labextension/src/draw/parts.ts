/** The parts of the page that actions use. Each has its name in the attribute `data-part`. */

export type Part =
  | "search"
  | "details"
  | "fix"
  | "play"
  | "change"
  | "help"
  | "copy-name"
  | "copy-key";

export function partOf(root: Element, part: Part): HTMLElement | null {
  return root.querySelector<HTMLElement>(`[data-part=${part}]`);
}
