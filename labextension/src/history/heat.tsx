/** The change at each save of one variable, as a row of cells, and its norm as a curve. */

import { levelOf, type Scale } from "../basics/scale";
import { visible } from "../basics/text";
import { type Cell, type Checkpoint, isBroken, isThere, type Row } from "./data";
import * as WORDS from "./strings";
import { percent, short } from "./words";

/** More checkpoints than these share columns. */
const MOST_COLUMNS = 48;
/** All cells of a row together, in px. */
const WIDTH = 250;
const WIDEST = 26;

/** The columns of the heat: for each the first checkpoint, and the one after the last. */
export function columnsOf(count: number): readonly (readonly [number, number])[] {
  const columns = Math.min(count, MOST_COLUMNS);
  const start = (column: number) => Math.round((column * count) / columns);
  return Array.from({ length: columns }, (_, column) => [start(column), start(column + 1)]);
}

export const cellWidth = (columns: number) => Math.min(WIDEST, Math.floor(WIDTH / columns));

interface Look {
  readonly look: "heat" | "equal" | "bad" | "new" | "other" | "none";
  readonly level: number;
  readonly word: string;
  readonly hint: string;
}

interface HeatProps {
  readonly row: Row;
  readonly checkpoints: readonly Checkpoint[];
  readonly scale: Scale;
  readonly isCompared: boolean;
}

export function Heat({ row, checkpoints, scale, isCompared }: HeatProps) {
  const columns = columnsOf(checkpoints.length);
  const isFirst = row.cells.findIndex(isThere);
  const looks = columns.map(([from, to]) => {
    const each = row.cells.slice(from, to).map((cell, place) => {
      const time = from + place;
      const title = visible(checkpoints[time]?.title ?? "");
      return lookOf(cell, title, scale, time > 0 && time === isFirst, isCompared);
    });
    return each.reduce((one, other) => (weight(other) > weight(one) ? other : one));
  });
  return (
    <span class="ckh-heat" role="img" aria-label={summary(looks)}>
      {looks.map(({ look, level, word, hint }, column) => (
        <i key={column} class={`ckh-${look} ckh-level-${level}`} title={hint}>
          {word}
        </i>
      ))}
    </span>
  );
}

const WEIGHTS = { bad: 4, other: 3, new: 2, heat: 1, equal: 0, none: -1 } as const;
const weight = ({ look, level }: Look) => WEIGHTS[look] + level / 100;

/** How one cell looks, and what it says. */
export function lookOf(
  cell: Cell,
  title: string,
  scale: Scale,
  isNew: boolean,
  isCompared: boolean,
): Look {
  const broken = isBroken(cell);
  if (broken !== null) {
    const count = (broken === "NaN" ? cell.values?.nan : cell.values?.inf) ?? 0;
    const hint = WORDS.isAs(title, WORDS.elements(broken, count));
    return { look: "bad", level: 0, word: broken, hint };
  }
  const hint = WORDS.isAs(title, visible(cell.error ?? WORDS.cellStates[cell.state] ?? cell.state));
  if (cell.left_out && !cell.l2) {
    const said = WORDS.isAs(title, WORDS.toOrFromBroken(cell.left_out));
    return { look: "heat", level: 8, word: "", hint: said };
  }
  if (cell.relative || cell.left_out) {
    const share = percent(cell.relative ?? null);
    const said = isCompared ? WORDS.apartBy(title, share) : WORDS.changedBy(title, share);
    const more = cell.left_out ? `, ${WORDS.without(cell.left_out)}` : "";
    const level = levelOf(scale, cell.relative ?? 1);
    return { look: level === 0 ? "equal" : "heat", level, word: "", hint: said + more };
  }
  switch (cell.relative === 0 ? "equal" : cell.state) {
    case "changed":
      // Without a share, the norm before was 0.
      return cell.l2 === 0
        ? { look: "equal", level: 0, word: "", hint }
        : { look: "heat", level: 8, word: "", hint: WORDS.changedBy(title, WORDS.fromZero) };
    case "equal":
      return { look: "equal", level: 0, word: "", hint };
    case "first":
      return { look: isNew ? "new" : "none", level: 0, word: isNew ? "+" : "", hint };
    case "damaged":
      return { look: "bad", level: 0, word: WORDS.BROKEN, hint };
    case "reshaped":
      return { look: "other", level: 0, word: WORDS.OTHER, hint };
    default:
      return { look: "none", level: 0, word: cell.state === "unread" ? "?" : "", hint };
  }
}

/** What a screen reader says: what is loud, or the first and last cell. */
function summary(looks: readonly Look[]): string {
  const loud = looks.filter(({ look }) => look === "bad" || look === "other" || look === "new");
  const told = loud.length > 0 ? loud : looks.slice(-1);
  return told
    .slice(0, 3)
    .map(({ hint }) => hint)
    .join("; ");
}

const CURVE = { width: 92, height: 18 } as const;

interface CurveProps {
  readonly cells: readonly Cell[];
  readonly a: number;
  readonly b: number;
  /** Members have no order, so their norms are points. */
  readonly isCompared: boolean;
}

export function Curve({ cells, a, b, isCompared }: CurveProps) {
  const norms = cells.map((cell) => (isBroken(cell) === null ? cell.values?.l2 : undefined));
  const known = norms.filter((norm) => norm !== undefined);
  if (known.length === 0) {
    return null;
  }
  const [low, high] = known.reduce(
    ([least, most], norm) => [Math.min(least, norm), Math.max(most, norm)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  const { width, height } = CURVE;
  const x = (time: number) => 3 + ((width - 10) * time) / Math.max(1, cells.length - 1);
  const y = (norm: number) =>
    high === low ? height / 2 : height - 3 - ((height - 6) * (norm - low)) / (high - low);
  let path = "";
  let isDrawn = false;
  norms.forEach((norm, time) => {
    path +=
      norm === undefined ? "" : `${isDrawn ? "L" : "M"}${x(time).toFixed(1)} ${y(norm).toFixed(1)}`;
    isDrawn = norm !== undefined;
  });
  const end = norms.reduce<number>((last, norm, time) => (norm === undefined ? last : time), -1);
  const bad = cells.findIndex((cell) => isBroken(cell) !== null);
  const words = WORDS.normWords(short(known[0]), short(known.at(-1)));
  return (
    <svg class="ckh-curve" width={width} height={height} role="img" aria-label={words}>
      <title>{words}</title>
      {[a, b].map((time) => (
        <line key={time} x1={x(time)} x2={x(time)} y1="0" y2={height} />
      ))}
      {isCompared ? null : <path d={path} />}
      {norms.map((norm, time) =>
        norm !== undefined && (isCompared || time === end) ? (
          <circle key={time} cx={x(time)} cy={y(norm)} r="2" />
        ) : null,
      )}
      {bad < 0 ? null : (
        <text x={x(bad)} y={height / 2 + 4}>
          {WORDS.BROKEN}
        </text>
      )}
    </svg>
  );
}
