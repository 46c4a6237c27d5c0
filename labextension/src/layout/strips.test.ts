import { describe, expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { compared, type LineOf, treeGraph, VALUE } from "../tests/graphs.test-data";
import { stripsOf } from "./strips";

/** A list of variables with so many elements, compared. */
function variables(
  sizes: readonly number[],
  lines: readonly LineOf[],
  savedElements: Readonly<Record<number, number>> = {},
): Graph {
  const graph = treeGraph(sizes.map(() => 0));
  const valued: Graph = {
    ...graph,
    attributes: (id) => (id === 0 ? [] : [{ ...VALUE, shape: [sizes[id - 1] ?? 0] }]),
  };
  return compared(valued, { lines, savedElements });
}

const strips = (graph: Graph) =>
  stripsOf(graph).map((parts) =>
    parts.map(({ line, share }) => `${line.saved || line.live} ${share}`).join(", "),
  );

describe("the strips of a comparison", () => {
  it("have the outer lines of each side, with all that is inside of them", () => {
    const lines: readonly LineOf[] = [
      {
        name: "net",
        inside: [
          { name: "a", node: 1 },
          { name: "b", node: 2 },
        ],
      },
      { name: "old", live: "", savedNode: 3 },
      { name: "", live: "new", node: 4 },
    ];
    expect(strips(variables([50, 30, 20, 10], lines))).toEqual([
      "net 80, old 20",
      "net 80, new 10",
    ]);
  });

  it("have the sizes of their own side", () => {
    const lines = [
      { name: "same", node: 1 },
      { name: "head", node: 2 },
    ] as const;
    expect(strips(variables([50, 600], lines, { 2: 500 }))).toEqual([
      "same 50, head 500",
      "same 50, head 600",
    ]);
  });

  it("leave out slot variables, and lines without parameters", () => {
    const inside = [
      { name: "w", node: 1 },
      { name: "m", node: 2 },
    ];
    const lines = [{ name: "net", inside }, { name: "empty" }];
    const slot = { name: "m", variable: 1, optimizer: null, rule: "declared" };
    const graph: Graph = {
      ...variables([7, 5], lines),
      slot: (id) => (id === 2 ? slot : null),
    };
    expect(strips(graph)).toEqual(["net 7", "net 7"]);
  });
});
