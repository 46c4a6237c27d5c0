import { describe, expect, it } from "vitest";
import { compared, loadGraph, treeGraph } from "../tests/graphs.test-data";
import { linkPath, linksOf } from "./links";
import type { Box } from "./tidy";

const TREE = treeGraph([0, 0, 1, 1, 2]);
const box = (x: number, y: number): Box => ({
  ...{ x, y, width: 100, outline: 100, panel: null, bus: x + 114 },
  ...{ firstChildY: y, lastChildY: y },
});

describe("the link of a value that goes elsewhere", () => {
  it("leads from its own node to the other one, whichever of them the user selects", () => {
    const graph = compared(TREE, { goesTo: { 3: 5 } });
    const link = { from: 3, to: 5, kind: "move" };
    expect([3, 5, 4].map((id) => linksOf(graph, id))).toEqual([[link], [link], []]);
  });
  it("is missing if the payload gives the node itself", () => {
    expect(linksOf(compared(TREE, { goesTo: { 3: 3 } }), 3)).toEqual([]);
  });
  it("ends in an arrow on the side where it arrives", () => {
    expect(linkPath(box(0, 10), box(300, 50), "move")).toMatch(/ 300 50m-7 -4L300 50l-7 4$/);
    expect(linkPath(box(300, 10), box(0, 50), "move")).toMatch(/ 100 50m7 -4L100 50l7 4$/);
    expect(linkPath(box(0, 10), box(300, 50), "alias")).toMatch(/ 300 50$/);
  });
});

it("a shared node has links to its other parents", async () => {
  const circles = await loadGraph("circles_and_lost_nodes");
  expect(linksOf(circles, 1)).toEqual([{ from: 1, to: 0, kind: "alias" }]);
});
