/** The payloads that Python wrote (tests/support/payload_fixtures.py), and graphs of any shape. */

import { readdirSync, readFileSync } from "node:fs";
import {
  type CellSign,
  decode,
  type NameOf,
  NODE_STATES,
  type NodeState,
  type Payload,
  SEVERITIES,
  type TableCell,
} from "../data/contract";
import { type Graph, makeGraph } from "../data/graph";
import { makeOverlay, type Overlay, type Problem } from "../data/overlay";
import { makeTable, type Table } from "../data/table";

const DIRECTORY = new URL("../../../tests/data/payloads/", import.meta.url);

export const FIXTURES: readonly string[] = readdirSync(DIRECTORY)
  .filter((file) => file.endsWith(".payload"))
  .map((file) => file.replace(".payload", ""));

export function payload(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.payload`, DIRECTORY)));
}

export function expected(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, DIRECTORY), "utf8"));
}

export async function loadGraph(name: string): Promise<Graph> {
  return makeGraph(await decode(payload(name)));
}

/** What an attribute of a variable has besides its shape. */
export const VALUE = {
  ...{ name: "v", fullName: "", checkpointKey: "", dtype: "float32" },
  ...{ nbytes: 4, slices: 0, error: null },
};

/** The widths of boxes where a test needs any. */
export const WIDTHS = { box: () => 80, behind: () => 18 };

const edgeLabel = (id: number) => (id === 0 ? "" : `edge ${id}`);

/**
 * A graph that is a tree. The list has the parent of each node after the root; parents come first.
 */
export function treeGraph(parents: readonly number[]): Graph {
  const children: number[][] = [[], ...parents.map(() => [])];
  parents.forEach((parent, index) => {
    children[parent]?.push(index + 1);
  });
  const ids = children.map((list) => Int32Array.from(list));
  return {
    title: "tree",
    origin: "saved",
    kind: null,
    notes: [],
    size: children.length,
    overlay: null,
    table: null,
    measures: null,
    role: () => "object",
    typeName: () => null,
    error: () => null,
    registeredSaver: () => null,
    collections: () => null,
    facts: () => [],
    gives: () => null,
    gets: () => null,
    training: () => null,
    notSaved: () => [],
    label: edgeLabel,
    savedLabel: edgeLabel,
    called: edgeLabel,
    savedCalled: edgeLabel,
    objects: null,
    calls: null,
    layerColumns: null,
    treeSize: children.length,
    shownAs: (id) => id,
    group: () => null,
    text: () => "",
    order: Int32Array.from(children.keys()),
    treeParent: (id) => parents[id - 1] ?? null,
    treeChildren: (id) => ids[id] ?? new Int32Array(),
    children: (id) => (children[id] ?? []).map((node) => ({ localName: `edge ${node}`, node })),
    edgesTo: () => [],
    firstEdge: (id) => (id === 0 ? null : { localName: `edge ${id}`, node: parents[id - 1] ?? 0 }),
    attributes: () => [],
    bytes: () => null,
    slot: () => null,
    name: (id) => `node ${id}`,
  };
}

/** A tree of this depth in which every inner node has this many children. */
export function fullTree(fanOut: number, depth: number): Graph {
  const parents: number[] = [];
  let layer = [0];
  for (let level = 0; level < depth; level++) {
    const next: number[] = [];
    for (const parent of layer) {
      for (let i = 0; i < fanOut; i++) {
        parents.push(parent);
        next.push(parents.length);
      }
    }
    layer = next;
  }
  return treeGraph(parents);
}

/** The result of a comparison that a test needs. All else is matched and without problems. */
interface Compared extends Partial<Pick<Overlay, "comparison" | "baseSize" | "verdicts">> {
  readonly states?: Readonly<Record<number, NodeState>>;
  readonly partners?: Readonly<Record<number, string>>;
  readonly goesTo?: Readonly<Record<number, number>>;
  readonly problems?: readonly Partial<Problem>[];
  /** Without them, there is no table, as in the first payloads of this version. */
  readonly lines?: readonly LineOf[];
  readonly savedElements?: Readonly<Record<number, number>>;
  readonly isValued?: (id: number) => boolean;
}

/** The graph with a comparison added. */
export function compared(graph: Graph, comparison: Compared): Graph {
  const strings: string[] = [];
  const place = (text: string | null | undefined): number =>
    text == null ? -1 : strings.push(text) - 1;
  const ids = Array.from({ length: graph.size }, (_, id) => id);
  const { problems = [] } = comparison;
  const none = new Int32Array();
  const absent = new Int32Array(graph.size).fill(-1);
  const texts = (key: "kind" | "saved" | "live" | "why" | "remedy") =>
    Int32Array.from(problems, (problem) => place(problem[key]));
  const table = comparison.lines === undefined ? null : tablePayloadOf(comparison.lines);
  const overlay = makeOverlay({
    nodeCount: graph.size,
    strings,
    table: table?.table ?? tablePayloadOf(linesOf(ids, comparison.states)).table,
    columns: {
      tree_order: Int32Array.from(ids),
      tree_parent: Int32Array.from(ids, (id) => graph.treeParent(id) ?? -1),
      attribute_count: Int32Array.from(ids, (id) => (comparison.isValued?.(id) === false ? 0 : 1)),
    },
    overlay: {
      comparison: comparison.comparison ?? "check",
      base_size: comparison.baseSize ?? graph.size,
      has_steps: true,
      can_change: true,
      verdicts: comparison.verdicts ?? [],
      columns: {
        overlay_state: Uint8Array.from(ids, (id) =>
          NODE_STATES.indexOf(comparison.states?.[id] ?? "matched"),
        ),
        overlay_detail: absent,
        overlay_saved_label: absent,
        overlay_saved_name: absent,
        overlay_partner: Int32Array.from(ids, (id) => place(comparison.partners?.[id])),
        overlay_is_held_elsewhere: new Uint8Array(graph.size),
        overlay_saved_elements: Float64Array.from(
          ids,
          (id) => comparison.savedElements?.[id] ?? -1,
        ),
        overlay_goes_to: Int32Array.from(ids, (id) => comparison.goesTo?.[id] ?? -1),
        problem_severity: Uint8Array.from(problems, ({ severity }) =>
          SEVERITIES.indexOf(severity ?? "fail"),
        ),
        problem_kind: texts("kind"),
        problem_saved: texts("saved"),
        problem_live: texts("live"),
        problem_why: texts("why"),
        problem_remedy: texts("remedy"),
        problem_fix: Int32Array.from(problems, () => -1),
        ...{ guess_code: none },
        problem_node_count: Int32Array.from(problems, ({ nodes }) => nodes?.length ?? 0),
        problem_node: Int32Array.from(problems.flatMap(({ nodes }) => nodes ?? [])),
      },
    },
  });
  return { ...graph, overlay, table: table === null ? null : makeTable(table) };
}

/** A line for each node whose state says something of its values. */
function linesOf(ids: readonly number[], states: Compared["states"]): readonly LineOf[] {
  return ids.flatMap((node) => {
    const plain = CELL_OF[states?.[node] ?? "matched"];
    return plain === null ? [] : [{ name: `node ${node}`, node, plain }];
  });
}

const CELL_OF: Readonly<Record<NodeState, CellSign | null>> = {
  ...{ plain: null, matched: "here", deferred: "waits", moved: "elsewhere", value: "changed" },
  ...{ "live only": "keeps", "only in b": "keeps" },
  ...{ "saved only": "nowhere", "only in a": "nowhere" },
  ...{ shape: "misfit", dtype: "misfit", role: "misfit", failed: "fails", warned: "elsewhere" },
};

/** A line of a table, with what is inside of it. All is here, on both sides, if it says no more. */
export interface LineOf {
  readonly name: string;
  /** The name in the program, if it differs; "" for what the file alone has. */
  readonly live?: string;
  readonly node?: number;
  readonly savedNode?: number;
  readonly plain?: CellSign;
  readonly fixed?: CellSign;
  readonly guess?: number;
  readonly values?: number;
  readonly inside?: readonly LineOf[];
}

/** The table with these lines. */
export function tableOf(lines: readonly LineOf[]): Table {
  const table = makeTable(tablePayloadOf(lines));
  if (table === null) {
    throw new Error("no table");
  }
  return table;
}

function tablePayloadOf(lines: readonly LineOf[]): Pick<Payload, "strings" | "table"> {
  const strings: string[] = [];
  const cells: TableCell[] = [];
  const rows: Readonly<Record<NameOf<"table">, number>>[] = [];
  const place = (text = ""): number => (text === "" ? -1 : strings.push(text) - 1);
  const cell = (sign: CellSign | undefined): number =>
    sign === undefined ? -1 : cells.push({ sign, words: sign }) - 1;
  const add = (line: LineOf, parent: number) => {
    const id = rows.length;
    rows.push({
      line_parent: parent,
      line_saved: place(line.name),
      line_live: place(line.live ?? line.name),
      line_saved_facts: -1,
      line_live_facts: -1,
      line_saved_node: line.savedNode ?? line.node ?? -1,
      line_live_node: line.node ?? -1,
      line_plain: cell(line.plain ?? "here"),
      line_fixed: cell(line.fixed),
      line_values: line.values ?? 1,
      line_guess: line.guess ?? -1,
    });
    for (const inner of line.inside ?? []) {
      add(inner, id);
    }
  };
  for (const line of lines) {
    add(line, -1);
  }
  const column = (name: NameOf<"table">) => Int32Array.from(rows, (row) => row[name]);
  return {
    strings,
    table: {
      ...{ sentence: "", verdict: "", heads: ["as saved", "restore", "fix", "program"] },
      ...{ notes: [], guessed: [], is_one_column: false, worst: null },
      totals: { saved: 0, live: 0, restored: 0, fixed: null },
      cells,
      columns: {
        ...{ line_parent: column("line_parent"), line_values: column("line_values") },
        ...{ line_saved: column("line_saved"), line_live: column("line_live") },
        line_saved_facts: column("line_saved_facts"),
        line_live_facts: column("line_live_facts"),
        line_saved_node: column("line_saved_node"),
        line_live_node: column("line_live_node"),
        ...{ line_plain: column("line_plain"), line_fixed: column("line_fixed") },
        line_guess: column("line_guess"),
      },
    },
  };
}

/** A random generator that repeats its numbers for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
