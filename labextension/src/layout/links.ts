/** A node's links besides its place in the tree, and the lines that show them. */

import type { Graph } from "../data/graph";
import type { Box } from "./tidy";

export interface Link {
  readonly from: number;
  readonly to: number;
  /** Another name for a node, or the way of a value to another node in a plain restore. */
  readonly kind: "alias" | "move";
}

const MAX_LINKS = 60;
const ARROW = { length: 7, half: 4 };

/** The links of a node, without those of a long list. */
export function linksOf(graph: Graph, id: number): readonly Link[] {
  const links: Link[] = [];
  const [to, from] = [graph.overlay?.goesTo(id) ?? id, graph.overlay?.getsFrom(id) ?? id];
  links.push({ from: id, to, kind: "move" }, { from, to: id, kind: "move" });
  const isTreeEdge = (parent: number, child: number, name: string): boolean =>
    graph.treeParent(child) === parent && graph.label(child) === name;
  for (const edge of graph.edgesTo(id)) {
    if (!isTreeEdge(edge.node, id, edge.localName)) {
      links.push({ from: edge.node, to: id, kind: "alias" });
    }
  }
  for (const edge of graph.children(id).slice(0, MAX_LINKS)) {
    if (!isTreeEdge(id, edge.node, edge.localName)) {
      links.push({ from: id, to: edge.node, kind: "alias" });
    }
  }
  return links.filter(({ from, to }) => from !== to).slice(0, MAX_LINKS);
}

/**
 * A line from the back of one box to the front of the next, or to its back if it is further left. A
 * move has an arrow.
 */
export function linkPath(from: Box, to: Box, kind: Link["kind"]): string {
  const start = from.x + from.width;
  const ahead = to.x > start ? 1 : -1;
  const end = ahead === 1 ? to.x : to.x + to.width;
  const bend = Math.max(40, Math.abs(end - start) / 2);
  const curve = `M${start} ${from.y}C${start + bend} ${from.y} ${end - ahead * bend} ${to.y} ${end} ${to.y}`;
  const back = -ahead * ARROW.length;
  return kind === "move"
    ? `${curve}m${back} ${-ARROW.half}L${end} ${to.y}l${back} ${ARROW.half}`
    : curve;
}
