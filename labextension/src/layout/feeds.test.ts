import { expect, it } from "vitest";
import type { Graph } from "../graph";
import { treeGraph } from "../graphs.test-data";
import { feedsOf } from "./feeds";

it("tells what feeds a group from outside, and not its own members", () => {
  // The root has the layers 1 and 4, and a group, row 5, of the layers 2 and 3.
  const tree = treeGraph([0, 5, 5, 0, 0]);
  const calls = { from: Int32Array.of(3, 1, 2), to: Int32Array.of(4, 2, 3) };
  const graph: Graph = { ...tree, size: 5, calls };
  expect(feedsOf(graph, 5)).toEqual({ inputs: [1], outputs: [4] });
  expect(feedsOf(graph, 3)).toEqual({ inputs: [2], outputs: [4] });
});
