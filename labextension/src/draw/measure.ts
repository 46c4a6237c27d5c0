/** How wide text is when drawn, in the fonts that style/explorer.css sets. */

import type { Graph } from "../graph";
import type { Widths } from "../layout/tidy";
import { boxText, edgeText } from "../words";
import { shapeOf } from "./icons";

export const BOX_FONT_SIZE = 12;
export const LABEL_FONT_SIZE = 10.5;
export const CHIP_FONT_SIZE = 9.5;
export const CHIP_GAP = 4;
const CHIP_PADDING = 4;
/** Room left and right of the text; a hexagon's ends are slanted. */
const PADDING = { box: 8, pill: 12, hexagon: 15, chip: 8 } as const;
export const TWISTY_WIDTH = 18;

export type MeasureText = (text: string, fontSize: number) => number;

/** Measures with a canvas; by counting characters where there is none. */
export function textMeasure(fontFamily: string): MeasureText {
  const context = document.createElement("canvas").getContext("2d");
  const known = new Map<string, number>();
  return (text, fontSize) => {
    const key = `${fontSize} ${text}`;
    let width = known.get(key);
    if (width === undefined) {
      width = textWidth(context, text, fontSize, fontFamily);
      known.set(key, width);
    }
    return width;
  };
}

function textWidth(
  context: CanvasRenderingContext2D | null,
  text: string,
  fontSize: number,
  fontFamily: string,
): number {
  if (context === null) {
    return text.length * fontSize * 0.58;
  }
  context.font = `${fontSize}px ${fontFamily}`;
  return context.measureText(text).width;
}

export interface BoxParts {
  readonly text: string;
  /** Where the text begins. */
  readonly textX: number;
  /** The slots of a variable that is closed: name, left edge and width of each chip. */
  readonly chips: readonly { readonly name: string; readonly x: number; readonly width: number }[];
  /** Width of the outline that text and chips stand in. */
  readonly outlineWidth: number;
  /** Width with the twisty behind the outline. */
  readonly width: number;
}

export function boxParts(
  graph: Graph,
  id: number,
  isExpanded: boolean,
  measure: MeasureText,
): BoxParts {
  const text = (graph.error(id) === null ? "" : "! ") + boxText(graph, id);
  const padding = PADDING[shapeOf(graph.role(id))];
  let x = padding + measure(text, BOX_FONT_SIZE);
  const children = graph.treeChildren(id);
  const chips = isExpanded
    ? []
    : chipNames(graph, children).map((name) => {
        const width = measure(name, CHIP_FONT_SIZE) + 2 * CHIP_PADDING;
        const chip = { name, x: x + CHIP_GAP, width };
        x += CHIP_GAP + width;
        return chip;
      });
  const outlineWidth = x + padding;
  const hasTwisty = children.length > 0;
  return {
    text,
    textX: padding,
    chips,
    outlineWidth,
    width: outlineWidth + (hasTwisty ? TWISTY_WIDTH : 0),
  };
}

/** The names of slot variables among a node's children; many are summed up. */
function chipNames(graph: Graph, children: Int32Array): readonly string[] {
  const names: string[] = [];
  for (const child of children.subarray(0, 64)) {
    if (graph.role(child) === "slot") {
      names.push(edgeText(graph, child));
    }
  }
  return names.length <= 4 ? names : [...names.slice(0, 3), `+${names.length - 3}`];
}

export function makeWidths(graph: Graph, measure: MeasureText): Widths {
  return {
    box: (row) => boxParts(graph, row.id, row.isExpanded, measure).width,
    label: (row) => measure(edgeText(graph, row.id), LABEL_FONT_SIZE),
  };
}
