/**
 * The result of a comparison: a mark on every node, the problems and the verdict. Also what follows
 * for the tree: counts below a node, and the nodes that a filter leaves.
 */

import { groupedBy, ownersOf, starts } from "../basics/columns";
import {
  ABSENT,
  CELL_SIGNS,
  type CellSign,
  type Comparison,
  type NameOf,
  NODE_STATES,
  type NodeState,
  type Payload,
  SEVERITIES,
  type Severity,
  type TableCell,
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

/** A part of the checkpoint that a person may accept; the table has the question. */
export interface Guess {
  /** Its place among all guesses of the check. */
  readonly place: number;
  /** The saved part's name as a literal of Python. */
  readonly code: string;
}

export interface SignCount {
  readonly sign: CellSign;
  readonly count: number;
}

/** A side of a comparison; `saved` is the checkpoint or a, `live` the program or b. */
export type OfSide = "saved" | "live";

export interface Overlay {
  readonly comparison: Comparison;
  readonly baseSize: number;
  readonly hasSteps: boolean;
  /** Whether a changed program can be checked. */
  readonly canChange: boolean;
  readonly verdicts: readonly Verdict[];
  readonly passes: boolean;
  readonly problemCount: number;
  /** All guesses of the fix of a check that a problem asks about. */
  readonly guesses: readonly Guess[];
  state(id: number): NodeState;
  /** What the checked call does with the values of a node, or how they differ, as in the table. */
  cell(id: number): TableCell | null;
  /** The difference in a few words. */
  detail(id: number): string | null;
  /** The node's name on the other side, if the two sides have different names. */
  partner(id: number): string | null;
  /** Whether another part holds the node in the checkpoint (in a): its saved name is a whole path. */
  isHeldElsewhere(id: number): boolean;
  /** The other node into which a plain restore puts the value that the checkpoint has of this one. */
  goesTo(id: number): number | null;
  /** The other node whose saved value a plain restore puts into this one. */
  getsFrom(id: number): number | null;
  /** Whether the node exists only in the checkpoint (in a diff: only in a). */
  isOther(id: number): boolean;
  /** The number of elements that the saved side (a) has, if it differs from the node's own. */
  savedElements(id: number): number | null;
  hasValue(id: number): boolean;
  problem(index: number): Problem;
  /** The problems that name the node, in the order of the problems. */
  problemsOf(id: number): readonly number[];
  /**
   * The nodes of the problems that need attention, in the order of the problems. A problem of more
   * than `most` nodes gives its first.
   */
  pressing(most?: number): Iterable<number>;
  /** How many values below have each sign that needs attention. */
  below(id: number): readonly SignCount[];
  /** How many values are restored, or equal, at the node and below it. */
  matchedBelow(id: number): number;
  /**
   * The top of the largest part around the node in which all variables need attention for the same
   * reason. Without such a part, the node itself.
   */
  topOfUniform(id: number): number;
  /** Whether the node or one below it needs attention. */
  isMarked(id: number): boolean;
  /** The nodes that need attention, and their ancestors; a left-out node counts for none. */
  changes(isLeftOut: (id: number) => boolean): Uint8Array;
}

/** Whether a node with this cell needs no attention. */
export function isQuiet(cell: TableCell | null): boolean {
  return cell === null || cell.sign === "here";
}

type Compared = Pick<Payload, "nodeCount" | "strings" | "overlay" | "table"> & {
  readonly columns: Pick<Payload["columns"], "tree_order" | "tree_parent" | "attribute_count">;
};

/** What a comparison says of a node, whatever the tree. */
type OfNodes = Pick<Overlay, "baseSize" | "cell" | "hasValue"> & {
  readonly isPressing: (id: number) => boolean;
};

/** A tree whose ids below `size` are nodes; those above are groups, which have no state. */
interface Tree {
  readonly size: number;
  readonly order: ArrayLike<number>;
  readonly parents: ArrayLike<number>;
}

/** The comparison of a payload; `showsFix` tells whether the view can show the fix of a check. */
export function makeOverlay(payload: Compared, showsFix = false): Overlay | null {
  const { overlay, columns: tree, nodeCount: size, strings } = payload;
  if (overlay === null) {
    return null;
  }
  const { base_size: baseSize, columns, comparison } = overlay;
  const at = (name: NameOf<"overlay">, index: number): number => columns[name][index] ?? ABSENT;
  const text = (name: NameOf<"overlay">, index: number): string | null =>
    strings[at(name, index)] ?? null;
  const state = (id: number): NodeState => NODE_STATES[at("overlay_state", id)] ?? "plain";
  const hasValue = (id: number): boolean => (tree.attribute_count[id] ?? 0) > 0;
  const cell = cellsOf(payload, hasValue);
  const problems = problemsOf(overlay, strings, size, showsFix);
  const sources = new Map<number, number>();
  columns.overlay_goes_to.forEach((live, saved) => {
    sources.set(live, saved);
  });
  sources.delete(ABSENT);
  return {
    comparison,
    baseSize,
    hasSteps: comparison === "check" && overlay.has_steps,
    canChange: comparison === "check" && overlay.can_change,
    verdicts: overlay.verdicts,
    passes: overlay.verdicts.every((verdict) => verdict.passes),
    problemCount: problems.count,
    guesses: problems.guesses,
    state,
    cell,
    detail: (id) => text("overlay_detail", id),
    partner: (id) => text("overlay_partner", id),
    isHeldElsewhere: (id) => at("overlay_is_held_elsewhere", id) === 1,
    goesTo: (id) => {
      const place = at("overlay_goes_to", id);
      return place === ABSENT ? null : place;
    },
    getsFrom: (id) => sources.get(id) ?? null,
    savedElements: (id) => {
      const count = at("overlay_saved_elements", id);
      return count < 0 ? null : count;
    },
    hasValue,
    problem: problems.problem,
    problemsOf: problems.naming,
    pressing: problems.pressing,
    ...inTree(
      { size, order: tree.tree_order, parents: tree.tree_parent },
      { baseSize, cell, hasValue, isPressing: problems.isNamed },
    ),
  };
}

/** The cell of each node: that of its innermost line in the table; of a value, of its part. */
function cellsOf(
  { columns: tree, nodeCount: size, table }: Compared,
  hasValue: (id: number) => boolean,
): (id: number) => TableCell | null {
  if (table === null) {
    return () => null;
  }
  const { line_live_node, line_plain, line_saved_node } = table.columns;
  const own = new Int32Array(size).fill(ABSENT);
  for (const nodes of [line_saved_node, line_live_node]) {
    nodes.forEach((node, line) => {
      own[node] = line_plain[line] ?? ABSENT;
    });
  }
  const around = own.slice();
  for (const id of tree.tree_order) {
    if (around[id] === ABSENT) {
      around[id] = around[tree.tree_parent[id] ?? ABSENT] ?? ABSENT;
    }
  }
  return (id) => table.cells[(hasValue(id) ? around : own)[id] ?? ABSENT] ?? null;
}

/** The same comparison in another tree of the nodes, which can have groups. */
export function inOtherTree(overlay: Overlay, tree: Tree): Overlay {
  const named = new Set(overlay.pressing());
  const isPressing = (id: number): boolean => named.has(id);
  const problemsOf = (id: number): readonly number[] =>
    id < tree.size ? overlay.problemsOf(id) : [];
  return { ...overlay, problemsOf, ...inTree(tree, { ...overlay, isPressing }) };
}

/** The part of a comparison that follows from a tree of the nodes. */
function inTree({ order, parents, size }: Tree, { baseSize, cell, hasValue, isPressing }: OfNodes) {
  const places = Int8Array.from({ length: parents.length }, (_, id) =>
    id < size ? CELL_SIGNS.indexOf(cell(id)?.sign as CellSign) : ABSENT,
  );
  const counted = (id: number) => id < size && hasValue(id) && places[id] !== ABSENT;
  const below = countsBelow({ order, parents }, places, counted);
  const uniformTops = topsOfUniform(order, parents, places);
  const countBelow = (id: number, place: number) => below[id * CELL_SIGNS.length + place] ?? 0;
  const isLoud = (id: number) => isPressing(id) || (id < size && !isQuiet(cell(id)));
  const isMarked = markedSubtrees(order, parents, isLoud);
  const holdsLive = markedSubtrees(order, parents, (id) => id < baseSize);
  return {
    isOther: (id: number) => (id < size ? id >= baseSize : holdsLive[id] === 0),
    below: (id: number) =>
      CELL_SIGNS.map((sign, place) => ({ sign, count: countBelow(id, place) })).filter(
        ({ sign, count }) => sign !== "here" && count > 0,
      ),
    matchedBelow: (id: number) =>
      countBelow(id, HERE) + (counted(id) && places[id] === HERE ? 1 : 0),
    topOfUniform: (id: number) => uniformTops[id] ?? id,
    isMarked: (id: number) => isMarked[id] === 1,
    changes: (isLeftOut: (id: number) => boolean) =>
      markedSubtrees(order, parents, isLoud, isLeftOut),
  };
}

const HERE = CELL_SIGNS.indexOf("here");

/** The problems of a comparison, by their index and by the nodes that they name. */
function problemsOf(
  { columns, comparison }: NonNullable<Payload["overlay"]>,
  strings: Payload["strings"],
  size: number,
  showsFix: boolean,
) {
  const text = (name: NameOf<"overlay">, index: number): string | null =>
    strings[columns[name][index] ?? ABSENT] ?? null;
  const count = columns.problem_severity.length;
  const nodeStart = starts(columns.problem_node_count);
  const nodesOf = (index: number): readonly number[] =>
    Array.from(columns.problem_node.subarray(nodeStart[index], nodeStart[index + 1]));
  const severity = (index: number): Severity =>
    SEVERITIES[columns.problem_severity[index] ?? ABSENT] ?? "info";
  const byNode = groupedBy(columns.problem_node, size, ownersOf(nodeStart));
  const guesses = Array.from(
    columns.guess_code,
    (_, place): Guess => ({
      place,
      code: text("guess_code", place) ?? "",
    }),
  );

  function* pressing(most = Number.POSITIVE_INFINITY): Generator<number, void> {
    for (let index = 0; index < count; index++) {
      // In a diff the user looks for differences, so even a harmless one needs attention.
      if (comparison === "diff" || severity(index) !== "info") {
        const nodes = nodesOf(index);
        yield* nodes.length <= most ? nodes : nodes.slice(0, 1);
      }
    }
  }
  const named = new Uint8Array(size);
  for (const id of pressing()) {
    named[id] = 1;
  }
  return {
    count,
    guesses,
    problem: (index: number): Problem => {
      const fix = showsFix ? text("problem_fix", index) : null;
      return {
        severity: severity(index),
        kind: text("problem_kind", index) ?? "",
        nodes: nodesOf(index),
        saved: text("problem_saved", index),
        live: text("problem_live", index),
        why: text("problem_why", index) ?? "",
        remedy: fix ?? text("problem_remedy", index),
      };
    },
    // A problem may name a node twice.
    naming: (id: number): readonly number[] => [...new Set(byNode(id))],
    pressing,
    /** Whether a problem that needs attention names the node. */
    isNamed: (id: number): boolean => named[id] === 1,
  };
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

/** The number of values with each sign below every node. */
function countsBelow(
  { order, parents }: Pick<Tree, "order" | "parents">,
  places: Int8Array,
  counts: (id: number) => boolean,
): Int32Array {
  const width = CELL_SIGNS.length;
  const below = new Int32Array(parents.length * width);
  for (let i = order.length - 1; i > 0; i--) {
    const id = order[i] ?? 0;
    const parent = parents[id] ?? 0;
    for (let place = 0; place < width; place++) {
      const one = counts(id) && place === places[id] ? 1 : 0;
      below[parent * width + place] =
        (below[parent * width + place] ?? 0) + (below[id * width + place] ?? 0) + one;
    }
  }
  return below;
}

/** For every node, the top of the largest part around it that needs attention for one reason. */
function topsOfUniform(
  order: ArrayLike<number>,
  parents: ArrayLike<number>,
  places: Int8Array,
): Int32Array {
  const mixed = CELL_SIGNS.length;
  const signs = places.map((place) => (place === HERE ? mixed : place));
  for (let i = order.length - 1; i > 0; i--) {
    const id = order[i] ?? 0;
    const parent = parents[id] ?? 0;
    const own = signs[id] ?? ABSENT;
    if (signs[parent] === ABSENT) {
      signs[parent] = own;
    } else if (own !== ABSENT && signs[parent] !== own) {
      signs[parent] = mixed;
    }
  }
  const tops = Int32Array.from(places.keys());
  for (let i = 1; i < order.length; i++) {
    const id = order[i] ?? 0;
    const parent = parents[id] ?? 0;
    tops[id] = signs[parent] === mixed ? id : (tops[parent] ?? id);
  }
  return tops;
}
