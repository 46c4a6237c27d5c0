import { expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { layersOf } from "../data/layers";
import { visibleRows } from "../layout/rows";
import { shownTree } from "../layout/shown";
import { loadGraph } from "../tests/graphs.test-data";
import { BADGE_RADIUS } from "./icons";
import { besideX, makeTypesetter, placesIn } from "./measure";

const measure = (text: string) => text.length * 7;
const everything = (graph: Graph) => new Set(Array.from({ length: graph.size }, (_, id) => id));

it.each(["check", "diff", "hostile_check"])("a box has room for all text in %s", async (name) => {
  const graph = await loadGraph(name);
  const typesetter = makeTypesetter(graph, measure, "all");
  for (const expanded of [new Set<number>(), everything(graph)]) {
    for (const row of visibleRows(graph.treeChildren, expanded)) {
      const parts = typesetter.parts(row);
      const badgeEnd = parts.badge === null ? 0 : parts.badge.x + BADGE_RADIUS;
      expect(parts.nameX).toBeGreaterThan(badgeEnd);
      for (const width of [parts.width, parts.width + 100]) {
        const { chipsX, kindX, sharedX } = placesIn(parts, width);
        expect(kindX).toBeGreaterThanOrEqual(parts.nameX + measure(parts.name));
        const ends = [
          kindX + measure(parts.kind),
          ...chipsX.map((x, i) => x + parts.chips[i]!.width),
        ];
        const end = parts.shared === "" ? Math.max(...ends) : sharedX + measure(parts.shared);
        expect(width).toBeGreaterThan(end);
      }
      expect(makeTypesetter(graph, measure, "kinds").parts(row).name).toBe("");
      expect(makeTypesetter(graph, measure, "short").box(row)).toBeLessThanOrEqual(parts.width);
      if (parts.beside !== "") {
        const end = besideX(parts.width, row) + measure(parts.beside);
        expect(typesetter.box(row) + typesetter.behind(row)).toBeGreaterThanOrEqual(end);
      }
    }
  }
});

it.each([
  ["all", "4 alike", "the same", "2 layers"],
  ["names", "4 alike", "the same", "2 layers"],
  ["short", "×4", "×3", ""],
] as const)(
  "a box that says %s tells how many rows are alike",
  async (says, alike, rest, block) => {
    const layers = layersOf(await loadGraph("blocks"))!;
    const tree = shownTree(layers, false);
    const typesetter = makeTypesetter(layers, measure, says);
    const expanded = new Set(Array.from({ length: layers.treeSize }, (_, id) => id));
    const kinds = visibleRows(tree.children, expanded, 0, tree.chunk)
      .filter(({ chunk }) => chunk !== null)
      .map((row) => typesetter.parts(row).kind);
    expect(kinds).toEqual([alike, block, rest]);
  },
);
