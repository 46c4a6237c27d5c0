/** The rows as an SVG file, in the colours of the page. */

import { LEVELS, levelOf } from "../basics/scale";
import { sentenceText, shortened, visible } from "../basics/text";
import { type Cell, isBroken } from "./data";
import { columnsOf } from "./heat";
import type { List, State } from "./state";
import * as WORDS from "./strings";
import { changeWords, percent } from "./words";

/** Colours that any program for SVG knows. */
export interface Paint {
  readonly fore: string;
  readonly back: string;
  readonly alarm: string;
  readonly line: string;
  /** From the smallest change to the largest. */
  readonly levels: readonly string[];
}

const SVG = "http://www.w3.org/2000/svg";
const MOST_ROWS = 500;
const [ROW, CELL, NAME, BAR] = [20, 22, 300, 80];
const FONT = { "font-family": "system-ui, sans-serif", "font-size": 12 };
const DASHED = { fill: "none", "stroke-dasharray": "3 2" };
const STRONG = { "font-weight": 700 };
const CENTRED = { ...STRONG, "font-size": 8, "text-anchor": "middle" };

/** The colours that the page shows for some classes, which are mixed in the style sheet. */
export function paintOf(place: Element | null): Paint {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const shown = (css: string, property: "color" | "backgroundColor") => {
    const probe = document.createElement("i");
    probe.className = css;
    (place ?? document.body).append(probe);
    const colour = getComputedStyle(probe)[property];
    probe.remove();
    if (context === null) {
      return colour;
    }
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return `rgb(${[...context.getImageData(0, 0, 1, 1).data.slice(0, 3)].join(",")})`;
  };
  return {
    fore: shown("", "color"),
    back: shown("ckh-probe", "backgroundColor"),
    alarm: shown("ckh-alarm", "color"),
    line: shown("ckh-faint", "color"),
    levels: Array.from({ length: LEVELS }, (_, level) =>
      shown(`ckh-level-${level + 1}`, "backgroundColor"),
    ),
  };
}

/** The sentences, and a line for each row: its name, its cells and its change from a to b. */
export function pictureOf({ history, scale, a, b }: State, list: List, paint: Paint): string {
  const { fore, back, alarm, line } = paint;
  const columns = columnsOf(history.checkpoints.length);
  const bars = NAME + columns.length * CELL + 16;
  const width = bars + BAR + 130;
  const parts: string[] = [];
  let y = 10;
  const text = (x: number, words: string, more: Attributes = {}) =>
    parts.push(element("text", { x, y: y + 14, ...more }, escaped(words)));
  for (const { text: said, is_alarm } of history.sentences) {
    for (const words of wrapped(sentenceText(said), Math.floor(width / 7))) {
      text(10, words, is_alarm ? { fill: alarm, ...STRONG } : {});
      y += 18;
    }
  }
  const [from, to] = [a, b].map((time) => visible(history.checkpoints[time]?.title ?? ""));
  text(NAME, WORDS.columns.heat, { fill: line });
  text(bars, `${from} → ${to}`, { fill: line });
  y += 22;
  for (const one of list.lines.slice(0, MOST_ROWS)) {
    if ("layer" in one) {
      text(10, shortened(visible(one.layer) || WORDS.ofRoot, 45), STRONG);
      y += ROW;
      continue;
    }
    const { row, change } = one;
    text(10, shortened(visible(row.place), 45));
    columns.forEach(([first, end], column) => {
      const cells = row.cells.slice(first, end);
      parts.push(cellOf(cells, NAME + column * CELL, y, scale, paint));
    });
    const share = "relative" in change ? Math.min(1, change.relative ?? 1) : 0;
    if (share > 0) {
      const bar = Math.max(2, Math.round(share * BAR));
      const colour = paint.levels.at(-1) ?? fore;
      const bound = {
        x: bars + 0.5,
        y: y + 4.5,
        width: bar,
        height: 10,
        ...DASHED,
        stroke: colour,
      };
      parts.push(
        change.kind === "bound" ? element("rect", bound) : rect(bars, y + 4, bar, 11, colour),
      );
    }
    text(bars + BAR + 6, changeWords(change));
    y += ROW;
  }
  if (list.lines.length > MOST_ROWS) {
    text(10, WORDS.moreRows(list.lines.length - MOST_ROWS), { fill: line });
    y += ROW;
  }
  const low = WORDS.legendRange(percent(scale.low), percent(scale.high), scale.isCut);
  y += 8;
  paint.levels.forEach((colour, level) => {
    parts.push(rect(10 + level * CELL, y + 3, CELL - 2, 13, colour));
  });
  text(20 + LEVELS * CELL, `${low} ${WORDS.logScale}`);
  const height = y + 30;
  const box = { width, height, viewBox: `0 0 ${width} ${height}` };
  const content = rect(0, 0, width, height, back) + parts.join("");
  return element("svg", { xmlns: SVG, ...box, fill: fore, ...FONT }, content);
}

/** One column: NaN, or the largest change of its checkpoints. */
function cellOf(
  cells: readonly Cell[],
  x: number,
  y: number,
  scale: State["scale"],
  { levels, alarm, back, line }: Paint,
): string {
  const broken = cells.map(isBroken).find((what) => what !== null);
  if (broken !== undefined) {
    const place = { x: x + 10, y: y + 14, fill: back, ...CENTRED };
    return rect(x, y + 3, CELL - 2, 15, alarm) + element("text", place, broken);
  }
  const change = Math.max(
    ...cells.map((cell) => cell.relative ?? (cell.l2 || cell.left_out ? 1 : 0)),
  );
  const colour = levels[levelOf(scale, change) - 1];
  if (colour !== undefined) {
    return rect(x, y + 3, CELL - 2, 15, colour);
  }
  const isEqual = cells.some(({ state }) => state === "equal" || state === "changed");
  const frame = { x: x + 0.5, y: y + 3.5, width: CELL - 3, height: 14 };
  return isEqual
    ? element("rect", { ...frame, fill: "none", stroke: line, "stroke-opacity": 0.4 })
    : "";
}

const rect = (x: number, y: number, width: number, height: number, fill: string): string =>
  element("rect", { x, y, width, height, fill });

type Attributes = Readonly<Record<string, string | number>>;

function element(name: string, attributes: Attributes, content = ""): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
  return `<${name}${given.join("")}>${content}</${name}>`;
}

/** Words in lines of at most so many letters, where they have spaces. */
function wrapped(words: string, most: number): readonly string[] {
  const lines = [""];
  for (const word of words.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= most) {
      lines.push(word);
    } else {
      lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
    }
  }
  return lines;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const escaped = (words: string): string => words.replace(/[&<>]/g, (sign) => ESCAPES[sign] ?? "");
