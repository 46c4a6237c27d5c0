/** Where the selected variable differs between a and b: a map of |b − a|, which a kernel reads. */

import { useEffect, useState } from "preact/hooks";
import { LEVELS } from "../basics/scale";
import { sentenceText, whyWords } from "../basics/text";
import type { ChangeMap, Row } from "./data";
import * as WORDS from "./strings";
import { short } from "./words";

/** Reads the map of a row between two checkpoints. */
export type AskWhere = (row: number, a: number, b: number) => Promise<ChangeMap>;

/** A tensor of at most so many bytes is read without a click. */
const SMALL = 1 << 24;
/** A key that is held passes rows without reading them, in ms. */
const REST = 150;
/** The same stripes in all views of a page. */
const HATCH = "ckpt-viz-stripes";
const PLOT = { width: 290, least: 14, most: 150 } as const;

export interface Where {
  readonly map: ChangeMap | null;
  readonly problem: string | null;
  readonly isWaiting: boolean;
  /** Reads the map; null if there is no kernel, or it is already read. */
  readonly read: (() => void) | null;
}

interface Asked {
  readonly key: string;
  readonly map: ChangeMap | null;
  readonly problem: string | null;
}

/** The map of a row between a and b. */
export function useWhere(
  number: number,
  row: Row,
  a: number,
  b: number,
  ask: AskWhere | undefined,
): Where {
  const key = `${number} ${a} ${b}`;
  const [asked, setAsked] = useState<Asked | null>(null);
  const current = asked?.key === key ? asked : null;
  const read = () => {
    const put = (map: ChangeMap | null, problem: string | null) =>
      // An answer for other ends or another row comes too late.
      setAsked((last) => (last === null || last.key === key ? { key, map, problem } : last));
    setAsked({ key, map: null, problem: null });
    ask?.(number, a, b).then(
      (map) => put(map, null),
      (error: unknown) => put(null, whyWords(error)),
    );
  };
  const isAutomatic = ask !== undefined && bytesOf(row) <= SMALL;
  useEffect(() => {
    const timer = isAutomatic && current === null ? setTimeout(read, REST) : undefined;
    return () => clearTimeout(timer);
  }, [key, isAutomatic]);
  return {
    map: current?.map ?? null,
    problem: current?.problem ?? null,
    isWaiting: current === null ? isAutomatic : current.map === null && current.problem === null,
    read: ask === undefined || isAutomatic || current !== null ? null : read,
  };
}

/** About how many bytes a tensor has: its elements, of as many bits as its dtype is called. */
export function bytesOf({ dtype, shape }: Pick<Row, "dtype" | "shape">): number {
  const bits = Number(/\d+/.exec(dtype ?? "")?.[0] ?? 8);
  return (shape ?? []).reduce((product, size) => product * size, bits / 8);
}

interface MapProps {
  readonly where: Where;
  readonly hasKernel: boolean;
  readonly row: Row;
  readonly isCompared: boolean;
}

export function WhereChanged({ where, hasKernel, row, isCompared }: MapProps) {
  const { map, problem, isWaiting, read } = where;
  return (
    <>
      <h4>
        {isCompared ? WORDS.whereMembers : WORDS.where} <span>{WORDS.difference}</span>
      </h4>
      {map?.cells !== undefined ? (
        <Picture map={map} cells={map.cells} />
      ) : map !== null ? (
        <p class="ckh-faint">{sentenceText(map.words)}</p>
      ) : problem !== null ? (
        <p class="ckh-alarm">{problem}</p>
      ) : read !== null ? (
        <button type="button" class="ckh-button" onClick={read}>
          {WORDS.readBoth(bytesOf(row))}
        </button>
      ) : (
        <p class="ckh-faint">{isWaiting && hasKernel ? WORDS.asking : WORDS.whereNeedsKernel}</p>
      )}
    </>
  );
}

type Cells = readonly (readonly (number | null)[])[];

interface PictureProps {
  readonly map: ChangeMap;
  readonly cells: Cells;
}

function Picture({ map, cells }: PictureProps) {
  const [hint, setHint] = useState<string | null>(null);
  const [down, across] = [cells.length, cells[0]?.length ?? 0];
  const high = highestOf(cells);
  const broken = map.broken ?? [];
  const height = Math.max(PLOT.least, Math.min(PLOT.most, (PLOT.width * down) / across));
  const point = ({ currentTarget, clientX, clientY }: MouseEvent & { currentTarget: Element }) => {
    const box = currentTarget.getBoundingClientRect();
    const i = Math.min(down - 1, Math.floor((down * (clientY - box.top)) / box.height));
    const j = Math.min(across - 1, Math.floor((across * (clientX - box.left)) / box.width));
    setHint(cellWords(map, cells, i, j));
  };
  return (
    <figure class="ckh-where">
      <svg
        viewBox={`0 0 ${PLOT.width} ${height}`}
        preserveAspectRatio="none"
        style={{ height: `${height}px` }}
        role="img"
        aria-label={WORDS.whereWords(short(high), sentenceText(map.words))}
        onMouseMove={point}
        onMouseLeave={() => setHint(null)}
      >
        <g transform={`scale(${PLOT.width / across} ${height / down})`}>
          {squares(cells, high).map((path, level) =>
            path === "" ? null : <path key={level} class={`ckh-fill-${level + 1}`} d={path} />,
          )}
        </g>
        <Hatch paths={crossed(broken, PLOT.width / across, height / down)} />
      </svg>
      <p class="ckh-item ckh-heat" aria-hidden="true">
        {high === 0 ? null : (
          <>
            0{" "}
            {Array.from({ length: LEVELS }, (_, level) => (
              <i key={level} class={`ckh-level-${level + 1}`} />
            ))}{" "}
            {short(high)}
          </>
        )}
        {broken.length === 0 ? null : (
          <>
            <svg class="ckh-key-of-hatch" viewBox="0 0 16 10" role="presentation">
              <Hatch paths="M0 0h16v10H0z" />
            </svg>
            {WORDS.legend.bad}
          </>
        )}
      </p>
      <p class="ckh-faint">{hint ?? sentenceText(map.words)}</p>
    </figure>
  );
}

export const highestOf = (cells: Cells): number =>
  cells.reduce(
    (most, line) => line.reduce<number>((one, cell) => Math.max(one, cell ?? 0), most),
    0,
  );

/** For each of the eight levels, an SVG path of the cells that have it. Others are 0. */
export function squares(cells: Cells, high: number): readonly string[] {
  const paths: string[] = Array.from({ length: LEVELS }, () => "");
  cells.forEach((line, i) => {
    line.forEach((mean, j) => {
      if (mean && high > 0) {
        const level = Math.min(LEVELS, Math.max(1, Math.ceil((LEVELS * mean) / high)));
        paths[level - 1] += `M${j} ${i}h1v1h-1z`;
      }
    });
  });
  return paths;
}

/** Cells with stripes over their colour, whatever their size. */
function Hatch({ paths }: { readonly paths: string }) {
  return paths === "" ? null : (
    <>
      <pattern
        id={HATCH}
        width="4"
        height="4"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <path class="ckh-stripe" d="M0 0h1.8v4h-1.8z" />
      </pattern>
      <path fill={`url(#${HATCH})`} d={paths} />
    </>
  );
}

/** An SVG path of these cells, whose size is in px. */
export const crossed = (
  broken: readonly (readonly [number, number, number])[],
  width: number,
  height: number,
): string =>
  broken
    .map(([i, j]) => {
      const [x, y] = [j * width, i * height].map((one) => one.toFixed(2));
      return `M${x} ${y}h${width.toFixed(2)}v${height.toFixed(2)}h-${width.toFixed(2)}z`;
    })
    .join("");

/** What a cell is: its rows, its columns and its mean. */
export function cellWords(map: ChangeMap, cells: Cells, i: number, j: number): string {
  const [rows, columns] = map.matrix ?? [1, 1];
  const bad = map.broken?.find(([row, column]) => row === i && column === j)?.[2] ?? 0;
  const parts = [
    ...(rows === 1 ? [] : [`${WORDS.rows} ${placesOf(i, cells.length, rows)}`]),
    `${WORDS.columnsOfMatrix} ${placesOf(j, cells[0]?.length ?? 1, columns)}`,
  ];
  const mean = cells[i]?.[j];
  const said = [mean == null ? "" : WORDS.mean(short(mean)), bad === 0 ? "" : WORDS.notFinite(bad)];
  return `${parts.join(", ")}: ${said.filter((word) => word !== "").join(", ")}`;
}

/** The places of the matrix that are in a cell, as in Python: `i` is in `i * cells // total`. */
function placesOf(cell: number, cells: number, total: number): string {
  const [first, last] = [cell, cell + 1].map((one) => Math.ceil((one * total) / cells));
  return first === undefined || last === undefined || last - first < 2
    ? `${first}`
    : `${first}–${last - 1}`;
}
