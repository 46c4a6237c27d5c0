import { expect, it } from "vitest";
import type { Graph } from "../graph";
import { loadGraph } from "../graphs.test-data";
import { visibleRows } from "../layout/rows";
import { BADGE_RADIUS } from "./icons";
import { besideX, makeTypesetter } from "./measure";

const measure = (text: string) => text.length * 7;
const everything = (graph: Graph) => new Set(Array.from({ length: graph.size }, (_, id) => id));

it.each(["check", "diff", "hostile_check"])("a box has room for all text in %s", async (name) => {
  const graph = await loadGraph(name);
  const typesetter = makeTypesetter(graph, measure);
  for (const expanded of [new Set<number>(), everything(graph)]) {
    for (const row of visibleRows(graph.treeChildren, expanded)) {
      const parts = typesetter.parts(row);
      const badgeEnd = parts.badge === null ? 0 : parts.badge.x + BADGE_RADIUS;
      expect(parts.textX).toBeGreaterThan(badgeEnd);
      expect(parts.width).toBeGreaterThan(parts.textX + measure(parts.text));
      if (parts.beside !== "") {
        const end = besideX(parts, row) + measure(parts.beside);
        expect(typesetter.box(row)).toBeGreaterThanOrEqual(end);
      }
    }
  }
});
