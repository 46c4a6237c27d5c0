/**
 * The payload as it arrives: the columns of docs/payload.md, checked and cut out of one buffer.
 *
 * The buffer comes from a kernel or from a saved notebook, so it is untrusted. After `decode` every
 * index in a column is in range, so the callers need not check again.
 */

import {
  columns as COLUMNS,
  fields as FIELDS,
  roles,
  slot_rules,
  trainings,
  version,
} from "../../../ckpt_viz/graphs/render/payload.json";
import { cells, severities, states } from "../../../ckpt_viz/graphs/render/signs.json";
import { gunzip } from "../basics/gunzip";

export const VERSION = version;
export const ABSENT = -1;
const MAGIC = "ckptviz\0";
const ALIGNMENT = 8;
/** A payload of 50,000 nodes unpacks to about 10 MB; one far above that is an attack. */
const MAX_BYTES = 512 * 2 ** 20;

function namesOf<T extends object>(table: T): readonly (keyof T)[] {
  return Object.keys(table) as (keyof T)[];
}

export type Role = keyof typeof roles;
export const ROLES = /* @__PURE__ */ namesOf(roles);
export const SLOT_RULES = /* @__PURE__ */ namesOf(slot_rules);
/** What a training does to a variable; ckpt_viz/graphs/layers/training.py defines each. */
export type Training = keyof typeof trainings | null;
/** Their codes begin with 1. */
export const TRAININGS = /* @__PURE__ */ namesOf(trainings);
/** How a node compares with the other side. ckpt_viz/graphs/overlay/overlay.py defines each state. */
export type NodeState = keyof typeof states;
export const NODE_STATES = /* @__PURE__ */ namesOf(states);
/** The worst comes first. */
export type Severity = keyof typeof severities;
export const SEVERITIES = /* @__PURE__ */ namesOf(severities);
export type CellSign = keyof typeof cells;
export const CELL_SIGNS = /* @__PURE__ */ namesOf(cells);

/** The states of what only the checkpoint (or a) has, and of what only the program (or b) has. */
export const SAVED_ALONE: ReadonlySet<NodeState | undefined> = new Set<NodeState>([
  "saved only",
  "deferred",
  "only in a",
]);
export const LIVE_ALONE: ReadonlySet<NodeState | undefined> = new Set<NodeState>([
  "live only",
  "only in b",
]);

export type Origin = "live" | "saved";
export type Comparison = "check" | "diff";

export interface Verdict {
  readonly name: string;
  readonly passes: boolean;
  /** TensorFlow's text, if it fails; else "". */
  readonly message: string;
}

/** The header and the columns. A text is a place in `strings`, or ABSENT. */
export interface Payload {
  readonly title: string;
  readonly origin: Origin;
  /** What a file of Keras is. */
  readonly kind: string | null;
  readonly notes: readonly string[];
  readonly nodeCount: number;
  readonly strings: readonly string[];
  readonly columns: Columns<"graph">;
  /** What is known of layers and of training. */
  readonly facts: Columns<"facts">;
  /** Which layers call which. */
  readonly calls: Columns<"calls">;
  /** The view of layers. A row is a node or, from the number of nodes on, a group. */
  readonly layers: Columns<"layers">;
  /** The result of a comparison; null for a single graph. */
  readonly overlay: OverlayPayload | null;
  /** The table of a comparison; null without one. */
  readonly table: TablePayload | null;
  /** What the values measure; null if these were not read. */
  readonly measures: MeasurePayload | null;
}

/** What one way to restore does with the values of a line. */
export interface TableCell {
  readonly sign: CellSign;
  readonly words: string;
}

/** What a person can accept with a tick. */
export interface TableGuess {
  /** The number of values that it adds to the fix. */
  readonly values: number;
  readonly question: string;
  /** What the tick does. */
  readonly tick: string;
  /** What a line says whose values the tick restores. */
  readonly taken: string;
}

/** Numbers of values; ckpt_viz/graphs/overlay/comparison_table.py says what each counts. */
export interface Totals {
  readonly saved: number;
  readonly live: number;
  readonly restored: number;
  readonly fixed: number | null;
}

interface TableHeader {
  readonly sentence: string;
  readonly verdict: string;
  /** What the columns show: as saved, the call, the fix, the program; "" for what a diff lacks. */
  readonly heads: readonly string[];
  readonly notes: readonly string[];
  /** Whether the fix does what the call does in every line. */
  readonly is_one_column: boolean;
  readonly totals: Totals;
  /** By place of a guess, what it asks. */
  readonly guessed: readonly TableGuess[];
  /** The node with the first NaN or infinity of a diff whose values were read; null for none. */
  readonly worst: number | null;
  readonly cells: readonly TableCell[];
}

export interface TablePayload extends TableHeader {
  readonly columns: Columns<"table">;
}

export interface MeasurePayload {
  /** The number of tensors that were not read, and of those that cannot be read. */
  readonly unread: number;
  readonly unreadable: number;
  readonly columns: Columns<"measures">;
}

interface OverlayHeader {
  readonly comparison: Comparison;
  /** Nodes from this id on exist only in the checkpoint (in a diff: only in a). */
  readonly base_size: number;
  /** Whether there are steps to play, if this is a check. */
  readonly has_steps: boolean;
  readonly can_change: boolean;
  readonly verdicts: readonly Verdict[];
}

export interface OverlayPayload extends OverlayHeader {
  readonly columns: Columns<"overlay">;
}

interface Header extends Pick<Payload, "title" | "origin" | "kind" | "notes"> {
  readonly version: number;
  readonly overlay: OverlayHeader | null;
  readonly table: TableHeader | null;
  readonly unread: number;
  readonly unreadable: number;
  readonly sections: readonly {
    readonly name: string;
    readonly type: string;
    readonly length: number;
  }[];
}

/** A part of the payload, such as "graph", and the names of its columns. */
type Part = keyof typeof COLUMNS;
type NameIn<T> = T extends unknown ? { [Per in keyof T]: keyof T[Per] & string }[keyof T] : never;
export type NameOf<P extends Part> = NameIn<(typeof COLUMNS)[P]>;
export type Column = Uint8Array | Int32Array | Float64Array;
export type Columns<P extends Part> = { readonly [Name in NameOf<P>]: Column };
type Unprefixed<T> = T extends `value_${infer Name}` ? Name : never;
/** One number per node, NaN for none: ckpt_viz/graphs/search/measures.py says what each is. */
export type MeasureColumnName = Unprefixed<NameOf<"measures">>;

interface ColumnType {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, offset: number, length: number): Column;
}

// Typed arrays have the machine's byte order; every machine with a browser is little-endian.
const COLUMN_TYPES: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ["uint8", Uint8Array],
  ["int32", Int32Array],
  ["float64", Float64Array],
]);

/** Names the first place where a payload breaks the rules of docs/payload.md. */
export class PayloadError extends Error {}

/** Unpacks and checks a payload; rejects with a PayloadError. */
export async function decode(compressed: Uint8Array): Promise<Payload> {
  const bytes = await gunzip(compressed, MAX_BYTES).catch((error: unknown) =>
    fail(`is no gzip data of at most ${MAX_BYTES} bytes: ${String(error)}`),
  );
  const { header, start } = readHeader(bytes);
  const sections = cutSections(bytes, header, start);
  const strings = readStrings(sections);
  const nodeCount = section(sections, "role").length;
  require(nodeCount > 0, "has no nodes");
  const known: Known = {
    sections,
    nodeCount,
    ranges: {
      text: [ABSENT, strings.length],
      id: [0, nodeCount],
      "id?": [ABSENT, nodeCount],
      count: [0, Infinity],
      flag: [0, 2],
      role: [0, ROLES.length],
      rule: [0, SLOT_RULES.length],
      training: [0, TRAININGS.length + 1],
      state: [0, NODE_STATES.length],
      severity: [0, SEVERITIES.length],
    },
  };
  const { kind, notes, origin, title, unread, unreadable } = header;
  const measures = sections.has("value_count") ? readColumns("measures", known, () => ({})) : null;
  const overlay = readOverlay(header.overlay, known);
  return {
    ...{ title, origin, kind, notes, nodeCount, strings, overlay },
    columns: readGraph(known),
    facts: readColumns("facts", known, ({ fact_node }) => ({ fact: fact_node.length })),
    calls: readColumns("calls", known, ({ call_from }) => ({ call: call_from.length })),
    layers: readLayers(known),
    table: readTable(header.table, known, overlay),
    measures: measures && { unread, unreadable, columns: measures },
  };
}

/** The values that a column may hold: the start is included, the end is not. */
type Range = readonly [number, number];
type Ranges = Readonly<Record<string, Range>>;

/** What all parts need. */
interface Known {
  readonly sections: Sections;
  readonly nodeCount: number;
  /** The ranges of what columns hold. */
  readonly ranges: Ranges;
}

/** Reads the columns of a part; checks the range of every value, and the length of each column. */
function readColumns<P extends Part>(
  part: P,
  { nodeCount, ranges: usual, sections }: Known,
  lengthsOf: (columns: Columns<P>) => Readonly<Record<string, number>>,
  own: Ranges = {},
): Columns<P> {
  const columns = {} as Record<NameOf<P>, Column>;
  const kindsPer: Readonly<Record<string, Readonly<Record<string, string>>>> = COLUMNS[part];
  for (const [name, kind] of Object.values(kindsPer).flatMap((kinds) => Object.entries(kinds))) {
    const values = section(sections, name);
    const range = own[kind] ?? usual[kind];
    if (range !== undefined) {
      checkRange(name, values, range);
    }
    columns[name as NameOf<P>] = values;
  }
  const lengths: Readonly<Record<string, number>> = { node: nodeCount, ...lengthsOf(columns) };
  for (const [per, kinds] of Object.entries(kindsPer)) {
    for (const name of Object.keys(kinds)) {
      const { length } = columns[name as NameOf<P>];
      require(length ===
        lengths[per], `has ${length} elements in section ${name}, expected ${lengths[per]}`);
    }
  }
  return columns;
}

function checkRange(name: string, values: Column, [low, high]: Range): void {
  require(!(
    values instanceof Float64Array
  ), `has section ${name} of type float64, expected integers`);
  for (const value of values) {
    if (value < low || value >= high) {
      fail(`has ${value} in section ${name}, which is out of range`);
    }
  }
}

function readGraph(known: Known): Columns<"graph"> {
  const columns = readColumns("graph", known, (columns) => ({
    edge: sum(columns.child_count),
    attribute: sum(columns.attribute_count),
    unsaved: sum(columns.unsaved_count),
    slot: columns.slot_node.length,
  }));
  // The tree holds every node once, parents first.
  placesOf("node", "tree_order", columns.tree_order, columns.tree_parent, known.nodeCount);
  return columns;
}

/** Reads the tree of rows, and which row shows each node. */
function readLayers(known: Known): Columns<"layers"> {
  const group = section(known.sections, "group_is_alike").length;
  const row = known.nodeCount + group;
  const layers = readColumns(
    "layers",
    known,
    ({ layer_order }) => ({ row, group, place: layer_order.length }),
    { row: [0, row], "row?": [ABSENT, row] },
  );
  const { layer_order: order, layer_parent: parents } = layers;
  const seen = placesOf("row", "layer_order", order, parents, row);
  parents.forEach((parent: number, row: number) => {
    if ((seen[row] === 0 && parent !== ABSENT) || seen[0] === 0) {
      fail(`has row ${row} with a parent, but not in section layer_order`);
    }
  });
  layers.layer_shown.forEach((row: number, id: number) => {
    if (row === ABSENT ? seen[id] === 1 : seen[row] !== 1 || (seen[id] === 1 && row !== id)) {
      fail(`has node ${id} in another row than its own in section layer_shown`);
    }
  });
  return layers;
}

function readOverlay(header: OverlayHeader | null, known: Known): OverlayPayload | null {
  if (header === null) {
    return null;
  }
  const { base_size } = header;
  require(base_size > 0 &&
    base_size <=
      known.nodeCount, `has an overlay with base size ${base_size}, but ${known.nodeCount} nodes`);
  const columns = readColumns("overlay", known, (columns) => ({
    problem: columns.problem_severity.length,
    "problem's node": sum(columns.problem_node_count),
    guess: columns.guess_code.length,
  }));
  return { ...header, columns };
}

/** Reads the table: a line comes before those inside of it. */
function readTable(
  header: TableHeader | null,
  known: Known,
  overlay: OverlayPayload | null,
): TablePayload | null {
  if (header === null) {
    return null;
  }
  const { cells, worst } = header;
  require(worst === null || worst < known.nodeCount, "has a table that leads to no node");
  const line = section(known.sections, "line_parent").length;
  const columns = readColumns("table", known, () => ({ line }), {
    "line?": [ABSENT, line],
    cell: [0, cells.length],
    "cell?": [ABSENT, cells.length],
    "guess?": [ABSENT, overlay?.columns.guess_code.length ?? 0],
  });
  columns.line_parent.forEach((parent: number, line: number) => {
    if (parent >= line) {
      fail(`has line ${line} before its parent in section line_parent`);
    }
  });
  return { ...header, columns };
}

type Sections = ReadonlyMap<string, Column>;

function readHeader(bytes: Uint8Array): { header: Header; start: number } {
  const text = new TextDecoder();
  require(text.decode(bytes.subarray(0, MAGIC.length)) === MAGIC, "is none of ckpt-viz");
  require(bytes.length >= MAGIC.length + 4, "ends before its header");
  const length = new DataView(bytes.buffer).getUint32(MAGIC.length, true);
  const end = MAGIC.length + 4 + length;
  require(end <= bytes.length, "ends within its header");
  let header: Header;
  try {
    header = JSON.parse(text.decode(bytes.subarray(MAGIC.length + 4, end))) as Header;
  } catch (error) {
    fail(`has a header that is no JSON: ${String(error)}`);
  }
  // Some JSON values have no members, and some cannot become text by themselves.
  require(header?.version ===
    VERSION, `has version ${JSON.stringify(header?.version)}, this ckpt-viz reads version ${VERSION}; install the same version in the kernel and in JupyterLab`);
  const misfit = misfitIn(header, "header", "header");
  require(misfit === null, `has another ${misfit} than docs/payload.md says`);
  return { header, start: padded(end) };
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

/** What a field of the header may hold, by its kind. */
const FITS: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  flag: (value) => typeof value === "boolean",
  count: isCount,
  origin: (value) => value === "live" || value === "saved",
  comparison: (value) => value === "check" || value === "diff",
  sign: (value) => CELL_SIGNS.includes(value as CellSign),
};

/** The path to the first field that is not of its kind; null if all are. */
function misfitIn(value: unknown, kind: string, path: string): string | null {
  if (kind.endsWith("?")) {
    return value === null ? null : misfitIn(value, kind.slice(0, -1), path);
  }
  if (kind.endsWith("*")) {
    return Array.isArray(value)
      ? firstOf(value, (one) => misfitIn(one, kind.slice(0, -1), path))
      : path;
  }
  const fields = (FIELDS as Readonly<Record<string, Readonly<Record<string, string>>>>)[kind];
  if (fields === undefined) {
    return FITS[kind]?.(value) === true ? null : path;
  }
  return typeof value !== "object" || value === null
    ? path
    : firstOf(Object.entries(fields), ([name, of]) =>
        misfitIn((value as Readonly<Record<string, unknown>>)[name], of, `${path}.${name}`),
      );
}

function firstOf<T>(values: readonly T[], misfitOf: (value: T) => string | null): string | null {
  for (const value of values) {
    const misfit = misfitOf(value);
    if (misfit !== null) {
      return misfit;
    }
  }
  return null;
}

function cutSections(bytes: Uint8Array, header: Header, start: number): Sections {
  const sections = new Map<string, Column>();
  let offset = start;
  for (const { name, type, length } of header.sections) {
    const Type = COLUMN_TYPES.get(type);
    require(Type !== undefined, `has section ${name} of a type that is not known, ${type}`);
    const end = offset + length * Type.BYTES_PER_ELEMENT;
    require(end <= bytes.length, `has ${bytes.length} bytes, but section ${name} ends at ${end}`);
    sections.set(name, new Type(bytes.buffer as ArrayBuffer, offset, length));
    offset = padded(end);
  }
  return sections;
}

function section(sections: Sections, name: string): Column {
  const found = sections.get(name);
  if (found === undefined) {
    fail(`lacks section ${name}`);
  }
  return found;
}

function readStrings(sections: Sections): readonly string[] {
  const lengths = section(sections, "string_length");
  const bytes = section(sections, "string_bytes");
  const text = new TextDecoder();
  let offset = 0;
  return Array.from(lengths, (length) => {
    const end = offset + length;
    if (length < 0 || end > bytes.length) {
      fail("has a string table that ends within a string");
    }
    const value = text.decode(bytes.subarray(offset, end));
    offset = end;
    return value;
  });
}

function sum(counts: Column): number {
  let total = 0;
  for (const count of counts) {
    total += count;
  }
  return total;
}

/** Which ids an order holds: each at most once, the root first, parents before their children. */
function placesOf(
  what: string,
  name: string,
  order: Column,
  parents: Column,
  size: number,
): Uint8Array {
  const seen = new Uint8Array(size);
  order.forEach((id: number, place: number) => {
    const parent = parents[id] ?? ABSENT;
    const isInOrder = place === 0 ? id === 0 && parent === ABSENT : seen[parent] === 1;
    if (!isInOrder || seen[id] === 1) {
      fail(`has ${what} ${id} twice or before its parent in section ${name}`);
    }
    seen[id] = 1;
  });
  return seen;
}

function padded(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}

function require(condition: boolean, problem: string): asserts condition {
  if (!condition) {
    fail(problem);
  }
}

function fail(problem: string): never {
  throw new PayloadError(`The graph cannot be shown: the payload ${problem}.`);
}
