import { describe, expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { randomFrom, treeGraph, WIDTHS } from "../tests/graphs.test-data";
import { type Flow, flowsIn } from "./flow";
import { flowPaths } from "./flow-paths";
import { visibleRows } from "./rows";
import { shownTree } from "./shown";
import { BOX_HEIGHT, SPINE, tidyTree } from "./tidy";

type Pair = readonly [from: number, to: number];

/** Calls as text: from a row to a row, with commas between. */
const calls = (text: string): readonly Pair[] =>
  text.split(", ").map((call) => call.split(" ").map(Number) as unknown as Pair);

/** Layers below the parents given, with these calls. */
function called(pairs: readonly Pair[], parents: readonly number[]): Graph {
  const graph = treeGraph(parents);
  const column = (place: 0 | 1) => Int32Array.from(pairs, (pair) => pair[place]);
  return { ...graph, objects: graph, calls: { from: column(0), to: column(1) } };
}

function drawn(graph: Graph, expanded: readonly number[] = [0], isStacked = false) {
  const tree = shownTree(graph, true);
  const rows = visibleRows(tree.children, new Set(expanded), 0, tree.chunk);
  const rowOf = new Map(rows.map(({ id }, index) => [id, index]));
  const flows = flowsIn({ graph, tree, rows, rowOf }, isStacked);
  const layout = tidyTree(rows, WIDTHS, false, flows);
  const flow = flows.get(0);
  const lines = flow?.lines.map(({ from, to, way }) => [rows[from]!.id, rows[to]!.id, way]) ?? [];
  return { rows, flows, flow, layout, lines, paths: flowPaths(flows, layout) };
}

const flat = (count: number) => Array.from({ length: count }, () => 0);
const columns = ({ column }: Flow) => [...column].sort(([a], [b]) => a - b).map(([, at]) => at);
const ranks = ({ rank }: Flow) => [...rank].sort(([a], [b]) => a - b).map(([, at]) => at);

describe("a flow", () => {
  it("of a chain is one column", () => {
    const pairs = calls("1 2, 2 3");
    const { flow, lines } = drawn(called(pairs, flat(3)));
    expect([columns(flow!), ranks(flow!)]).toEqual([
      [0, 0, 0],
      [0, 1, 2],
    ]);
    expect(lines.map(([, , way]) => way)).toEqual(["straight", "straight"]);
  });

  it("leads past a residual block in a lane beside the column", () => {
    // 1 → 2 → 3 → 4, and 1 → 4
    const pairs = calls("1 2, 2 3, 3 4, 1 4");
    const { flow, lines } = drawn(called(pairs, flat(4)));
    expect(columns(flow!)).toEqual([0, 0, 0, 0]);
    expect(lines.at(-1)).toEqual([1, 4, "beside"]);
    expect(flow!.lanes).toEqual([1]);
  });

  it("has branches side by side, and a late input just above the row that takes it", () => {
    // 1 → 2 → 3 → 6 → 7, 4 → 5 → 6, 6 → 8
    const pairs = calls("1 2, 2 3, 3 6, 4 5, 5 6, 6 7, 6 8");
    const { flow, lines } = drawn(called(pairs, flat(8)));
    expect(columns(flow!)).toEqual([0, 0, 0, 1, 1, 0, 0, 1]);
    expect(ranks(flow!)).toEqual([0, 1, 2, 1, 2, 3, 4, 4]);
    expect(new Set(lines.map(String))).toContain("5,6,ends");
    expect(new Set(lines.map(String))).toContain("6,8,begins");
  });

  it("ends at the closed row that holds a layer, once", () => {
    // Layers 4 and 5 are in layer 3.
    const pairs = calls("1 4, 1 5");
    const graph = called(pairs, [0, 0, 0, 3, 3]);
    expect(drawn(graph).lines).toEqual([[1, 3, "straight"]]);
    expect(drawn(graph, [0, 3]).lines).toEqual([[1, 3, "straight"]]);
  });

  it("leads to each layer, and out of it, through frames", () => {
    // 1 → 2, which holds 3 → 4 → 5 and 3 → 5, then 6, which holds 7 → 8; and residuals between them.
    const pairs = calls("1 3, 3 4, 4 5, 1 5, 3 7, 5 7, 7 8, 8 9");
    const graph = called(pairs, [0, 0, 2, 2, 2, 0, 6, 6, 0]);
    const ends = ({ paths, rows }: ReturnType<typeof drawn>) =>
      new Set(
        paths.flatMap(({ source, takers }) =>
          takers.map((to) => `${rows[source]!.id} ${rows[to]!.id}`),
        ),
      );
    expect(ends(drawn(graph, [0, 2, 6]))).toEqual(new Set(pairs.map((pair) => pair.join(" "))));
    const partly = ["1 3", "3 4", "4 5", "1 5", "3 6", "5 6", "6 9"];
    expect(ends(drawn(graph, [0, 2]))).toEqual(new Set(partly));
    for (const isStacked of [false, true]) {
      expectWhole(drawn(graph, [0, 2, 6], isStacked));
      expectWhole(drawn(graph, [0, 2], isStacked));
      expectWhole(drawn(graph, [0, 6], isStacked));
    }
  });

  it("goes straight into a frame", () => {
    const pairs = calls("1 3, 3 4, 4 5");
    const { layout } = drawn(called(pairs, [0, 0, 2, 2, 0]), [0, 2]);
    const [, before, frame, ...others] = layout.boxes;
    expect(new Set([before!.x, ...others.map(({ x }) => x)]).size).toBe(1);
    expect(frame!.panel!.left).toBeLessThan(before!.x);
    expect(frame!.x).toBeGreaterThan(before!.x + SPINE); // its name is beside the line
  });

  it("of a nested model is a flow of its own", () => {
    const graph = called(calls("1 2, 3 4"), [0, 0, 2, 2]);
    const { flows, layout, rows } = drawn(graph, [0, 2]);
    expect([...flows.keys()].map((row) => rows[row]!.id)).toEqual([0, 2]);
    const frame = layout.boxes[2]!;
    const inner = layout.boxes[3]!;
    expect(inner.x).toBeGreaterThan(frame.x);
    expect(inner.y).toBeLessThan(frame.panel!.bottom);
  });

  it("puts rows that nothing calls below the others", () => {
    expect(ranks(drawn(called(calls("1 3"), flat(3))).flow!)).toEqual([0, 2, 1]);
  });

  it("leaves out calls backwards, to itself, and of what has no row", () => {
    const pairs = calls("2 1, 2 2, 1 2");
    expect(drawn(called(pairs, flat(2))).lines).toEqual([[1, 2, "straight"]]);
    const folded = { ...called(calls("1 2"), flat(2)), shownAs: () => null };
    expect(drawn(folded).lines).toEqual([]);
    expect(drawn(called(calls("4 5"), [0, 0, 0, 3, 3])).lines).toEqual([]);
  });

  it("belongs to layers, not to the graph of objects", () => {
    expect(drawn({ ...called(calls("1 2"), flat(2)), objects: null }).lines).toEqual([]);
  });
});

/** The points of a path, without its arrow, with the letters that lead to them. */
function cornersOf(path: string): readonly { readonly letter: string; x: number; y: number }[] {
  let [x, y] = [0, 0];
  return [...path.matchAll(/([MVHQ])([-\d. ]+)/g)].map(([, letter = "", words = ""]) => {
    const numbers = words.trim().split(" ").map(Number);
    x = letter === "V" ? x : letter === "H" ? numbers[0]! : numbers.at(-2)!;
    y = letter === "H" ? y : numbers.at(-1)!;
    return { letter, x, y };
  });
}

/** The horizontal and vertical pieces of a path: left, top, right, bottom. */
function pieces(path: string): readonly (readonly [number, number, number, number])[] {
  const points = cornersOf(path);
  return points.flatMap(({ letter, x, y }, place) => {
    const before = points[place - 1] ?? { x, y };
    return letter === "V" || letter === "H"
      ? [
          [
            Math.min(before.x, x),
            Math.min(before.y, y),
            Math.max(before.x, x),
            Math.max(before.y, y),
          ] as const,
        ]
      : [];
  });
}

/** The ends of all pieces of a result, with their crossings of frames, lead from its row to takers. */
function expectWhole({ flows, layout, paths, rows }: ReturnType<typeof drawn>): void {
  const bordersOf = (row: number) => layout.boxes[row]!.panel;
  for (const [row, { inputs, outputs }] of flows) {
    const { bottom, top } = bordersOf(row) ?? { bottom: 0, top: 0 };
    for (const [ports, border, of] of [
      [inputs, top, "input"],
      [outputs, bottom, "output"],
    ] as const) {
      for (const source of ports.keys()) {
        const xs = { in: new Set<number>(), out: new Set<number>() };
        for (const { path } of paths.filter((one) => one.source === source)) {
          const points = cornersOf(path);
          const [start, end] = [points[0]!, points.at(-1)!];
          if (start.y === border) {
            xs.out.add(start.x);
          }
          if (end.y === border) {
            xs.in.add(end.x);
          }
        }
        expect([...xs.in], `${of} of ${rows[row]!.id}`).toEqual([...xs.out]);
        expect(xs.in.size).toBe(1);
      }
    }
  }
}

describe.each(Array.from({ length: 40 }, (_, seed) => seed))("any flow (seed %i)", (seed) => {
  const next = randomFrom(seed);
  const size = 4 + Math.floor(next() * 25);
  const pairs = Array.from({ length: Math.floor(size * (0.8 + next())) }, (): Pair => {
    const from = 1 + Math.floor(next() * (size - 1));
    return [from, from + 1 + Math.floor(next() ** 2 * (size - from))];
  });
  // Half of the flows have frames; one may be in another.
  const frames = seed % 2 === 0 ? 0 : 1 + Math.floor(next() * 3);
  const parents = flat(size);
  const open = [0];
  for (let frame = 1; frame <= frames; frame++) {
    const first = 1 + Math.floor(next() * (size - 2));
    const last = first + 1 + Math.floor(next() * (size - first - 1));
    open.push(first);
    for (let row = first + 1; row <= last; row++) {
      parents[row - 1] = parents[row - 1] === parents[first - 1] ? first : parents[row - 1]!;
    }
  }
  const isStacked = seed % 4 === 1;
  const view = drawn(called(pairs, parents), open, isStacked);
  const { layout, paths, rows } = view;
  const inside = layout.boxes.slice(1);

  it("has no boxes that meet", () => {
    for (const [i, a] of inside.entries()) {
      for (const b of inside.slice(i + 1)) {
        const apart =
          Math.abs(a.y - b.y) >= BOX_HEIGHT || a.x + a.width <= b.x || b.x + b.width <= a.x;
        expect(apart).toBe(true);
      }
    }
  });

  it("has no line through a box that it does not lead to or from", () => {
    for (const { path, source, takers } of paths) {
      for (const [left, top, right, bottom] of pieces(path)) {
        const crossed = layout.boxes.findIndex(
          ({ x, y, outline }, row) =>
            row > 0 &&
            row !== source &&
            !takers.includes(row) &&
            left < x + outline &&
            right > x &&
            top < y + BOX_HEIGHT / 2 &&
            bottom > y - BOX_HEIGHT / 2,
        );
        expect(crossed < 0 ? "" : `${rows[crossed]!.id} on the way of ${source}`).toBe("");
      }
    }
  });

  it("stays in its frames, and lines go on where they cross a border", () => {
    for (const [row, { parentRow }] of rows.entries()) {
      const [own, around] = [layout.boxes[row]!.panel, layout.boxes[parentRow]?.panel ?? null];
      if (own !== null && around !== null) {
        expect(own.left).toBeGreaterThan(around.left);
        expect(own.right).toBeLessThan(around.right);
        expect(own.bottom).toBeLessThan(around.bottom);
      }
    }
    const hasLanes = [...view.flows.values()].every(({ lines }) =>
      lines.every(({ lane, way }) => way !== "beside" || lane !== null),
    );
    if (hasLanes) {
      expectWhole(view);
    }
  });
});

it("draws 2,000 layers with 5,000 calls, and 500 branches", () => {
  const next = randomFrom(7);
  const size = 2_000;
  const chain = Array.from({ length: size - 1 }, (_, i): Pair => [i + 1, i + 2]);
  const skips = Array.from({ length: 3_000 }, (): Pair => {
    const from = 1 + Math.floor(next() * (size - 1));
    return [from, Math.min(from + 2 + Math.floor(next() * 40), size)];
  });
  // In lists of more than 100 items, parts of them are rows: here, all rows are open.
  const wide = drawn(called([...chain, ...skips], flat(size)));
  expect(wide.paths.length).toBeGreaterThan(0);
  const fan = Array.from({ length: 60 }, (_, i): Pair => [1, i + 2]);
  expect(Math.max(...columns(drawn(called(fan, flat(61))).flow!))).toBe(59);
});
