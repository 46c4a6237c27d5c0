/**
 * Code from an explorer in a new cell of the notebook around it. Two modules agree on this: the
 * kernel's widget and the JupyterLab extension. Without the extension, no element has the attribute.
 */

/** The attribute of an element around cells that takes code. */
export const HAS_CELLS = "data-ckpt-viz-cells";
/** Bubbles from an explorer; the code is its detail. */
export const INSERT = "ckpt-viz-insert";

/** Puts code into a new cell below the element; null where it is in no notebook. */
export function insertFrom(element: Element): ((code: string) => void) | null {
  return element.closest(`[${HAS_CELLS}]`) === null
    ? null
    : (detail) => void element.dispatchEvent(new CustomEvent(INSERT, { bubbles: true, detail }));
}
