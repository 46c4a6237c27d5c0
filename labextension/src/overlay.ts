/**
 * The result of a comparison: a mark on every node, the problems and the verdict. Also what follows
 * for the tree: counts below a node, and the nodes that a filter leaves.
 */

import { starts } from "./columns";
import {
  ABSENT,
  type Comparison,
  NODE_STATES,
  type NodeState,
  type OverlayColumnName,
  type Payload,
  SEVERITIES,
  type Severity,
  type Verdict,
} from "./contract";

export interface Problem {
  readonly severity: Severity;
  readonly kind: string;
  /**
   * All nodes that the problem is about; the view shows it at the first. Empty: the whole
   * comparison.
   */
  readonly nodes: readonly number[];
  /** The names in the checkpoint and in the program; in a diff: in a and in b. */
  readonly saved: string | null;
  readonly live: string | null;
  readonly why: string;
  readonly remedy: string | null;
}

export interface StateCount {
  readonly state: NodeState;
  readonly count: number;
}

export interface SeverityCount {
  readonly severity: Severity;
  readonly count: number;
}

export interface Overlay {
  readonly comparison: Comparison;
  readonly headline: string;
  readonly baseSize: number;
  readonly verdicts: readonly Verdict[];
  readonly passes: boolean;
  readonly problemCount: number;
  /** How many problems there are of each severity that occurs. */
  readonly severities: readonly SeverityCount[];
  /** The states that occur, and how often. */
  readonly counts: readonly StateCount[];
  state(id: number): NodeState;
  /** The difference in a few words. */
  detail(id: number): string | null;
  /** The node's name on the other side, if the two sides have different names. */
  partner(id: number): string | null;
  /** The other place of the same thing: where it was before a move, or where it is now. */
  otherPlace(id: number): number | null;
  /** Whether the node exists only in the checkpoint (in a diff: only in a). */
  isOther(id: number): boolean;
  problem(index: number): Problem;
  /** The problems that name the node, in the order of the problems. */
  problemsOf(id: number): readonly number[];
  /** The nodes of the problems that need attention, in the order of the problems. */
  pressing(): Iterable<number>;
  /** How many nodes below are in each state that needs attention. */
  below(id: number): readonly StateCount[];
  /** Whether the node or one below it needs attention. */
  isMarked(id: number): boolean;
  /** The nodes that remain: those in states that are not hidden, and their ancestors. */
  remaining(hidden: ReadonlySet<NodeState>, isLeftOut: (id: number) => boolean): Uint8Array;
}

/** States that need no attention. */
export const QUIET: ReadonlySet<NodeState> = new Set<NodeState>(["plain", "matched"]);

export function isQuiet(state: NodeState): boolean {
  return QUIET.has(state);
}

type Compared = Pick<Payload, "nodeCount" | "strings" | "overlay"> & {
  readonly columns: Pick<Payload["columns"], "tree_order" | "tree_parent">;
};

/** The part of a comparison that follows from a tree of the nodes. */
type OfTree = Pick<Overlay, "isOther" | "below" | "isMarked" | "remaining">;

/** A tree whose ids below `size` are nodes; those above are groups, which have no state. */
interface Tree {
  readonly size: number;
  readonly order: ArrayLike<number>;
  readonly parents: ArrayLike<number>;
}

export function makeOverlay(payload: Compared): Overlay | null {
  const { overlay, columns: tree, nodeCount: size, strings } = payload;
  if (overlay === null) {
    return null;
  }
  const { baseSize, columns, comparison, states } = overlay;
  const at = (name: OverlayColumnName, index: number): number => columns[name][index] ?? ABSENT;
  const text = (name: OverlayColumnName, index: number): string | null =>
    strings[at(name, index)] ?? null;
  const state = (id: number): NodeState => states[at("overlay_state", id)] ?? "plain";
  const problems = problemsOf(overlay, strings, size);
  return {
    comparison,
    headline: overlay.headline,
    baseSize,
    verdicts: overlay.verdicts,
    passes: overlay.verdicts.every((verdict) => verdict.passes),
    problemCount: problems.count,
    severities: tally(SEVERITIES, columns.problem_severity, overlay.severities).map(
      ([value, count]) => ({ severity: value, count }),
    ),
    counts: tally(NODE_STATES, columns.overlay_state, states).map(([value, count]) => ({
      state: value,
      count,
    })),
    state,
    detail: (id) => text("overlay_detail", id),
    partner: (id) => text("overlay_partner", id),
    otherPlace: (id) => {
      const place = at("overlay_other_place", id);
      return place === ABSENT ? null : place;
    },
    problem: problems.problem,
    problemsOf: problems.naming,
    pressing: problems.pressing,
    ...inTree(
      { size, order: tree.tree_order, parents: tree.tree_parent },
      { baseSize, state, isPressing: problems.isNamed },
    ),
  };
}

/** The same comparison in another tree of the nodes, which can have groups. */
export function inOtherTree(overlay: Overlay, tree: Tree): Overlay {
  const named = new Set(overlay.pressing());
  const isPressing = (id: number): boolean => named.has(id);
  const problemsOf = (id: number): readonly number[] =>
    id < tree.size ? overlay.problemsOf(id) : [];
  return { ...overlay, problemsOf, ...inTree(tree, { ...overlay, isPressing }) };
}

function inTree(
  { order, parents, size }: Tree,
  {
    baseSize,
    state,
    isPressing,
  }: Pick<Overlay, "baseSize" | "state"> & { readonly isPressing: (id: number) => boolean },
): OfTree {
  const places = Uint8Array.from({ length: parents.length }, (_, id) =>
    NODE_STATES.indexOf(id < size ? state(id) : "plain"),
  );
  const below = countsBelow(order, parents, places);
  const isQuietPlace = NODE_STATES.map(isQuiet);
  const isMarked = markedSubtrees(
    order,
    parents,
    (id) => isPressing(id) || isQuietPlace[places[id] ?? 0] === false,
  );
  const holdsBase = markedSubtrees(order, parents, (id) => id < baseSize);
  return {
    isOther: (id) => (id < size ? id >= baseSize : holdsBase[id] === 0),
    below: (id) =>
      NODE_STATES.map((of, place) => ({
        state: of,
        count: below[id * NODE_STATES.length + place] ?? 0,
      })).filter(({ count }) => count > 0),
    isMarked: (id) => isMarked[id] === 1,
    remaining(hidden, isLeftOut) {
      const isHidden = NODE_STATES.map((of) => hidden.has(of));
      // Hiding matched nodes brings out problems, so a matched node with a problem stays.
      const stays = (id: number): boolean => {
        const place = places[id] ?? 0;
        return isHidden[place] === false || (isPressing(id) && isQuietPlace[place] === true);
      };
      return markedSubtrees(order, parents, (id) => id < size && stays(id), isLeftOut);
    },
  };
}

/** The problems of a comparison, by their index and by the nodes that they name. */
function problemsOf(
  { columns, comparison, severities }: NonNullable<Payload["overlay"]>,
  strings: Payload["strings"],
  size: number,
) {
  const text = (name: OverlayColumnName, index: number): string | null =>
    strings[columns[name][index] ?? ABSENT] ?? null;
  const count = columns.problem_severity.length;
  const nodeStart = starts(columns.problem_node_count);
  const nodesOf = (index: number): readonly number[] =>
    Array.from(columns.problem_node.subarray(nodeStart[index], nodeStart[index + 1]));
  const severity = (index: number): Severity =>
    severities[columns.problem_severity[index] ?? ABSENT] ?? "info";
  const byNode = problemsByNode(columns.problem_node, nodeStart, size);

  function* pressing(): Generator<number, void> {
    for (let index = 0; index < count; index++) {
      // In a diff the user looks for differences, so even a harmless one needs attention.
      if (comparison === "diff" || severity(index) !== "info") {
        yield* nodesOf(index);
      }
    }
  }
  const named = new Uint8Array(size);
  for (const id of pressing()) {
    named[id] = 1;
  }
  return {
    count,
    problem: (index: number): Problem => ({
      severity: severity(index),
      kind: text("problem_kind", index) ?? "",
      nodes: nodesOf(index),
      saved: text("problem_saved", index),
      live: text("problem_live", index),
      why: text("problem_why", index) ?? "",
      remedy: text("problem_remedy", index),
    }),
    naming: (id: number): readonly number[] =>
      Array.from(byNode.problems.subarray(byNode.starts[id], byNode.starts[id + 1])),
    pressing,
    /** Whether a problem that needs attention names the node. */
    isNamed: (id: number): boolean => named[id] === 1,
  };
}

/** The index of the next or previous problem; wraps around. Null without problems. */
export function nextProblem(count: number, current: number | null, by: 1 | -1): number | null {
  if (count === 0) {
    return null;
  }
  const from = current ?? (by === 1 ? -1 : count);
  return (from + by + count) % count;
}

/** Marks the nodes that satisfy `is`, and their ancestors; a left-out node marks nothing. */
function markedSubtrees(
  order: ArrayLike<number>,
  parents: ArrayLike<number>,
  is: (id: number) => boolean,
  isLeftOut: (id: number) => boolean = () => false,
): Uint8Array {
  const marked = new Uint8Array(parents.length);
  for (let i = order.length - 1; i >= 0; i--) {
    const id = order[i] ?? 0;
    if (isLeftOut(id)) {
      marked[id] = 0;
    } else if (marked[id] === 1 || is(id)) {
      marked[id] = 1;
      const parent = parents[id] ?? ABSENT;
      if (parent !== ABSENT) {
        marked[parent] = 1;
      }
    }
  }
  return marked;
}

/** For every node, the number of nodes below it in each state that is not quiet. */
function countsBelow(
  order: ArrayLike<number>,
  parents: ArrayLike<number>,
  places: Uint8Array,
): Int32Array {
  const width = NODE_STATES.length;
  const quiet = NODE_STATES.map(isQuiet);
  const counts = new Int32Array(parents.length * width);
  const holds = new Uint8Array(parents.length);
  for (let i = order.length - 1; i > 0; i--) {
    const id = order[i] ?? 0;
    const own = places[id] ?? 0;
    if (holds[id] === 0 && quiet[own] === true) {
      continue; // most nodes: nothing to count
    }
    const parent = parents[id] ?? 0;
    holds[parent] = 1;
    for (let place = 0; place < width; place++) {
      const one = place === own && quiet[own] === false ? 1 : 0;
      counts[parent * width + place] =
        (counts[parent * width + place] ?? 0) + (counts[id * width + place] ?? 0) + one;
    }
  }
  return counts;
}

/** Counts each value that occurs in a column of indices into `values`. */
function tally<T>(
  values: readonly T[],
  codes: ArrayLike<number>,
  meanings: readonly T[],
): readonly (readonly [T, number])[] {
  const counts = new Map<T | undefined, number>();
  for (let i = 0; i < codes.length; i++) {
    const value = meanings[codes[i] ?? 0];
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return values.flatMap((value) => {
    const count = counts.get(value);
    return count === undefined ? [] : [[value, count] as const];
  });
}

/** The problems sorted by node; a problem that names a node twice is listed once there. */
function problemsByNode(
  nodes: ArrayLike<number>,
  nodeStart: Int32Array,
  size: number,
): { readonly starts: Int32Array; readonly problems: Int32Array } {
  const pairs = (visit: (node: number, problem: number) => void) => {
    const last = new Int32Array(size).fill(-1);
    for (let problem = 0; problem < nodeStart.length - 1; problem++) {
      for (let i = nodeStart[problem] ?? 0; i < (nodeStart[problem + 1] ?? 0); i++) {
        const node = nodes[i] ?? 0;
        if (last[node] !== problem) {
          last[node] = problem;
          visit(node, problem);
        }
      }
    }
  };
  const counts = new Int32Array(size);
  pairs((node) => {
    counts[node] = (counts[node] ?? 0) + 1;
  });
  const offsets = starts(counts);
  const next = offsets.slice();
  const problems = new Int32Array(offsets[size] ?? 0);
  pairs((node, problem) => {
    const place = next[node] ?? 0;
    problems[place] = problem;
    next[node] = place + 1;
  });
  return { starts: offsets, problems };
}
