/** The places from Graphviz, read from its JSON. The reader takes only numbers. */

import { POINTS, type Sizes } from "./dot";

/** Left edge, vertical middle and width, as for the boxes of the tree. */
export interface PlacedBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface PlacedEdge {
  /** The line, as an SVG path. */
  readonly path: string;
  /** The arrow's head, as an SVG path. */
  readonly arrow: string;
  /** The middle of its name; null for an edge without a name. */
  readonly nameAt: readonly [x: number, y: number] | null;
}

export interface Places {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<number, PlacedBox>;
  /** In the same order as the input's edges. */
  readonly edges: readonly PlacedEdge[];
}

type Point = readonly [x: number, y: number];

const ARROW_HALF = 0.38;

/** Reads the answer of Graphviz to the DOT of these sizes. */
export function readPlaces(json: string, { boxes, edges }: Sizes): Places {
  const answer = record(JSON.parse(json), "an answer");
  const [left = 0, bottom = 0, right = 0, top = 0] = numbers(answer.bb, 4);
  const turned = ([x = 0, y = 0]: readonly number[]): Point => [x - left, top - y];
  const nodes = byKey(answer.objects, "name");
  const lines = byKey(answer.edges, "id");
  return {
    width: right - left,
    height: top - bottom,
    boxes: new Map(
      boxes.map(([id]) => {
        const place = record(nodes.get(id), `node ${id}`);
        const [x, y] = turned(numbers(place.pos, 2));
        const width = finite(Number(place.width) * POINTS);
        return [id, { x: x - width / 2, y, width }];
      }),
    ),
    edges: edges.map((_, index) => {
      const line = record(lines.get(index), `edge ${index}`);
      const nameAt = line.lp === undefined ? null : turned(numbers(line.lp, 2));
      return { ...curve(line.pos, turned), nameAt };
    }),
  };
}

function byKey(items: unknown, key: string): ReadonlyMap<number, unknown> {
  const list: readonly unknown[] = Array.isArray(items) ? items : [];
  return new Map(list.map((item) => [Number(record(item, "an object")[key]), item]));
}

/** A spline as Graphviz writes it, `e,x,y x,y x,y …`: the arrow's tip, then Bézier curves. */
function curve(
  text: unknown,
  turned: (point: readonly number[]) => Point,
): Pick<PlacedEdge, "path" | "arrow"> {
  const [, tip, points = ""] = /^e,([^ ]+) (.+)$/.exec(String(text)) ?? [];
  const end = turned(numbers(tip, 2));
  const way = points.split(" ").map((point) => turned(numbers(point, 2)));
  const [start, ...rest] = way;
  const last = way.at(-1);
  if (start === undefined || last === undefined || rest.length % 3 !== 0) {
    throw new Error(`expected a spline, found ${String(text).slice(0, 40)}`);
  }
  const [dx, dy] = [end[0] - last[0], end[1] - last[1]];
  const side = (by: number): Point => [last[0] - dy * by, last[1] + dx * by];
  return {
    path: `M${written(start)}C${rest.map(written).join(" ")}`,
    arrow: `M${written(side(ARROW_HALF))}L${written(end)}L${written(side(-ARROW_HALF))}Z`,
  };
}

function written([x, y]: Point): string {
  return `${Number(x.toFixed(2))} ${Number(y.toFixed(2))}`;
}

function numbers(text: unknown, count: number): readonly number[] {
  const found = String(text).split(",").map(Number);
  if (found.length !== count) {
    throw new Error(`expected ${count} numbers, found ${String(text).slice(0, 40)}`);
  }
  return found.map(finite);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) {
    throw new Error("expected a number");
  }
  return value;
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    throw new Error(`expected ${what}, found none`);
  }
  return { ...value };
}
