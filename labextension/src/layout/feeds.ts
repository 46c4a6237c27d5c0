/** Which layers feed a row, and which it feeds, where the source knows the calls. */

import { kept, oncePer } from "../basics/once";
import type { Graph } from "../data/graph";

export interface Feeds {
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

const NONE: readonly number[] = [];

/** In the order of the graph. A group of layers has those of all its members, but no member. */
export function feedsOf(graph: Graph, row: number): Feeds {
  const { after, before } = sidesOf(graph);
  const members = new Set(row < graph.size ? [row] : nodesBelow(graph, row));
  const beyond = (by: ReadonlyMap<number, readonly number[]>) => [
    ...new Set([...members].flatMap((id) => by.get(id) ?? NONE).filter((id) => !members.has(id))),
  ];
  return { inputs: beyond(before), outputs: beyond(after) };
}

const sidesOf = oncePer(({ calls, order }: Graph) => {
  const { from, to } = calls ?? { from: [], to: [] };
  const place = new Map(Array.from(order, (id, index) => [id, index]));
  const byPlace = (a: number, b: number) => (place.get(a) ?? 0) - (place.get(b) ?? 0);
  const before = new Map<number, number[]>();
  const after = new Map<number, number[]>();
  for (let i = 0; i < from.length; i++) {
    const [producer = 0, consumer = 0] = [from[i], to[i]];
    kept(before, consumer, () => []).push(producer);
    kept(after, producer, () => []).push(consumer);
  }
  for (const ids of [...before.values(), ...after.values()]) {
    ids.sort(byPlace);
  }
  return { before, after };
});

/** The nodes in a group, also in groups of it. */
export function nodesBelow(graph: Graph, row: number): readonly number[] {
  const nodes: number[] = [];
  const stack = Array.from(graph.treeChildren(row));
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (id < graph.size) {
      nodes.push(id);
    } else {
      stack.push(...graph.treeChildren(id));
    }
  }
  return nodes;
}
