/**
 * The payload as it arrives: the columns of docs/payload.md, checked and cut out of one buffer.
 *
 * The buffer comes from a kernel or from a saved notebook, so it is untrusted. After `decode` every
 * index in a column is in range, so the callers need not check again.
 */

import { gunzip } from "../basics/gunzip";

export const VERSION = 1;
export const ABSENT = -1;
const MAGIC = "ckptviz\0";
const ALIGNMENT = 8;
/** A payload of 50,000 nodes unpacks to about 10 MB; one far above that is an attack. */
const MAX_BYTES = 512 * 2 ** 20;

export const ROLES = [
  "object",
  "layer",
  "container",
  "variable",
  "slot",
  "optimizer",
  "value",
  "bookkeeping",
] as const;
export type Role = (typeof ROLES)[number];
export type Origin = "live" | "saved";

/** What a training does to a variable; ckpt_viz/object_graph/training.py defines each. */
export const TRAININGS = [null, "trained", "frozen", "never", "omitted"] as const;
export type Training = (typeof TRAININGS)[number];

/** How a node compares with the other side. ckpt_viz/object_graph/overlay.py defines each state. */
export const NODE_STATES = [
  "plain",
  "matched",
  "live only",
  "saved only",
  "deferred",
  "shape",
  "dtype",
  "failed",
  "warned",
  "only in a",
  "only in b",
  "role",
  "value",
  "moved",
] as const;
export type NodeState = (typeof NODE_STATES)[number];

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

/** The worst comes first. */
export const SEVERITIES = ["error", "fail", "deferred", "warning", "info"] as const;
export type Severity = (typeof SEVERITIES)[number];
export type Comparison = "check" | "diff";

export interface Verdict {
  readonly name: string;
  readonly passes: boolean;
  /** TensorFlow's text, if it fails; else "". */
  readonly message: string;
}

/** The columns. Those that `COLUMNS` marks as text hold indices into `strings`, or ABSENT. */
export interface Payload {
  readonly title: string;
  readonly origin: Origin;
  /** What a file of Keras is. */
  readonly kind?: string | undefined;
  readonly notes: readonly string[];
  readonly nodeCount: number;
  readonly roles: readonly Role[];
  readonly slotRules: readonly string[];
  readonly strings: readonly string[];
  readonly columns: { readonly [Name in ColumnName]: Column };
  /** What is known of layers and of training; the first payloads of this version have none of it. */
  readonly facts: { readonly [Name in FactColumnName]: Column };
  /** Which layers call which; null if that is not known. */
  readonly calls: { readonly [Name in CallColumnName]: Column } | null;
  /** The view of layers; null in the first payloads of this version. */
  readonly layers: { readonly [Name in LayerColumnName]: Column } | null;
  /** The result of a comparison; null for a single graph. */
  readonly overlay: OverlayPayload | null;
  /** The table of a comparison; null without one. */
  readonly table: TablePayload | null;
  /** What the values measure; null if these were not read. */
  readonly measures: MeasurePayload | null;
}

export const CELL_SIGNS = [
  "here",
  "likely",
  "elsewhere",
  "nowhere",
  "fails",
  "misfit",
  "keeps",
  "waits",
  "changed",
  "asks",
] as const;
export type CellSign = (typeof CELL_SIGNS)[number];

/** What one way to restore does with the values of a line. */
export interface TableCell {
  readonly sign: CellSign;
  readonly words: string;
}

/** Numbers of values; ckpt_viz/object_graph/comparison_table.py says what each counts. */
export interface Totals {
  readonly saved: number;
  readonly live: number;
  readonly restored: number;
  readonly fixed: number | null;
}

export interface TablePayload {
  readonly sentence: string;
  readonly verdict: string;
  /** What the columns show: as saved, the call, the fix, the program; "" for what a diff lacks. */
  readonly heads: readonly string[];
  readonly notes: readonly string[];
  /** Whether the fix does what the call does in every line. */
  readonly isOneColumn: boolean;
  readonly totals: Totals;
  /** By place of a guess, the number of values that it adds to the fix. */
  readonly guessed: readonly number[];
  /** The node with the first NaN or infinity of a diff whose values were read; null for none. */
  readonly worst: number | null;
  readonly cells: readonly TableCell[];
  readonly columns: { readonly [Name in LineColumnName]: Column };
}

export interface MeasurePayload {
  /** The number of tensors that were not read, and of those that cannot be read. */
  readonly unread: number;
  readonly unreadable: number;
  readonly columns: Readonly<Record<MeasureColumnName, Column>>;
}

export interface OverlayPayload {
  readonly comparison: Comparison;
  /** Nodes from this id on exist only in the checkpoint (in a diff: only in a). */
  readonly baseSize: number;
  /** Whether there are steps to play, if this is a check. */
  readonly hasSteps: boolean;
  readonly verdicts: readonly Verdict[];
  readonly states: readonly NodeState[];
  readonly severities: readonly Severity[];
  readonly columns: { readonly [Name in OverlayColumnName]: Column };
}

export type Column = Uint8Array | Int32Array | Float64Array;

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

/** By what a table has a value for, such as a node or an edge, what each of its columns holds. */
type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;
type NameIn<T> = { [Per in keyof T]: keyof T[Per] & string }[keyof T];

const COLUMNS = {
  node: {
    role: "role",
    type_name: "text",
    error: "text",
    registered_saver: "text",
    collections: "text",
    tree_order: "id",
    tree_parent: "id?",
    tree_label: "text",
    node_name: "text",
    first_parent: "id?",
    first_label: "text",
    child_count: "count",
    attribute_count: "count",
    unsaved_count: "count",
  },
  edge: {
    child_node: "id",
    child_label: "text",
  },
  attribute: {
    attribute_name: "text",
    attribute_full_name: "text",
    attribute_key: "text",
    attribute_dtype: "text",
    attribute_shape: "text",
    attribute_nbytes: "number",
    attribute_slices: "number",
    attribute_error: "text",
  },
  unsaved: {
    unsaved_name: "text",
    unsaved_type: "text",
    unsaved_values: "number",
    unsaved_is_lost: "flag",
  },
  slot: {
    slot_node: "id",
    slot_name: "text",
    slot_variable: "id",
    slot_optimizer: "id?",
    slot_rule: "rule",
  },
} as const;
export type ColumnName = NameIn<typeof COLUMNS>;

/** What is known of layers and of training. A payload leaves out what it knows of no node. */
const FACT_COLUMNS = {
  fact: {
    fact_node: "id",
    fact_name: "text",
    fact_value: "text",
  },
  node: {
    layer_gives: "text",
    layer_gets: "text",
    training: "training",
  },
} as const;
export type FactColumnName = NameIn<typeof FACT_COLUMNS>;

/** The calls between layers; first payloads of this version, and files, have none. */
const CALL_COLUMNS = {
  call: {
    call_from: "id",
    call_to: "id",
  },
} as const;
export type CallColumnName = NameIn<typeof CALL_COLUMNS>;

/** A row is a node or, from the number of nodes on, a group. Not every node has a row. */
const LAYER_COLUMNS = {
  place: {
    layer_order: "row",
  },
  row: {
    layer_parent: "row?",
    layer_name: "text",
    layer_saved_name: "text",
    layer_hanging: "count",
  },
  node: {
    layer_shown: "id?",
    layer_parameters: "flag",
  },
  group: {
    group_is_alike: "flag",
  },
} as const;
export type LayerColumnName = NameIn<typeof LAYER_COLUMNS>;

const OVERLAY_COLUMNS = {
  node: {
    overlay_state: "state",
    overlay_detail: "text",
    overlay_saved_label: "text",
    overlay_saved_name: "text",
    overlay_partner: "text",
    overlay_goes_to: "id?",
    overlay_is_held_elsewhere: "flag",
    overlay_saved_elements: "number",
  },
  problem: {
    problem_severity: "severity",
    problem_kind: "text",
    problem_saved: "text",
    problem_live: "text",
    problem_why: "text",
    problem_remedy: "text",
    problem_fix: "text",
    problem_code: "text",
    problem_node_count: "count",
  },
  "problem's node": {
    problem_node: "id",
  },
  guess: {
    guess_saved: "text",
    guess_live: "text",
    guess_code: "text",
  },
} as const;
export type OverlayColumnName = NameIn<typeof OVERLAY_COLUMNS>;

/** The lines of the table of a comparison. */
const LINE_COLUMNS = {
  line: {
    line_parent: "line?",
    line_saved: "text",
    line_live: "text",
    line_saved_facts: "text",
    line_live_facts: "text",
    line_saved_node: "id?",
    line_live_node: "id?",
    line_plain: "cell",
    line_fixed: "cell?",
    line_values: "count",
    line_guess: "guess?",
  },
} as const;
export type LineColumnName = NameIn<typeof LINE_COLUMNS>;

/** One number per node, NaN for none: ckpt_viz/search/measures.py says what each is. */
const MEASURE_COLUMNS = [
  "count",
  "zeros",
  "nan",
  "inf",
  "min",
  "max",
  "mean",
  "std",
  "norm",
  "unreadable",
  "before",
  "moved",
  "largest",
  "changed",
] as const;
export type MeasureColumnName = (typeof MEASURE_COLUMNS)[number];

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
    sections: withLater(sections, nodeCount),
    nodeCount,
    ranges: {
      text: [ABSENT, strings.length],
      id: [0, nodeCount],
      "id?": [ABSENT, nodeCount],
      flag: [0, 2],
    },
  };
  const overlay = readOverlay(header.overlay ?? null, known);
  return {
    title: header.title,
    origin: header.origin,
    kind: header.kind,
    notes: header.notes,
    nodeCount,
    roles: header.roles,
    slotRules: header.slot_rules,
    strings,
    columns: readGraph(header, known),
    facts: readColumns(FACT_COLUMNS, known, (columns) => ({ fact: columns.fact_node.length }), {
      training: [0, TRAININGS.length],
    }),
    calls: sections.has("call_from")
      ? readColumns(CALL_COLUMNS, known, (columns) => ({ call: columns.call_from.length }))
      : null,
    layers: sections.has("layer_order") ? readLayers(known) : null,
    overlay,
    table: readTable(header.table ?? null, known, overlay),
    measures: readMeasures(header, known),
  };
}

type Columns<T extends Table> = { readonly [Name in NameIn<T>]: Column };
/** The range of values that a column may hold: the start is included, the end is not. */
type Ranges = Readonly<Record<string, readonly [number, number]>>;

/** What all tables need. */
interface Known {
  readonly sections: Sections;
  readonly nodeCount: number;
  /** The ranges of what many tables hold. */
  readonly ranges: Ranges;
}

/** Reads the columns of a table; checks the length of each, and the range of every value in it. */
function readColumns<T extends Table>(
  table: T,
  { nodeCount, ranges: usual, sections }: Known,
  lengthsOf: (columns: Columns<T>) => Readonly<Record<string, number>>,
  own: Ranges = {},
): Columns<T> {
  const columns = {} as Record<NameIn<T>, Column>;
  for (const name of Object.values(table).flatMap(Object.keys) as NameIn<T>[]) {
    columns[name] = section(sections, name);
  }
  const ranges: Ranges = { ...usual, ...own };
  const lengths: Readonly<Record<string, number>> = { node: nodeCount, ...lengthsOf(columns) };
  for (const [per, kinds] of Object.entries(table)) {
    for (const [name, kind] of Object.entries(kinds)) {
      const values = columns[name as NameIn<T>];
      require(kind === "number" ||
        !(
          values instanceof Float64Array
        ), `has section ${name} of type float64, expected integers`);
      require(values.length ===
        lengths[per], `has ${values.length} elements in section ${name}, expected ${lengths[per]}`);
      const [low, high] = ranges[kind] ?? [-Infinity, Infinity];
      for (const value of values) {
        if (!(value >= low && value < high)) {
          fail(`has ${value} in section ${name}, which is out of range`);
        }
      }
    }
  }
  return columns;
}

/**
 * Adds the columns that a payload leaves out: what is known of no node, and what the first release
 * did not write. It had no grades, so all that was not saved was an alarm.
 */
function withLater(sections: Sections, nodeCount: number): Sections {
  const none = new Int32Array(0);
  const absent = new Int32Array(nodeCount).fill(ABSENT);
  const names = sections.get("layer_name") ?? none;
  return new Map<string, Column>([
    ["fact_node", none],
    ["fact_name", none],
    ["fact_value", none],
    ["layer_gives", absent],
    ["layer_gets", absent],
    ["training", new Uint8Array(nodeCount)],
    ["node_name", absent],
    ["unsaved_is_lost", new Uint8Array(section(sections, "unsaved_name").length).fill(1)],
    ["layer_saved_name", names],
    ["layer_hanging", new Int32Array(names.length)],
    ...sections,
  ]);
}

function readGraph({ roles, slot_rules }: Header, known: Known): Payload["columns"] {
  const columns = readColumns(
    COLUMNS,
    known,
    (columns) => ({
      edge: sum("child_count", columns.child_count),
      attribute: sum("attribute_count", columns.attribute_count),
      unsaved: sum("unsaved_count", columns.unsaved_count),
      slot: columns.slot_node.length,
    }),
    { role: [0, roles.length], rule: [0, slot_rules.length] },
  );
  // The tree holds every node once, parents first.
  placesOf("node", "tree_order", columns.tree_order, columns.tree_parent, known.nodeCount);
  return columns;
}

/** Reads the tree of rows, and which row shows each node. */
function readLayers(known: Known): Payload["layers"] {
  const groups = section(known.sections, "group_is_alike").length;
  const rows = known.nodeCount + groups;
  const layers = readColumns(
    LAYER_COLUMNS,
    known,
    ({ layer_order }) => ({ row: rows, group: groups, place: layer_order.length }),
    { row: [0, rows], "row?": [ABSENT, rows] },
  );
  const { layer_order: order, layer_parent: parents } = layers;
  const seen = placesOf("row", "layer_order", order, parents, rows);
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

/** Reads what the values measure; the first payloads of this version have none of it. */
function readMeasures(
  { unread = 0, unreadable = 0 }: Header,
  { nodeCount, sections }: Known,
): MeasurePayload | null {
  if (!sections.has("value_count")) {
    return null;
  }
  require([unread, unreadable].every(
    Number.isSafeInteger,
  ), "has a header with a number of unread tensors that is none");
  const columns = {} as Record<MeasureColumnName, Column>;
  for (const name of MEASURE_COLUMNS) {
    const column = section(sections, `value_${name}`);
    require(column.length ===
      nodeCount, `has ${column.length} elements in section value_${name}, expected ${nodeCount}`);
    columns[name] = column;
  }
  return { unread, unreadable, columns };
}

function readOverlay(header: OverlayHeader | null, known: Known): OverlayPayload | null {
  if (header === null) {
    return null;
  }
  require(typeof header === "object" &&
    (header.comparison === "check" || header.comparison === "diff") &&
    Number.isSafeInteger(header.base_size) &&
    Array.isArray(header.verdicts) &&
    header.verdicts.every(isVerdict) &&
    Array.isArray(header.states) &&
    header.states.every((state) => NODE_STATES.includes(state)) &&
    Array.isArray(header.severities) &&
    header.severities.every((severity) =>
      SEVERITIES.includes(severity),
    ), "has an overlay without comparison, base size, verdicts, states or severities");
  const { base_size: baseSize, severities, states } = header;
  require(baseSize > 0 &&
    baseSize <=
      known.nodeCount, `has an overlay with base size ${baseSize}, but ${known.nodeCount} nodes`);
  return {
    comparison: header.comparison,
    baseSize,
    hasSteps: header.has_steps !== false,
    verdicts: header.verdicts,
    states,
    severities,
    columns: readColumns(
      OVERLAY_COLUMNS,
      known,
      (columns) => ({
        problem: columns.problem_severity.length,
        "problem's node": sum("problem_node_count", columns.problem_node_count),
        guess: columns.guess_saved.length,
      }),
      { state: [0, states.length], severity: [0, severities.length] },
    ),
  };
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
  const { cells, guessed, heads, is_one_column, notes, sentence, totals, verdict } = header;
  const { worst = null } = header;
  require([sentence, verdict].every((text) => typeof text === "string") &&
    isStrings(heads) &&
    isStrings(notes) &&
    typeof is_one_column === "boolean" &&
    [totals?.saved, totals?.live, totals?.restored, totals?.fixed ?? 0].every(
      Number.isSafeInteger,
    ), "has a table without sentence, verdict, heads, notes, columns or totals");
  require(Array.isArray(guessed) &&
    guessed.every(Number.isSafeInteger) &&
    Array.isArray(cells) &&
    cells.every(
      (cell) => Array.isArray(cell) && CELL_SIGNS.includes(cell[0]) && typeof cell[1] === "string",
    ), "has a table with a cell that is no sign with words");
  require(worst === null ||
    (Number.isSafeInteger(worst) &&
      0 <= worst &&
      worst < known.nodeCount), "has a table that leads to no node");
  const count = section(known.sections, "line_parent").length;
  const columns = readColumns(LINE_COLUMNS, known, () => ({ line: count }), {
    "line?": [ABSENT, count],
    cell: [0, cells.length],
    "cell?": [ABSENT, cells.length],
    "guess?": [ABSENT, overlay?.columns.guess_saved.length ?? 0],
    count: [0, Infinity],
  });
  columns.line_parent.forEach((parent: number, line: number) => {
    if (parent >= line) {
      fail(`has line ${line} before its parent in section line_parent`);
    }
  });
  return {
    ...{ guessed, heads, notes, sentence, verdict, worst },
    isOneColumn: is_one_column,
    totals: { ...totals, fixed: totals.fixed ?? null },
    cells: cells.map(([sign, words]) => ({ sign, words })),
    columns,
  };
}

function isVerdict(value: Partial<Verdict> | null): boolean {
  return (
    typeof value?.name === "string" &&
    typeof value.passes === "boolean" &&
    typeof value.message === "string"
  );
}

interface Header {
  readonly version: number;
  readonly title: string;
  readonly origin: Origin;
  readonly kind?: string;
  readonly notes: readonly string[];
  readonly roles: readonly Role[];
  readonly slot_rules: readonly string[];
  readonly overlay?: OverlayHeader | null;
  readonly table?: TableHeader | null;
  readonly unread?: number;
  readonly unreadable?: number;
  readonly sections: readonly {
    readonly name: string;
    readonly type: string;
    readonly length: number;
  }[];
}

interface OverlayHeader {
  readonly comparison: Comparison;
  readonly base_size: number;
  readonly has_steps?: boolean;
  readonly verdicts: readonly Verdict[];
  readonly states: readonly NodeState[];
  readonly severities: readonly Severity[];
}

type TableHeader = Omit<TablePayload, "cells" | "columns" | "isOneColumn" | "worst"> & {
  readonly is_one_column: boolean;
  readonly worst?: number;
  readonly cells: readonly (readonly [CellSign, string])[];
};

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
  require(typeof header.title === "string" &&
    (header.origin === "live" || header.origin === "saved") &&
    typeof (header.kind ?? "") === "string" &&
    isStrings(header.notes) &&
    Array.isArray(header.roles) &&
    header.roles.every((role) => ROLES.includes(role)) &&
    isStrings(header.slot_rules) &&
    Array.isArray(header.sections) &&
    header.sections.every(
      (one) => typeof one?.name === "string" && typeof one.type === "string",
    ), "has a header without title, origin, notes, roles, slot rules or sections");
  return { header, start: padded(end) };
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function cutSections(bytes: Uint8Array, header: Header, start: number): Sections {
  const sections = new Map<string, Column>();
  let offset = start;
  for (const { name, type, length } of header.sections) {
    const Type = COLUMN_TYPES.get(type);
    require(Type !== undefined, `has section ${name} of a type that is not known, ${type}`);
    require(Number.isSafeInteger(length) &&
      length >= 0, `has section ${name} with length ${JSON.stringify(length)}`);
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

function sum(name: string, counts: Column): number {
  let total = 0;
  for (const count of counts) {
    if (count < 0) {
      fail(`has ${count} in section ${name}, which is out of range`);
    }
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
