/** The width of drawn text, in the fonts that style/explorer.css sets. */

import type { Graph } from "../graph";
import type { Row } from "../layout/rows";
import type { Widths } from "../layout/tidy";
import { besideWords, type Sign, stateSign } from "../signs";
import { boxText, chunkCount, chunkLabel, edgeText, problemWords, sharedWords } from "../words";
import { BADGE_RADIUS, shapeOf } from "./icons";

/**
 * Large, since small characters may have whole pixels as widths, and zooming does not keep those.
 */
const MEASURED_SIZE = 96;
const BOX_FONT_SIZE = 12;
const LABEL_FONT_SIZE = 10.5;
export const CHIP_FONT_SIZE = 9.5;
const CHIP_GAP = 4;
const CHIP_PADDING = 4;
const SHARED_GAP = 7;
/** A badge is round, so it may be nearer to the edge than text. */
const BADGE_INSET = 4;
/** Space left and right of the text; the ends of a hexagon are slanted. */
const PADDING = { box: 8, pill: 12, hexagon: 15, chip: 8 } as const;
export const TWISTY_WIDTH = 18;
/** Between a box and the text beside it. */
const BESIDE_GAP = 8;

export type MeasureText = (text: string, fontSize: number) => number;

/**
 * Measures each character once, with a canvas and in one size, and adds the widths up. This is fast
 * for any number of names and, without kerning, a little too wide rather than too narrow. Without a
 * canvas, counts characters.
 */
export function textMeasure(fontFamily: string): MeasureText {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) {
    return (text, fontSize) => [...text].length * fontSize * 0.58;
  }
  context.font = `${MEASURED_SIZE}px ${fontFamily}`;
  const widths = new Map<string, number>();
  return (text, fontSize) => {
    let width = 0;
    for (const character of text) {
      let own = widths.get(character);
      if (own === undefined) {
        own = context.measureText(character).width / MEASURED_SIZE;
        widths.set(character, own);
      }
      width += own;
    }
    return width * fontSize;
  };
}

export interface BoxParts {
  /** The sign for the result of a comparison, and the x of its badge's middle. */
  readonly badge: { readonly sign: Sign; readonly x: number } | null;
  readonly text: string;
  /** The x where the text begins. */
  readonly textX: number;
  /** The slots of a closed variable: name, left edge and width of each chip. */
  readonly chips: readonly { readonly name: string; readonly x: number; readonly width: number }[];
  /** The width of the outline around badge, text and chips. */
  readonly width: number;
  /** How many other names lead to the node, and the x of that text. */
  readonly shared: { readonly words: string; readonly x: number } | null;
  /** The text behind the outline and its button that opens the node; and the width of that text. */
  readonly beside: string;
  readonly besideWidth: number;
}

/** Measures the text of a graph: computes the width of each box and name once. */
export interface Typesetter extends Widths {
  parts(row: Row): BoxParts;
  /** The width of a name on an edge. */
  name(text: string): number;
}

export function makeTypesetter(graph: Graph, measure: MeasureText): Typesetter {
  const closed = new Map<number, BoxParts>();
  const open = new Map<number, BoxParts>();
  const labels = new Map<number, number>();
  const parts = (row: Row): BoxParts =>
    row.chunk === null
      ? remembered(row.isExpanded ? open : closed, row.id, () =>
          boxParts(graph, row.id, row.isExpanded, measure),
        )
      : textParts(chunkCount(row.chunk), measure);
  return {
    parts,
    name: (text) => measure(text, LABEL_FONT_SIZE),
    box: (row) => {
      const { width, besideWidth } = parts(row);
      return width + twistyWidth(row) + besideWidth;
    },
    label: (row) =>
      row.chunk === null
        ? remembered(labels, row.id, () => measure(edgeText(graph, row.id), LABEL_FONT_SIZE))
        : measure(chunkLabel(graph, row.chunk), LABEL_FONT_SIZE),
  };
}

function remembered<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  let value = known.get(key);
  if (value === undefined) {
    value = make();
    known.set(key, value);
  }
  return value;
}

/** The parts of a box for a chunk of a long list. */
function textParts(text: string, measure: MeasureText): BoxParts {
  const width = measure(text, BOX_FONT_SIZE) + 2 * PADDING.box;
  const nothing = { badge: null, chips: [], shared: null, beside: "", besideWidth: 0 };
  return { ...nothing, text, textX: PADDING.box, width };
}

function boxParts(graph: Graph, id: number, isExpanded: boolean, measure: MeasureText): BoxParts {
  const text = (problemWords(graph, id) === "" ? "" : "! ") + boxText(graph, id);
  const padding = PADDING[shapeOf(graph.role(id))];
  const sign = stateSign(graph.overlay?.state(id) ?? "plain");
  const badge = sign.glyph === "" ? null : { sign, x: padding + BADGE_RADIUS - BADGE_INSET };
  const textX = badge === null ? padding : badge.x + BADGE_RADIUS + CHIP_GAP;
  let x = textX + measure(text, BOX_FONT_SIZE);
  const chips = (isExpanded ? [] : chipNames(graph, id)).map((name) => {
    const width = measure(name, CHIP_FONT_SIZE) + 2 * CHIP_PADDING;
    const chip = { name, x: x + CHIP_GAP, width };
    x += CHIP_GAP + width;
    return chip;
  });
  const sharedText = sharedWords(graph, id);
  const shared = sharedText === "" ? null : { words: sharedText, x: x + SHARED_GAP };
  x += shared === null ? 0 : SHARED_GAP + measure(sharedText, CHIP_FONT_SIZE);
  const beside = besideWords(graph.overlay, id, isExpanded);
  const besideWidth = beside === "" ? 0 : BESIDE_GAP + measure(beside, LABEL_FONT_SIZE);
  return { badge, text, textX, chips, shared, width: x + padding, beside, besideWidth };
}

/** The x where the text beside a box begins. */
export function besideX(parts: BoxParts, row: Row): number {
  return parts.width + twistyWidth(row) + BESIDE_GAP;
}

function twistyWidth(row: Row): number {
  return row.childCount > 0 ? TWISTY_WIDTH : 0;
}

/** The names of a variable's slots; with more than four, a count replaces all after the third. */
function chipNames(graph: Graph, id: number): readonly string[] {
  const names = [...graph.treeChildren(id)]
    .filter((child) => graph.slot(child)?.variable === id)
    .map((child) => edgeText(graph, child));
  return names.length <= 4 ? names : [...names.slice(0, 3), `+${names.length - 3}`];
}
