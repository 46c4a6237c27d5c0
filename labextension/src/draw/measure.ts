/** The parts of boxes and their widths, in the fonts that style/explorer.css sets. */

import { kept } from "../basics/once";
import * as WORDS from "../basics/strings";
import { shortened } from "../basics/text";
import { type Graph, ROOT } from "../data/graph";
import type { Row } from "../layout/rows";
import type { Widths } from "../layout/tidy";
import type { Brevity } from "../state/state";
import { familySign } from "../words/families";
import { besideWords, cellMark, type Sign, worstLook } from "../words/signs";
import {
  boxText,
  bundleLetters,
  chunkCount,
  chunkLabel,
  edgeText,
  kindText,
  problemWords,
  repeats,
  SHORT_END,
  sharedWords,
  slotLetters,
} from "../words/words";
import { BADGE_RADIUS, shapeOf } from "./icons";
import { BOLD, type MeasureText } from "./text-width";

/** No letter may be smaller than 11 px at the smallest scale that fitting uses (state.ts). */
const NAME_FONT_SIZE = 13;
const FONT_SIZE = 12;
/** The letters of a name in a short box. Names of layers often differ at their ends alone. */
const SHORT_NAME = 16;
const CHIP_GAP = 4;
const CHIP_PADDING = 4;
const SHARED_GAP = 7;
const KIND_GAP = 9;
/** A badge is round, so it may be nearer to the edge than text. */
const BADGE_INSET = 4;
/** Space left and right of the text; the ends of a hexagon are slanted. */
const PADDING = { box: 8, brackets: 9, pill: 12, hexagon: 15, chip: 8 } as const;
/** The solid tab of a layer, with the sign of its family. */
export const TAB_WIDTH = 20;
export const TWISTY_WIDTH = 18;
/** Between a box and the text beside it. */
const BESIDE_GAP = 8;

/** The parts of a box from left to right; each x counts from the box's left edge. */
export interface BoxParts {
  /** The path of the sign in a layer's solid tab; null without a tab. */
  readonly tab: string | null;
  /** The sign for the result of a comparison, and the x of its badge's middle. */
  readonly badge: { readonly sign: Sign; readonly x: number } | null;
  /** The node's name; "" in the guide's picture, which has names on its edges. */
  readonly name: string;
  readonly nameX: number;
  /** What the node is: its class, or its value's shape. */
  readonly kind: string;
  readonly kindWidth: number;
  /** The slots of a closed variable: letters, and the width of each chip. */
  readonly chips: readonly { readonly letters: string; readonly width: number }[];
  /** How many other names lead to the node. */
  readonly shared: string;
  /** The width of what follows the kind: chips, and other names. */
  readonly endWidth: number;
  readonly padding: number;
  /** The least width of the outline around all of these. */
  readonly width: number;
  /** The text behind the outline and its button that opens the node; and the width of that text. */
  readonly beside: string;
  readonly besideWidth: number;
  readonly besideLook: Sign["look"];
}

/** Measures the text of a graph: computes the width of each box and name once. */
export interface Typesetter extends Widths {
  parts(row: Row): BoxParts;
  /** The width of a name on an edge of the guide's picture. */
  name(text: string): number;
}

/**
 * What a box says. The guide's picture has names on its edges, so its boxes have kinds alone. A
 * box of names has its name, and the shape of its value. A short one has its name alone, or both
 * ends of a long one.
 */
export type Says = Brevity | "kinds";

export function makeTypesetter(graph: Graph, measure: MeasureText, says: Says): Typesetter {
  const closed = new Map<number, BoxParts>();
  const open = new Map<number, BoxParts>();
  const parts = (row: Row): BoxParts =>
    row.chunk === null
      ? kept(row.isExpanded ? open : closed, row.id, () => boxParts(graph, row, says, measure))
      : chunkParts(graph, row, row.chunk, says, measure);
  return {
    parts,
    name: (text: string) => measure(text, FONT_SIZE),
    box: (row: Row) => parts(row).width,
    behind: (row: Row) => twistyWidth(row) + parts(row).besideWidth,
  };
}

const NOTHING = { tab: null, badge: null, chips: [], shared: "", endWidth: 0 };

/** What a comparison says beside a box. */
function besideParts({ overlay }: Graph, { id, isExpanded }: Row, measure: MeasureText) {
  const beside = besideWords(overlay, id, isExpanded);
  const besideWidth = beside === "" ? 0 : BESIDE_GAP + measure(beside, FONT_SIZE);
  return { beside, besideWidth, besideLook: worstLook(overlay, id) };
}

/** The parts of a box for a chunk of a long list, or for a group. */
function chunkParts(
  graph: Graph,
  row: Row,
  chunk: NonNullable<Row["chunk"]>,
  says: Says,
  measure: MeasureText,
): BoxParts {
  const padding = PADDING.box;
  const label = says === "short" ? chunkLabel(graph, chunk, SHORT_END) : chunkLabel(graph, chunk);
  const name = says === "kinds" ? "" : label;
  const kind = says === "short" ? repeats(chunk) : chunkCount(chunk);
  const kindWidth = measure(kind, FONT_SIZE);
  const width = 2 * padding + nameWidth(name, measure) + kindWidth;
  const beside = besideParts(
    graph,
    { ...row, isExpanded: row.isExpanded || chunk.group === null },
    measure,
  );
  return { ...NOTHING, ...beside, name, nameX: padding, kind, kindWidth, padding, width };
}

/** The name in a box, as far as the box says it. */
function nameOf(name: string, says: Says): string {
  if (says === "kinds") {
    return "";
  }
  return says === "short" ? shortened(name, SHORT_NAME) : name;
}

/** The width of a name and the gap behind it; 0 for no name. */
function nameWidth(name: string, measure: MeasureText): number {
  return name === "" ? 0 : measure(name, NAME_FONT_SIZE) * BOLD + KIND_GAP;
}

/** What a node is, as far as its box says it. */
function kindOf(graph: Graph, id: number, says: Says): string {
  if (says === "kinds") {
    return boxText(graph, id);
  }
  const hasValue = graph.attributes(id).length > 0;
  const isSilent = says === "short" || (says === "names" && !hasValue);
  if (isSilent && graph.label(id) !== "") {
    return "";
  }
  // In a file the root has neither a name nor a class.
  return kindText(graph, id) || (id === ROOT ? WORDS.root : "");
}

/** The letters of slots: of a closed variable's own, or of all that an optimizer has. */
function chipsOf(graph: Graph, { id, isExpanded }: Row, says: Says): readonly string[] {
  if (graph.role(id) === "optimizer") {
    return [bundleLetters(graph, id)].filter((letters) => letters !== "" && says !== "kinds");
  }
  return isExpanded || says === "names" || says === "short" ? [] : slotLetters(graph, id);
}

function boxParts(graph: Graph, row: Row, says: Says, measure: MeasureText): BoxParts {
  const { id } = row;
  const name = nameOf(edgeText(graph, id), says);
  const kind = (problemWords(graph, id) === "" ? "" : "! ") + kindOf(graph, id, says);
  const role = graph.role(id);
  const padding = PADDING[shapeOf(role)];
  const tab = role === "layer" ? familySign(graph.typeName(id) ?? "") : null;
  const sign = cellMark(graph.overlay?.cell(id) ?? null);
  const start = padding + (tab === null ? 0 : TAB_WIDTH);
  const badge = sign.glyph === "" ? null : { sign, x: start + BADGE_RADIUS - BADGE_INSET };
  const nameX = badge === null ? start : badge.x + BADGE_RADIUS + CHIP_GAP;
  const chips = chipsOf(graph, row, says).map((letters) => ({
    letters,
    width: measure(letters, FONT_SIZE) + 2 * CHIP_PADDING,
  }));
  const shared = sharedWords(graph, id);
  const endWidth =
    chips.reduce((sum, { width }) => sum + CHIP_GAP + width, 0) +
    (shared === "" ? 0 : SHARED_GAP + measure(shared, FONT_SIZE));
  const kindWidth = measure(kind, FONT_SIZE);
  return {
    ...besideParts(graph, row, measure),
    ...{ tab, badge, name, nameX, kind, kindWidth, chips, shared, endWidth, padding },
    width: nameX + nameWidth(name, measure) + kindWidth + endWidth + padding,
  };
}

/** The x of each part behind the name: all of them are at the right end of the outline. */
export function placesIn(parts: BoxParts, width: number) {
  const { chips, endWidth, kindWidth, name, nameX, padding } = parts;
  const kindX = name === "" ? nameX : width - padding - endWidth - kindWidth;
  let x = kindX + kindWidth;
  const chipsX = chips.map((chip) => {
    const left = x + CHIP_GAP;
    x = left + chip.width;
    return left;
  });
  return { kindX, chipsX, sharedX: x + SHARED_GAP };
}

/** The x where the text beside a box begins. */
export function besideX(width: number, row: Row): number {
  return width + twistyWidth(row) + BESIDE_GAP;
}

function twistyWidth(row: Row): number {
  return row.childCount > 0 ? TWISTY_WIDTH : 0;
}
