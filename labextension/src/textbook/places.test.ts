import { type Format, Graphviz } from "@hpcc-js/wasm-graphviz";
import { beforeAll, describe, expect, it } from "vitest";
import { visibleRows } from "../layout/rows";
import { shownTree } from "../layout/shown";
import { loadGraph } from "../tests/graphs.test-data";
import { type Sizes, toDot } from "./dot";
import { isTooMany, type Part, partInSight, sizesOf } from "./part";
import { type Picture, pictureOf } from "./picture";
import { readPlaces } from "./places";

const HEIGHT = 24;
const JSON_OF_PLACES: string = "json0";

let graphviz: Graphviz;
beforeAll(async () => {
  graphviz = await Graphviz.load();
});

async function part(name: string): Promise<Part> {
  const graph = await loadGraph(name);
  const tree = shownTree(graph, true);
  const all = new Set(Array.from({ length: graph.size }, (_, id) => id));
  const part = partInSight({ graph, tree, rows: visibleRows(tree.children, all, 0, tree.chunk) });
  if (isTooMany(part)) {
    throw new Error("too many");
  }
  return part;
}

function layout(part: Part): Picture {
  const sizes = sizesOf(part, HEIGHT, {
    box: ({ id }) => 40 + 10 * (id % 7),
    name: (text) => 6 * text.length,
  });
  const json = graphviz.dot(toDot(sizes), JSON_OF_PLACES as Format);
  return pictureOf(part, readPlaces(json, sizes));
}

describe.each(["keras3_adam", "declared_slots", "circles_and_lost_nodes"])("%s", (name) => {
  it("has a layout from top to bottom, in the given sizes, without collisions", async () => {
    const { nodes, edges } = await part(name);
    const { boxes, width, height } = layout({ nodes, edges });
    expect([...boxes.keys()]).toEqual(nodes.map(({ id }) => id));
    const placed = [...boxes].map(([id, box]) => ({ id, ...box }));
    for (const box of placed) {
      expect(box.width).toBeCloseTo(40 + 10 * (box.id % 7), 1);
      expect(box.x).toBeGreaterThanOrEqual(-0.5);
      expect(box.x + box.width).toBeLessThanOrEqual(width + 0.5);
      expect(box.y + HEIGHT / 2).toBeLessThanOrEqual(height + 0.5);
    }
    for (const [i, a] of placed.entries()) {
      for (const b of placed.slice(i + 1)) {
        const isApart = a.x + a.width < b.x || b.x + b.width < a.x || Math.abs(a.y - b.y) >= HEIGHT;
        expect(isApart, `${a.id} meets ${b.id}`).toBe(true);
      }
    }
    expect(Math.min(...placed.map(({ y }) => y))).toBe(boxes.get(0)?.y);
  });

  it("has a line, an arrow and a place for the name of every edge", async () => {
    const whole = await part(name);
    const { edges } = layout(whole);
    expect(edges).toMatchObject(whole.edges);
    for (const { arrow, name: words, nameAt, path } of edges) {
      expect(path).toMatch(/^M[-\d.]+ [-\d.]+C([-\d.]+ [-\d.]+ ?)+$/);
      expect(arrow).toMatch(/^M[-\d.]+ [-\d.]+L[-\d.]+ [-\d.]+L[-\d.]+ [-\d.]+Z$/);
      expect(nameAt === null).toBe(words === "");
    }
  });
});

const ONE: Sizes = { height: 24, boxes: [[0, 72]], edges: [] };
const answer = (node: object) =>
  JSON.stringify({ bb: "0,0,80,24", objects: [{ name: "0", ...node }] });

it.each([
  ["not JSON", "{"],
  ["null", "null"],
  ["a missing node", '{"bb":"0,0,1,1"}'],
  ["a place that is not a number", answer({ pos: "a,b", width: "1" })],
  ["a width that is not a number", answer({ pos: "1,2", width: "<svg onload=alert(1)>" })],
  ["a size that is not a number", answer({ pos: "1,2", width: "1" }).replace("80", "NaN")],
])("refuses an answer with %s", (_, json) => {
  expect(() => readPlaces(json, ONE)).toThrow();
});

it("accepts only numbers", () => {
  const places = readPlaces(answer({ pos: "40,12", width: "1.0", URL: "javascript:0" }), ONE);
  expect(places).toEqual({
    ...{ width: 80, height: 24, edges: [] },
    boxes: new Map([[0, { x: 4, y: 12, width: 72 }]]),
  });
});
