import { describe, expect, it } from "vitest";
import { randomFrom, treeGraph } from "../graphs.test-data";
import { feedsOf } from "./feeds";
import { flowsIn } from "./flow";
import { gutters, LANE_WIDTH, pieces } from "./lanes";
import { visibleRows } from "./rows";
import { shownTree } from "./shown";

type Pair = readonly [from: number, to: number];

function called(pairs: readonly Pair[], size: number) {
  const tree = treeGraph(Array.from({ length: size }, () => 0));
  const column = (place: 0 | 1) => Int32Array.from(pairs, (pair) => pair[place]);
  const graph = { ...tree, objects: tree, calls: { from: column(0), to: column(1) } };
  const shown = shownTree(graph, true);
  const rows = visibleRows(shown.children, new Set([0]), 0, shown.chunk);
  const rowOf = new Map(rows.map(({ id }, index) => [id, index]));
  return { graph, rows, flows: flowsIn({ graph, tree: shown, rows, rowOf }) };
}

/** The lanes of the dots; and of the lines that pass each row, without those that begin or end. */
function drawn(pairs: readonly Pair[], size: number, lit?: number) {
  const { flows, rows } = called(pairs, size);
  const all = pieces(flows, () => 0, 10, 0, rows.length, lit).slice(1);
  const laneOf = (x: number) => x / LANE_WIDTH - 0.5;
  const through = (path: string) =>
    [...path.matchAll(/M([\d.]+) 0V10/g)].map(([, x]) => laneOf(Number(x)));
  return {
    dots: all.map(({ dot }) => laneOf(dot ?? 0)),
    passing: all.map(({ lit: own, quiet }) => [...through(own), ...through(quiet)]),
    lit: all.map(({ lit: path }) => path !== ""),
  };
}

const RESIDUAL: readonly Pair[] = [
  [1, 2],
  [2, 3],
  [1, 3],
  [4, 5],
  [3, 5],
];

describe("the lanes of an outline", () => {
  it("keep a branch in its lane, with skips and other branches beside it", () => {
    expect(drawn(RESIDUAL, 5).dots).toEqual([0, 0, 0, 1, 0]);
    expect(drawn(RESIDUAL, 5).passing).toEqual([[], [1], [], [0], []]);
  });

  it("light the calls of a row", () => {
    expect(drawn(RESIDUAL, 5, 4).lit).toEqual([false, false, false, true, true]);
  });

  it("take no more width than there are lanes, and none without calls", () => {
    const { flows, rows } = called(RESIDUAL, 5);
    expect([...gutters(rows, flows)]).toEqual(
      [0, ...Array(5).fill(2.5 * LANE_WIDTH)].map(Math.floor),
    );
    expect([...gutters(rows, new Map())]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it.each(Array.from({ length: 30 }, (_, seed) => seed))("never meet (seed %i)", (seed) => {
    const next = randomFrom(seed);
    const size = 4 + Math.floor(next() * 12);
    const pairs = Array.from({ length: size }, (): Pair => {
      const from = 1 + Math.floor(next() * (size - 1));
      return [from, from + 1 + Math.floor(next() ** 3 * (size - from))];
    });
    const { dots, passing } = drawn(pairs, size);
    passing.forEach((lanes, row) => {
      if (Math.max(...lanes, ...dots) < 4) {
        expect(new Set(lanes).size).toBe(lanes.length);
        expect(lanes).not.toContain(dots[row]);
      }
    });
  });
});

it("a row is fed by what calls it, and a group by what is outside of it", () => {
  const { graph } = called(RESIDUAL, 5);
  expect(feedsOf(graph, 3)).toEqual({ inputs: [1, 2], outputs: [5] });
  const grouped = {
    ...graph,
    treeChildren: (id: number) => Int32Array.from(id === 6 ? [2, 3] : []),
  };
  expect(feedsOf(grouped, 6)).toEqual({ inputs: [1], outputs: [5] });
});
