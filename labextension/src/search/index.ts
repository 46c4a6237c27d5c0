/** A graph, prepared for the terms of a query; ckpt_viz/graphs/search/index.py does the same. */

import { kept, oncePer } from "../basics/once";
import { type Attribute, type Graph, isHolder, ROOT } from "../data/graph";
import type { Glob, GlobState } from "./glob";
import { LIMITS } from "./grammar";

/** By node id, 1 for a match. */
export type Marks = Uint8Array;
export const ROOT_NAME = "(root)";

/** A graph to search: each search is one pass over its nodes, at any depth. */
export interface Index {
  readonly graph: Graph;
  /** The names of each node: on each way, and the full names of its values. */
  readonly ownNames: readonly (readonly string[])[];
  /** The same, and the name of its class. */
  readonly names: readonly (readonly string[])[];
  /**
   * The ways to a node: by local names in the outline, and by the names that people give. In a
   * comparison these are the names on both sides.
   */
  readonly ways: readonly Way[];
}

/** For each node what it is called on a way, and what is above it there. */
export interface Way {
  readonly names: readonly string[];
  readonly above: readonly number[];
}

export const indexOf = oncePer(makeIndex);

function makeIndex(graph: Graph): Index {
  const folded = (name: (id: number) => string) =>
    Array.from({ length: graph.size }, (_, id) => name(id).toLowerCase());
  const labels = folded(graph.label);
  const called = folded(graph.called);
  const savedCalled = graph.overlay === null ? [] : folded(graph.savedCalled);
  const types = folded((id) => graph.typeName(id) ?? "");
  const ownNames = labels.map((label, id) => {
    const fullNames = graph.attributes(id).map(({ fullName }) => fullName.toLowerCase());
    const own = [label, called[id] ?? "", savedCalled[id] ?? ""];
    return [...own, ...fullNames].filter((name, place) => place === 0 || name !== "");
  });
  const names = ownNames.map((own, id) => (types[id] ? [...own, types[id]] : own));
  const parents = labels.map((_, id) => graph.treeParent(id) ?? ROOT);
  const holders: number[] = [ROOT];
  for (const id of graph.order.subarray(1)) {
    const parent = parents[id] ?? ROOT;
    const isOnWay = parent === ROOT || !isHolder(graph, parent);
    holders[id] = isOnWay ? parent : (holders[parent] ?? ROOT);
  }
  const ways: Way[] = [{ names: labels, above: parents }];
  const aboveSaved = holders.map((above, id) =>
    graph.overlay?.isHeldElsewhere(id) === true ? ROOT : above,
  );
  for (const way of [
    { names: called, above: holders },
    { names: savedCalled, above: aboveSaved },
  ]) {
    const isKnown = ways.some(
      ({ above, names }) => isSame(names, way.names) && isSame(above, way.above),
    );
    if (way.names.length > 0 && !isKnown) {
      ways.push(way);
    }
  }
  return { graph, ownNames, names, ways };
}

function isSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.every((item, place) => item === b[place]);
}

export function where({ graph: { size } }: Index, holds: (id: number) => boolean): Marks {
  return Uint8Array.from({ length: size }, (_, id) => (holds(id) ? 1 : 0));
}

/** The nodes with a value for which the condition holds. */
export function whereValue(index: Index, holds: (attribute: Attribute) => boolean): Marks {
  return where(index, (id) => index.graph.attributes(id).some(holds));
}

/**
 * The paths to all nodes, on each way. Only the end of a long path: all paths together could take
 * too much memory.
 */
export function pathsOf(index: Index): readonly (readonly string[])[] {
  return along(index, "", (above, step) => above.slice(-LIMITS.text) + step);
}

/** The nodes one of whose paths matches a glob; the root has no path. */
export function wherePathFits(index: Index, glob: Glob): Marks {
  const ways = along(index, glob.start, glob.run);
  return where(index, (id) => id !== ROOT && ways.some((states) => states[id]?.accepts === true));
}

/** What the paths to each node on each way lead to, step by step from the root. */
function along<T>({ graph, ways }: Index, root: T, next: (above: T, step: string) => T): T[][] {
  return ways.map(({ above, names }) => {
    const reached: T[] = [root];
    for (const id of graph.order.subarray(1)) {
      const parent = above[id] ?? ROOT;
      reached[id] = next(reached[parent] ?? root, `${parent === ROOT ? "" : "/"}${names[id]}`);
    }
    return reached;
  });
}

/** The nodes whose name, as TensorFlow prints it, matches a glob. */
export function whereNameFits({ graph }: Index, glob: Glob): Marks {
  const marks = new Uint8Array(graph.size);
  const below = firstChildren(graph);
  const stack: [number, GlobState][] = [[ROOT, glob.run(glob.start, ROOT_NAME)]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [above, state] = next;
    marks[above] = state.accepts ? 1 : 0;
    for (const { id, step } of below.get(above) ?? []) {
      stack.push([id, glob.run(state, step.toLowerCase())]);
    }
  }
  return marks;
}

/** For each node, what its children append to its name. */
export function firstChildren(graph: Graph) {
  const children = new Map<number, { readonly id: number; readonly step: string }[]>();
  for (let id = 0; id < graph.size; id++) {
    const edge = graph.firstEdge(id);
    if (edge !== null) {
      kept(children, edge.node, () => []).push({ id, step: `.${edge.localName}` });
    }
  }
  return children;
}

/** The matches, and everything below them in the outline. */
export function atOrBelow({ graph }: Index, marks: Marks): Marks {
  const below = marks.slice();
  for (const id of graph.order) {
    below[id] = (below[id] ?? 0) | (below[graph.treeParent(id) ?? id] ?? 0);
  }
  return below;
}

/** The nodes that the problems of a comparison name. */
export function ofProblems({ graph: { overlay, size } }: Index, kind?: string): Marks {
  const marks = new Uint8Array(size);
  for (let at = 0; at < (overlay?.problemCount ?? 0); at++) {
    const problem = overlay?.problem(at);
    for (const id of kind === undefined || kind === problem?.kind ? (problem?.nodes ?? []) : []) {
      marks[id] = 1;
    }
  }
  return marks;
}

export function either(a: Marks, b: Marks): Marks {
  return a.map((mark, id) => mark | (b[id] ?? 0));
}

export function both(a: Marks, b: Marks): Marks {
  return a.map((mark, id) => mark & (b[id] ?? 0));
}
