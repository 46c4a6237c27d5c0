/** The payloads that Python wrote (tests/support/payload_fixtures.py), and graphs of any shape. */

import { readdirSync, readFileSync } from "node:fs";
import type { Cause } from "./causes";
import { decode, NODE_STATES, type NodeState, SEVERITIES } from "./contract";
import { BONDS, type Fix, makeFix, type Placed } from "./fix";
import { type Graph, makeGraph } from "./graph";
import { type Guess, makeOverlay, type Overlay, type Problem } from "./overlay";

const DIRECTORY = new URL("../../tests/data/payloads/", import.meta.url);

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
    notes: [],
    size: children.length,
    overlay: null,
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
  readonly details?: Readonly<Record<number, string>>;
  readonly partners?: Readonly<Record<number, string>>;
  readonly savedLabels?: Readonly<Record<number, string>>;
  readonly savedTensors?: Readonly<Record<number, string>>;
  readonly goesTo?: Readonly<Record<number, number>>;
  readonly problems?: readonly Partial<Problem>[];
  readonly guesses?: readonly Guess[];
  /** Without them, each problem is its own cause. */
  readonly causes?: readonly (Partial<Cause> & Pick<Cause, "problems">)[];
  readonly savedElements?: Readonly<Record<number, number>>;
  readonly isPaired?: (id: number) => boolean;
  readonly isValued?: (id: number) => boolean;
}

/** The graph with a comparison added. */
export function compared(graph: Graph, comparison: Compared): Graph {
  const strings: string[] = [];
  const place = (text: string | null | undefined): number =>
    text == null ? -1 : strings.push(text) - 1;
  const ids = Array.from({ length: graph.size }, (_, id) => id);
  const { guesses = [], problems = [] } = comparison;
  const causes: readonly (Partial<Cause> & Pick<Cause, "problems">)[] =
    comparison.causes ?? problems.map((_, index) => ({ problems: [index] }));
  const texts = (key: "kind" | "saved" | "live" | "place" | "why" | "remedy" | "code") =>
    Int32Array.from(problems, (problem) => place(problem[key]));
  const overlay = makeOverlay({
    nodeCount: graph.size,
    strings,
    columns: {
      tree_order: Int32Array.from(ids),
      tree_parent: Int32Array.from(ids, (id) => graph.treeParent(id) ?? -1),
      attribute_count: Int32Array.from(ids, (id) => (comparison.isValued?.(id) === false ? 0 : 1)),
    },
    overlay: {
      comparison: comparison.comparison ?? "check",
      headline: "a comparison",
      baseSize: comparison.baseSize ?? graph.size,
      hasSteps: true,
      verdicts: comparison.verdicts ?? [],
      states: NODE_STATES,
      severities: SEVERITIES,
      columns: {
        overlay_state: Uint8Array.from(ids, (id) =>
          NODE_STATES.indexOf(comparison.states?.[id] ?? "matched"),
        ),
        overlay_detail: Int32Array.from(ids, (id) => place(comparison.details?.[id])),
        overlay_saved_label: Int32Array.from(ids, () => -1),
        overlay_saved_name: Int32Array.from(ids, () => -1),
        overlay_partner: Int32Array.from(ids, (id) => place(comparison.partners?.[id])),
        overlay_saved_tensors: Int32Array.from(ids, (id) => place(comparison.savedTensors?.[id])),
        overlay_is_held_elsewhere: new Uint8Array(graph.size),
        overlay_is_paired: Uint8Array.from(ids, (id) =>
          comparison.isPaired?.(id) === false ? 0 : 1,
        ),
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
        problem_place: texts("place"),
        problem_why: texts("why"),
        problem_remedy: texts("remedy"),
        problem_fix: Int32Array.from(problems, () => -1),
        problem_code: texts("code"),
        problem_guess_count: Int32Array.from(problems, ({ guesses }) => guesses?.length ?? 0),
        problem_guess: Int32Array.from(
          problems.flatMap(({ guesses }) => (guesses ?? []).map((guess) => guess.place)),
        ),
        guess_saved: Int32Array.from(guesses, ({ saved }) => place(saved)),
        guess_live: Int32Array.from(guesses, ({ live }) => place(live)),
        guess_code: Int32Array.from(guesses, ({ code }) => place(code)),
        problem_node_count: Int32Array.from(problems, ({ nodes }) => nodes?.length ?? 0),
        problem_node: Int32Array.from(problems.flatMap(({ nodes }) => nodes ?? [])),
        cause_title: Int32Array.from(causes, ({ title }) => place(title)),
        cause_place: Int32Array.from(causes, (cause) => place(cause.place)),
        cause_sentence: Int32Array.from(causes, ({ sentence }) => place(sentence)),
        cause_count: Int32Array.from(causes, ({ count }) => count ?? 0),
        cause_problem_count: Int32Array.from(causes, (cause) => cause.problems.length),
        cause_problem: Int32Array.from(causes.flatMap((cause) => cause.problems)),
      },
    },
  });
  const savedLabel = (id: number) => comparison.savedLabels?.[id] ?? graph.label(id);
  return { ...graph, overlay, savedLabel };
}

/** A fix with these parts; a pair is certain unless it tells something else. */
export function fixOf({
  pairs = [],
  kept = [],
  unused = [],
  guesses = [],
  ...rest
}: {
  readonly pairs?: readonly (Partial<Placed> & Pick<Placed, "saved" | "live">)[];
  readonly kept?: readonly number[];
  readonly unused?: readonly number[];
  readonly guesses?: readonly number[];
  readonly restored?: number;
  readonly code?: string;
}): Fix {
  const numbersOf = (isMisfit: boolean) =>
    pairs
      .filter(({ bond }) => (bond === "misfit") === isMisfit)
      .flatMap(({ saved, live, bond = "certain" }) => [saved, live, BONDS.indexOf(bond) % 3, 0]);
  const columns = [numbersOf(false), numbersOf(true), kept, unused, guesses];
  const counts = { restored: 1, unused: unused.length };
  const answer = {
    ...counts,
    is_applied: false,
    code: "",
    source: null,
    evidence: ["why"],
    changes: [],
  };
  const fix = makeFix(
    { ...answer, ...rest },
    columns.map((column) => new DataView(Int32Array.from(column).buffer)),
    Number.MAX_SAFE_INTEGER,
  );
  if (fix === null) {
    throw new Error("no fix");
  }
  return fix;
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
