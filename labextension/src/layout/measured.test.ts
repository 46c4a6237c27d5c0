import { expect, it } from "vitest";
import { type Graph, ROOT } from "../data/graph";
import { layersOf } from "../data/layers";
import { loadGraph, treeGraph } from "../tests/graphs.test-data";
import { problemWords } from "../words/words";
import { badIn } from "./measured";
import { visibleRows } from "./rows";
import { shownTree } from "./shown";

/** A graph of which every third node cannot be read. */
function damaged(graph: Graph): Graph {
  return { ...graph, error: (id) => (id % 3 === 1 ? "no such file" : null) };
}

it.each([
  ["objects", async () => damaged(await loadGraph("blocks"))],
  ["layers", async () => layersOf(damaged(await loadGraph("blocks")))!],
  ["a long list", async () => damaged(treeGraph(Array.from({ length: 20_000 }, (_, i) => i % 7)))],
])("each node that cannot be read shows once, whatever is folded: %s", async (_, load) => {
  const graph = await load();
  const tree = shownTree(graph, true);
  const all = Array.from({ length: graph.size }, (_, id) => id).filter((id) => id % 3 === 1).length;
  const expanded = new Set<number>();
  for (let round = 0; round < 60; round += 1) {
    const rows = visibleRows(tree.children, expanded, ROOT, tree.chunk);
    const told = rows.map((row) => {
      const own = row.chunk === null && problemWords(graph, row.id) !== "" ? 1 : 0;
      return own + badIn(graph, tree, row).lost;
    });
    expect(Math.min(...told)).toBeGreaterThanOrEqual(0);
    expect(told.reduce((sum, one) => sum + one, 0)).toBe(all);
    const closed = rows.filter((row) => row.childCount > 0 && !row.isExpanded);
    const next = closed[(round * 7) % Math.max(closed.length, 1)];
    if (next !== undefined) {
      expanded.add(next.id);
    }
  }
});
