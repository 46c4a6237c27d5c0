/** What the lines of both sides show: the text in each box, and the sign between the boxes. */

import { LIVE_ALONE, type NodeState, SAVED_ALONE } from "../contract";
import type { Attribute, Graph } from "../graph";
import { nodesBelow } from "../layout/feeds";
import type { Row } from "../layout/rows";
import type { Chunk } from "../layout/shown";
import type { Line } from "../layout/sides";
import { isQuiet, type OfSide, type Overlay, type StateCount } from "../overlay";
import { belowWords, countsSentence, type Sign, stateSign } from "../signs";
import * as WORDS from "../strings";
import { countWords, sentenceText, shortened, visible } from "../text";
import { chunkCount, chunkLabel, placeName, rowLabel, shapeWords, typeWords } from "../words";

/** How the line between the boxes is drawn; `none` for objects that have no value. */
export type Stroke = "none" | "restored" | "differs" | "likely" | "alone";

export interface LineMark {
  readonly sign: Sign | null;
  readonly words: string;
  readonly stroke: Stroke;
  /** What the words abbreviate, if they do. */
  readonly longer?: string;
  /** Why a fix pairs the two sides, or leaves a side out; "" for what its holder says already. */
  readonly reason?: string;
  /** The guess of a fix that the line shows, by its place among all of them. */
  readonly guess?: number;
  /** The class of a line while a restore plays. */
  readonly class?: string;
}

export const NOTHING: LineMark = { sign: null, words: "", stroke: "none" };
const MAX_SHAPES = 3;
/** Characters of a name on a line; its end tells more than its start. */
export const MAX_PLACE = 22;
/** A value, and the layer that holds it. */
const MAX_PARTS = 2;

/** The sign of a line: its own state or, while it is folded, what is below it. */
export function markOf(graph: Graph, rows: readonly Row[], line: Line): LineMark {
  const { overlay } = graph;
  const saved = rows[line.saved ?? -1];
  const live = rows[line.live ?? -1];
  const row = live ?? saved;
  if (overlay === null || row === undefined) {
    return NOTHING;
  }
  const alone = saved === undefined || live === undefined;
  const state = row.chunk === null ? overlay.state(row.id) : PLAIN;
  if (!isQuiet(state)) {
    const words = wordsOfState(graph, overlay, rows, row);
    return { sign: stateSign(state), words, stroke: alone ? "alone" : "differs" };
  }
  const { loud, matched } = row.isExpanded ? NO_COUNTS : countsOf(graph, overlay, row);
  const [first] = loud;
  if (state === "matched" && graph.attributes(row.id).length > 0) {
    // Below a variable are its slot variables: what they need is no matter of the pair.
    const detail = sentenceText(overlay.detail(row.id) ?? "");
    const words = detail || (row.isExpanded ? "" : belowWords(overlay, row.id));
    const stroke = alone ? "alone" : "restored";
    return { sign: stateSign(state), words, stroke, longer: countsSentence(loud) };
  }
  if (first !== undefined) {
    const isWhole = loud.length === 1 && matched === 0;
    const words = isWhole ? stateSign(first.state).word : countsSentence(loud);
    return { sign: stateSign(first.state), words, stroke: alone ? "alone" : "differs" };
  }
  return matched > 0
    ? { sign: stateSign("matched"), words: "", stroke: alone ? "alone" : "restored" }
    : NOTHING;
}

interface Counts {
  readonly loud: readonly StateCount[];
  readonly matched: number;
}

const PLAIN: NodeState = "plain";
const NO_COUNTS: Counts = { loud: [], matched: 0 };
const ofChunks = new WeakMap<Graph, Map<string, Counts>>();

/** What a folded row holds. A part of a long list, or a group, holds what its rows hold. */
function countsOf(graph: Graph, overlay: Overlay, { chunk, id }: Row): Counts {
  if (chunk === null) {
    return { loud: overlay.below(id), matched: overlay.matchedBelow(id) };
  }
  const known = ofChunks.get(graph) ?? new Map<string, Counts>();
  ofChunks.set(graph, known);
  const key = `${chunk.firstChild} ${chunk.lastChild} ${id}`;
  const counts = known.get(key) ?? added(overlay, nodesIn(graph, chunk, id));
  known.set(key, counts);
  return counts;
}

/** The nodes in a part of a long list, or in a group of layers. */
export function nodesIn(graph: Graph, chunk: Chunk, id: number): readonly number[] {
  if (chunk.group === null) {
    const children = Array.from(graph.treeChildren(chunk.parent));
    return children.slice(
      children.indexOf(chunk.firstChild),
      children.indexOf(chunk.lastChild) + 1,
    );
  }
  return nodesBelow(graph, id);
}

function added(overlay: Overlay, nodes: readonly number[]): Counts {
  const sums = new Map<NodeState, number>();
  for (const { count, state } of nodes.flatMap((id) => overlay.within(id))) {
    sums.set(state, (sums.get(state) ?? 0) + count);
  }
  return {
    loud: Array.from(sums, ([state, count]) => ({ state, count })).filter(
      ({ state }) => !isQuiet(state),
    ),
    matched: sums.get("matched") ?? 0,
  };
}

/** What a plain restore does with a node, in few words; "" below a node that says it. */
function wordsOfState(
  graph: Graph,
  overlay: Overlay,
  rows: readonly Row[],
  { id, parentRow }: Row,
): string {
  const state = overlay.state(id);
  const detour = detourWords(graph, overlay, id);
  if (detour !== "") {
    return detour;
  }
  const above = rows[parentRow];
  if (above !== undefined && above.chunk === null && overlay.state(above.id) === state) {
    const isOfPart = SAVED_ALONE.has(state) || LIVE_ALONE.has(state) || state === "moved";
    if (isOfPart && parentRow > 0) {
      return "";
    }
  }
  if (state === "warned" || state === "failed") {
    return titleOf(overlay, id) ?? stateSign(state).word;
  }
  return stateSign(state).word;
}

/** Where a plain restore takes the value of a node from, or else puts the saved one. */
export function detourWords(graph: Graph, { getsFrom, goesTo }: Overlay, id: number): string {
  const [from, to] = [getsFrom(id), goesTo(id)];
  const [verb, place] =
    from !== null
      ? [WORDS.getsValueOf, placeName(graph, from, true, MAX_PARTS)]
      : [WORDS.goesInto, to === null ? "" : placeName(graph, to, false, MAX_PARTS)];
  return place === "" ? "" : `${verb} ${shortened(visible(place), MAX_PLACE)}`;
}

/** The title of the cause that names the node. */
function titleOf(overlay: Overlay, id: number): string | null {
  const [problem] = overlay.problemsOf(id);
  const cause = problem === undefined ? undefined : overlay.causes[overlay.causeOf(problem)];
  return cause === undefined ? null : lowerFirst(sentenceText(cause.title));
}

function lowerFirst(title: string): string {
  return title.slice(0, 1).toLowerCase() + title.slice(1);
}

/** The name of a row on a side: a pair that has two names shows each of them. */
export function labelOf(graph: Graph, { chunk, id }: Row, side: OfSide): string {
  const label = side === "saved" ? graph.savedLabel : graph.label;
  if (chunk === null) {
    return visible(label(id)) || WORDS.root;
  }
  const isBlock = chunk.group?.isAlike === false;
  return isBlock ? shortened(visible(label(id))) : chunkLabel({ label }, chunk);
}

/** What people call a row on a side, or in a graph alone. */
export function rowLabelOn(graph: Graph, row: number, side: OfSide | null): string {
  const saved = graph.savedLabel(row);
  return side === "saved" && saved !== graph.label(row)
    ? shortened(visible(saved))
    : rowLabel(graph, row);
}

/** The facts in a box: its value or, while it is folded, the number of variables on its side. */
export function factsOf(graph: Graph, row: Row, side: OfSide): string {
  const { chunk, id, isExpanded } = row;
  const { overlay } = graph;
  if (chunk !== null || overlay === null) {
    return chunk === null ? "" : chunkCount(chunk);
  }
  const savedTensors = side === "saved" ? overlay.savedTensors(id) : null;
  if (savedTensors !== null) {
    return visible(savedTensors);
  }
  if (side === "saved" && overlay.isHeldElsewhere(id)) {
    return visible(graph.savedCalled(id));
  }
  const attributes = graph.attributes(id);
  if (attributes.length > 0) {
    const isOfDtype = overlay.state(id) === "dtype" && overlay.getsFrom(id) === null;
    const words = (one: Attribute) => `${isOfDtype ? `${one.dtype} ` : ""}${shortValue(one)}`;
    return attributes.map(words).join(", ");
  }
  const count = isExpanded ? 0 : variablesOn(overlay, id, side);
  if (count > 0) {
    return shapesBelow(graph, id, count) || countWords(count, ...WORDS.counts.values);
  }
  // A checkpoint has no classes; those of a pair are the program's.
  return side === "saved" && overlay.side(id) === "both" ? "" : typeWords(graph, id);
}

/** The shape of a value; the dtype of a scalar. */
function shortValue(attribute: Attribute): string {
  const { dtype, name, shape } = attribute;
  return (shape === null || shape.length === 0 ? dtype : shapeWords(attribute)) ?? visible(name);
}

/** The shapes of all variables below a layer; "" if they are many, or further below. */
function shapesBelow(graph: Graph, id: number, count: number): string {
  const children = Array.from(graph.treeChildren(id));
  const isFew = count <= MAX_SHAPES && children.length === count;
  return isFew && children.every((child) => graph.attributes(child).length === 1)
    ? children.flatMap((child) => graph.attributes(child).map(shortValue)).join(", ")
    : "";
}

function variablesOn(overlay: Overlay, id: number, side: OfSide): number {
  const other = side === "saved" ? LIVE_ALONE : SAVED_ALONE;
  return overlay
    .below(id)
    .filter(({ state }) => !other.has(state))
    .reduce((sum, { count }) => sum + count, overlay.matchedBelow(id));
}
