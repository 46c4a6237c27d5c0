/**
 * The part in sight as DOT, for Graphviz to place. No name is in it: nodes are numbers, their
 * boxes and the names on the edges sizes, measured in the fonts that they are drawn with. So
 * nothing that a file says reaches Graphviz, and everything fits.
 */

/** What Graphviz is told, in pixels. */
export interface Sizes {
  /** Of every box. */
  readonly height: number;
  readonly boxes: readonly (readonly [id: number, width: number])[];
  /** With the width of its name, 0 for an edge without one. */
  readonly edges: readonly (readonly [from: number, to: number, nameWidth: number])[];
}

const NAME_HEIGHT = 13;
const NAME_PADDING = 3;
/** Graphviz counts the sizes of nodes in inches, and gives places in points: one for a pixel. */
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

/** An empty table, which takes just this much room. */
function room(width: number): string {
  const size = `FIXEDSIZE="TRUE" WIDTH="${width}" HEIGHT="${NAME_HEIGHT}"`;
  return `<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" ${size}><TR><TD ${size}></TD></TR></TABLE>>`;
}
