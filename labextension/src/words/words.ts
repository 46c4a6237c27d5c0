/** The sentences that the view builds from the table of its strings. */

import { kept, oncePer } from "../basics/once";
import * as WORDS from "../basics/strings";
import { countWords, formatCount, sentenceText, shortened, visible } from "../basics/text";
import { type Attribute, type Graph, isHolder, ROOT } from "../data/graph";
import { hangingIn } from "../data/layers";
import type { Chunk, ShownTree } from "../layout/shown";
import { parametersOf, sizeOf } from "../layout/totals";
import { isFrozenHere } from "../layout/training";
import type { Found } from "../search/found";
import type { Mistake } from "../search/syntax";
import { belowSentence, cellMark, SIDES, stateSign } from "./signs";

const MAX_DIFFERENCE = 40;
/** Characters of each of the two names in a chunk's label, and where there is little space. */
const MAX_END = 16;
export const SHORT_END = 9;
/** A row has a path that differs from those of at most so many others. */
const MAX_TWINS = 200;
const MAX_NAMED = 3;

/** The two values of a node that differ, if its mark has them; else the node's description. */
function differenceWords(graph: Graph, id: number): string {
  const { overlay } = graph;
  const state = overlay?.state(id);
  const detail = overlay?.detail(id) ?? null;
  const tells = state === "shape" || state === "dtype" || state === "role";
  return tells && detail !== null ? sentenceText(detail) : "";
}

/** The label of a chunk, from its first and last name: layer_100 … layer_199. */
export function chunkLabel(
  { label }: Pick<Graph, "label">,
  { firstChild, group, lastChild }: Chunk,
  most = MAX_END,
): string {
  if (group !== null && !group.isAlike) {
    return shortened(visible(group.name));
  }
  return [firstChild, lastChild].map((id) => shortened(visible(label(id)), most)).join(" … ");
}

/**
 * A node's path in the names that people give, on a side: as Python's `LayerNames.place`, or the
 * last names of the path.
 */
export function placeName(
  graph: Graph,
  id: number,
  isOfSaved = id >= (graph.overlay?.baseSize ?? graph.size),
  most = Number.POSITIVE_INFINITY,
): string {
  const objects = graph.objects ?? graph;
  const names: string[] = [];
  for (let node = id; node !== ROOT; node = objects.treeParent(node) ?? ROOT) {
    if (node === id || !isHolder(graph, node)) {
      names.push(isOfSaved ? graph.savedCalled(node) : graph.called(node));
    }
    if (isOfSaved && graph.overlay?.isHeldElsewhere(node) === true) {
      break;
    }
  }
  return names.slice(0, most).reverse().join(".") || WORDS.root;
}

/** A node's mark in words, for a screen reader. */
export function comparedWords(graph: Graph, id: number): readonly string[] {
  const { overlay } = graph;
  if (overlay === null) {
    return [];
  }
  const detail = sentenceText(overlay.detail(id) ?? "");
  return [
    cellMark(overlay.cell(id)).word,
    detail.replaceAll("×", " by ").replaceAll(stateSign("shape").glyph, "but"),
    partnerWords(graph, id),
  ].filter((words) => words !== "");
}

/** The node's name on the other side, TensorFlow's if people give the same: saved as out. */
export function partnerWords(graph: Graph, id: number): string {
  const { overlay } = graph;
  const partner = overlay?.partner(id) ?? null;
  if (overlay === null || partner === null) {
    return "";
  }
  const [own, other] = [false, true].map((isOfSaved) => placeName(graph, id, isOfSaved));
  const name = own === other ? sentenceText(partner) : visible(other ?? "");
  return `${SIDES[overlay.comparison].saved} ${name}`;
}

/** What people call a row of the tree, a node or a group: the shortest path that is its alone. */
export function rowLabel(graph: Graph, row: number): string {
  return rowLabels(graph)(row);
}

const rowLabels = oncePer((graph: Graph): ((row: number) => string) => {
  const known = new Map<number, string>();
  const twins = new Map<string, number[]>();
  const path = (row: number): readonly string[] => {
    const names: string[] = [];
    for (let at: number | null = row; at !== null; at = graph.treeParent(at)) {
      if (graph.group(at)?.isAlike !== true) {
        names.push(shortened(visible(graph.label(at))));
      }
    }
    return names;
  };
  const made = (row: number): string => {
    const group = graph.group(row);
    if (group?.isAlike === true) {
      const members = graph.treeChildren(row);
      const ends = [members[0], members.at(-1)].map((id) =>
        shortened(visible(graph.label(id ?? ROOT))),
      );
      return ends.join(" … ");
    }
    if (twins.size === 0) {
      for (const id of graph.order) {
        kept(twins, graph.label(id), () => []).push(id);
      }
    }
    const own = path(row);
    const others = (twins.get(graph.label(row)) ?? []).filter((id) => id !== row);
    const paths = others.slice(0, MAX_TWINS).map(path);
    let length = blocksAbove(graph, row) + 1;
    while (
      length < own.length - 1 &&
      (/^\d*$/.test(own[length - 1] ?? "") ||
        paths.some((other) => own.slice(0, length).every((name, at) => name === other[at])))
    ) {
      length += 1;
    }
    return own.slice(0, length).reverse().join(" › ") || WORDS.rootWord;
  };
  return (row) => kept(known, row, made);
});

/** How many blocks a row is in: a layer's name among layers leaves their names out. */
function blocksAbove(graph: Graph, row: number): number {
  const above = graph.treeParent(row);
  const group = above === null ? null : graph.group(above);
  return above === null || group === null ? 0 : blocksAbove(graph, above) + (group.isAlike ? 0 : 1);
}

/** The number of nodes in a chunk and in its list: 100 of 1,424. In a group: 12 alike, 9 layers. */
export function chunkCount({ first, group, isMoreAlike, last, of }: Chunk): string {
  if (isMoreAlike) {
    return WORDS.sameAgain;
  }
  if (group !== null) {
    if (group.lost !== "") {
      return WORDS.inNone(group.lost);
    }
    const { alike, layers, variables } = WORDS.counts;
    const [one, many] = group.isOfVariables ? variables : layers;
    return group.isAlike ? countWords(of, ...alike) : countWords(group.parts, one, many);
  }
  return WORDS.place(formatCount(last - first + 1), formatCount(of));
}

/** How often a row repeats, in short: ×12; "" for other parts of a list and other groups. */
export function repeats({ first, group, isMoreAlike, last }: Chunk): string {
  return isMoreAlike || group?.isAlike === true ? WORDS.times(formatCount(last - first + 1)) : "";
}

/** Whether training changes a variable: the source records it, or an optimizer has its slots. */
export function isTrained(graph: Graph, id: number): boolean {
  if (graph.role(id) !== "variable") {
    return false;
  }
  const training = graph.training(id);
  return training === null
    ? graph.treeChildren(id).some((slot) => graph.slot(slot) !== null)
    : training === "trained";
}

/** An optimizer's slots as letters and their number: m v 390; "" without any. */
export function bundleLetters(graph: Graph, optimizer: number): string {
  const names = slotCounts(graph).get(optimizer) ?? new Map<string, number>();
  const count = [...names.values()].reduce((sum, one) => sum + one, 0);
  return count === 0 ? "" : [...lettersOf([...names.keys()]), formatCount(count)].join(" ");
}

const slotCounts = oncePer((graph: Graph) => {
  const counts = new Map<number, Map<string, number>>();
  for (let id = 0; id < graph.size; id++) {
    const slot = graph.slot(id);
    if (slot?.optimizer != null) {
      const names = kept(counts, slot.optimizer, () => new Map<string, number>());
      names.set(slot.name, (names.get(slot.name) ?? 0) + 1);
    }
  }
  return counts;
});

/** What a closed row holds: the nodes below it or, while a search runs, the matches below it. */
export interface Held {
  readonly count: number;
  readonly areMatches: boolean;
}

export function heldBy(tree: ShownTree, found: Found, id: number): Held {
  const { below, isMatch, kept } = found;
  if (kept === null) {
    return { count: tree.nodesBelow(id), areMatches: false };
  }
  const inChunk = Array.from(tree.members(id));
  const count = inChunk.reduce(
    (sum, node) => sum + (isMatch[node] ?? 0) + (below[node] ?? 0),
    below[id] ?? 0,
  );
  return { count, areMatches: true };
}

/** How many other names lead to a node: ⇄2; "" if there are none. */
export function sharedWords(graph: Graph, id: number): string {
  if (graph.objects !== null) {
    return sharedLayerWords(graph, id);
  }
  const others = graph.edgesTo(id).length - (graph.treeParent(id) === null ? 0 : 1);
  const isSlot = graph.slot(id)?.variable === graph.treeParent(id);
  return others < 1 || isSlot ? "" : `⇄${formatCount(others)}`;
}

/** The same among layers: objects that only hold others together do not count. */
function sharedLayerWords(graph: Graph, id: number): string {
  const holders = new Set(graph.edgesTo(id).map(({ node }) => graph.shownAs(node)));
  holders.delete(null);
  return holders.size < 2 ? "" : `⇄${formatCount(holders.size - 1)}`;
}

/** The text in a node's box: what the node is. The node's name is on the edge to it. */
export function boxText(graph: Graph, id: number): string {
  const difference = differenceWords(graph, id);
  if (difference !== "") {
    return shortened(difference, MAX_DIFFERENCE);
  }
  const type = typeWords(graph, id);
  switch (graph.role(id)) {
    case "variable":
    case "slot":
      return shortened(valueWords(graph, id));
    case "optimizer":
      return shortened(type || WORDS.optimizerWord);
    case "value":
      return shortened(type || attributeNames(graph, id) || WORDS.valueWord);
    default:
      return shortened(
        id === ROOT ? type || WORDS.rootWord : withCount(graph, id, objectWords(graph, id)),
      );
  }
}

/** What a node is, in a box that has its name: its class, or the shape of its value. */
export function kindText(graph: Graph, id: number): string {
  const difference = differenceWords(graph, id);
  if (difference !== "") {
    return shortened(difference, MAX_DIFFERENCE);
  }
  const role = graph.role(id);
  const isValue = role === "variable" || role === "slot" || role === "value";
  if (!isValue) {
    const frozen = isFrozenHere(graph, id) ? `${WORDS.frozenSign} ` : "";
    return (
      frozen + shortened(graph.objects === null ? objectWords(graph, id) : typeWords(graph, id))
    );
  }
  return shortened(graph.objects === null ? boxText(graph, id) : layerValueWords(graph, id));
}

/** The shapes of a node's values; the dtype only of a scalar, whose shape says little. */
function layerValueWords(graph: Graph, id: number): string {
  const [only, ...others] = graph.attributes(id);
  const isArray = only !== undefined && others.length === 0 && (only.shape?.length ?? 0) > 0;
  return isArray ? shapeWords(only) : boxText(graph, id);
}

/**
 * The slots of a variable as letters: the first of each name, or two if slots share the first. With
 * more than four, a count replaces all after the third.
 */
export function slotLetters(graph: Graph, id: number): readonly string[] {
  return lettersOf(
    [...graph.treeChildren(id)]
      .filter((child) => graph.slot(child)?.variable === id)
      .map((child) => graph.slot(child)?.name ?? ""),
  );
}

function lettersOf(slots: readonly string[]): readonly string[] {
  const names = slots.map((name) => [...visible(name).replace(/^_+/, "")]);
  const length = new Set(names.map(([first]) => first)).size === names.length ? 1 : 2;
  const letters = names.map((name) => name.slice(0, length).join("") || "?");
  return letters.length <= 4 ? letters : [...letters.slice(0, 3), `+${letters.length - 3}`];
}

/** An object's class, and its name if the local name is only a number: Dense “head”. */
function objectWords(graph: Graph, id: number): string {
  const scope = /(^|-)\d+$/.test(graph.label(id)) ? variableScope(graph, id) : "";
  const name = scope === "" ? "" : `“${visible(scope)}”`;
  return [typeWords(graph, id), name].filter((word) => word !== "").join(" ") || WORDS.objectWord;
}

/** The last part of the scope that the full names of a node's own variables share. */
function variableScope(graph: Graph, id: number): string {
  const scopes = new Set<string>();
  for (const child of graph.treeChildren(id)) {
    if (graph.role(child) === "variable") {
      const fullName = graph.attributes(child)[0]?.fullName ?? "";
      scopes.add(fullName.slice(0, Math.max(fullName.lastIndexOf("/"), 0)));
    }
  }
  const [scope = ""] = scopes;
  return scopes.size === 1 ? (scope.split("/").at(-1) ?? "") : "";
}

function withCount(graph: Graph, id: number, what: string): string {
  const count = graph.children(id).length;
  return count === 0 ? what : `${what} · ${formatCount(count)}`;
}

function attributeNames(graph: Graph, id: number): string {
  return graph
    .attributes(id)
    .map((attribute) => visible(attribute.name))
    .join(", ");
}

/** The Python class; for TensorFlow's wrappers the class that they wrap. */
export function typeWords(graph: Graph, id: number): string {
  const hanging = hangingIn(graph, id);
  if (hanging > 0) {
    return WORDS.heldAlone(countWords(hanging, ...WORDS.counts.variables));
  }
  const type = graph.typeName(id) ?? "";
  const wrapped: Readonly<Record<string, string>> = {
    ListWrapper: "list",
    List: "list",
    _DictWrapper: "dict",
    _TupleWrapper: "tuple",
  };
  return wrapped[type] ?? visible(type);
}

/** The shape of a node's value, if it has one. */
export function shapeCell(graph: Graph, id: number): string {
  const attributes = graph.attributes(id);
  const [only] = attributes;
  if (graph.overlay?.state(id) === "shape") {
    return differenceWords(graph, id);
  }
  if (only === undefined) {
    return "";
  }
  return attributes.length > 1
    ? countWords(attributes.length, ...WORDS.counts.values)
    : shapeWords(only) || (only.dtype === null ? visible(only.name) : "");
}

export function dtypeCell(graph: Graph, id: number): string {
  const dtypes = new Set(graph.attributes(id).map(({ dtype }) => dtype ?? ""));
  return graph.overlay?.state(id) === "dtype"
    ? differenceWords(graph, id)
    : [...dtypes].filter((dtype) => dtype !== "").join(", ");
}

/** dtype and shape of a node's values, or the attributes' names if they have none. */
export function valueWords(graph: Graph, id: number): string {
  return graph
    .attributes(id)
    .map((a) => [shapeWords(a), a.dtype ?? visible(a.name)].filter((word) => word !== "").join(" "))
    .join(", ");
}

export function shapeWords({ shape }: Attribute): string {
  if (shape === null) {
    return "";
  }
  return shape.length === 0 ? WORDS.scalar : shape.join("×");
}

/** The shapes in a layer's column: 96×96×3, or any×64 for a sequence of any length; several tensors have commas between them. */
export function tensorWords(shapes: string | null): string {
  const known = (shapes ?? "").replaceAll("?", WORDS.anySize);
  const each = known.split(";").map((shape) => shape.replaceAll(",", "×"));
  return shapes === null ? "" : each.map((shape) => shape || "1").join(", ");
}

/** What a row gives: a group gives what the last row in it does. */
export function givenShape(graph: Graph, row: number): string {
  let id: number | undefined = row;
  while (id !== undefined && id >= graph.size) {
    id = Array.from(graph.treeChildren(id)).at(-1);
  }
  return id === undefined ? "" : tensorWords(graph.gives(id));
}

export function bytesWords(nbytes: number | null): string {
  if (nbytes === null) {
    return "";
  }
  return scaled(nbytes, ["B", "kB", "MB", "GB", "TB"]);
}

/** A count for a narrow column: 9,408 or 1.3 M. */
export function shortCount(count: number): string {
  return count < 10_000 ? formatCount(count) : scaled(count, ["", "k", "M", "G", "T"]);
}

function scaled(count: number, units: readonly string[]): string {
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && value < 100 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit] ?? ""}`;
}

/** The number of parameters in a row and below it; "" without any. */
export function parametersCell(graph: Graph, id: number): string {
  const count = parametersOf(graph, id);
  return count === 0 ? "" : formatCount(count);
}

/** A part of the whole in percent, with a decimal where it tells something. */
export function percentWords(part: number): string {
  const percent = 100 * part;
  if (percent >= 99.5 && percent < 100) {
    return WORDS.nearlyAll;
  }
  return `${percent >= 10 || percent === 0 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** A node's size: the sum of its own values and, for an object, of all below it. */
export function sizeCell(graph: Graph, id: number): string {
  return bytesWords(sizeOf(graph, id).all);
}

/** The same in words, with the sum's parts: 180 B in all; 60 B, 180 B with its slot variables. */
export function sizeSentence(graph: Graph, id: number): string {
  const { own, all, withSlots } = sizeOf(graph, id);
  if (all === null) {
    return withSlots === null ? "" : `${bytesWords(withSlots)} ${WORDS.withSlots}`;
  }
  const size = `${bytesWords(all)}${all === own ? "" : ` ${WORDS.inAll}`}`;
  return withSlots === all ? size : `${size}, ${bytesWords(withSlots)} ${WORDS.withSlots}`;
}

/** The problem of a node in a word or two; "" without one. */
export function problemWords(graph: Graph, id: number): string {
  if (graph.error(id) !== null) {
    return WORDS.problem;
  }
  if (graph.attributes(id).some((attribute) => attribute.error !== null)) {
    return WORDS.valueMissing;
  }
  return graph.notSaved(id).some(({ isLost }) => isLost) ? WORDS.notSaved.toLowerCase() : "";
}

/** What TensorFlow does not track of a node, although no trained value is lost; "" for nothing. */
export function noteWords(graph: Graph, id: number): string {
  const names = notTrackedNames(graph, id);
  return names === "" ? "" : `${WORDS.notTracked.toLowerCase()}: ${names}`;
}

/** The first names of these attributes. */
export function notTrackedNames(graph: Graph, id: number): string {
  const notes = graph.notSaved(id).filter(({ isLost }) => !isLost);
  const named = notes.slice(0, MAX_NAMED).map(({ name }) => shortened(visible(name)));
  return [...named, ...(notes.length > MAX_NAMED ? ["…"] : [])].join(", ");
}

/** The name on the edge to a node, cut to the space in the drawing. */
export function edgeText(graph: Graph, id: number): string {
  return shortened(visible(graph.label(id)));
}

/** The number of matches, and the position of the selected one: 3 of 12; "" without a query. */
export function matchWords(found: Found, selected: number | null): string {
  const { isWaiting, kept, matches, mistake } = found;
  if (isWaiting) {
    return WORDS.waitingQuery;
  }
  if (kept === null) {
    return mistake === null ? "" : mistakeWords(mistake);
  }
  const place = selected === null ? -1 : matches.indexOf(selected);
  if (place >= 0) {
    return WORDS.place(formatCount(place + 1), formatCount(matches.length));
  }
  return matches.length === 0 ? WORDS.noMatch : countWords(matches.length, ...WORDS.counts.matches);
}

export function mistakeWords({ expected, place }: Mistake): string {
  return WORDS.mistake(formatCount(place + 1), expected);
}

/** The number of entries that a list leaves out: … and 12 more. */
export function moreWords(count: number): string {
  return WORDS.more(formatCount(count));
}

/** A node in one sentence, for a screen reader. */
export function sentence(graph: Graph, id: number): string {
  const { overlay } = graph;
  const attributes = graph.attributes(id);
  return [
    rowLabel(graph, id),
    graph.role(id),
    graph.role(id) === "variable" || graph.role(id) === "slot" ? "" : typeWords(graph, id),
    ...attributes.map((a) => `${a.dtype ?? ""} ${shapeWords(a).replaceAll("×", " by ")}`.trim()),
    ...comparedWords(graph, id),
    countWords(graph.treeChildren(id).length, ...WORDS.counts.children),
    overlay === null ? "" : belowSentence(overlay, id),
  ]
    .filter((part) => part !== "")
    .join(", ");
}
