/**
 * The part in sight as DOT, for Graphviz to lay out. It contains no names: nodes are numbers. Boxes
 * and names on edges are sizes, measured in the fonts of the drawing. So no text of a file reaches
 * Graphviz, and everything fits.
 */

/** The input of Graphviz, in pixels. */
export interface Sizes {
  /** The height of every box. */
  readonly height: number;
  readonly boxes: readonly (readonly [id: number, width: number])[];
  /** With the width of its name; 0 for an edge without a name. */
  readonly edges: readonly (readonly [from: number, to: number, nameWidth: number])[];
}

const NAME_HEIGHT = 13;
const NAME_PADDING = 3;
/** Graphviz takes the sizes of nodes in inches and returns places in points: one for a pixel. */
export const POINTS = 72;

export function toDot({ height, boxes, edges }: Sizes): string {
  const inches = (pixels: number): string => (pixels / POINTS).toFixed(4);
  const lines = [
    "digraph {",
    "graph [rankdir=TB nodesep=0.2 ranksep=0.46]",
    `node [shape=box fixedsize=true label="" height=${inches(height)}]`,
    "edge [arrowsize=0.6]",
    ...boxes.map(([id, width]) => `${id} [width=${inches(width)}]`),
    ...edges.map(([from, to, width], index) => {
      const label = width > 0 ? ` label=${room(Math.ceil(width) + 2 * NAME_PADDING)}` : "";
      return `${from} -> ${to} [id=${index}${label}]`;
    }),
    "}",
  ];
  return lines.join("\n");
}

/** An empty table that takes exactly this much space. */
function room(width: number): string {
  const size = `FIXEDSIZE="TRUE" WIDTH="${width}" HEIGHT="${NAME_HEIGHT}"`;
  return `<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" ${size}><TR><TD ${size}></TD></TR></TABLE>>`;
}
