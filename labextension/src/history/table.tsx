/** The rows: one for each variable. Only those in sight are in the page. */

import { useEffect, useState } from "preact/hooks";
import { visible } from "../basics/text";
import { useCutNames } from "../draw/cut";
import { useResized } from "../draw/resizing";
import type { Change } from "./changes";
import { Curve, cellWidth, columnsOf, Heat } from "./heat";
import type { Action, Layer, List, Shown, State } from "./state";
import * as WORDS from "./strings";
import { changeWords, shapeOf, short } from "./words";

const ROW = 24;
/** Rows above and below those in sight, for a fast wheel. */
const MORE = 10;
/** The longest bar, in px. */
const BAR = 74;

interface TableProps {
  readonly id: string;
  readonly state: State;
  readonly list: List;
  readonly dispatch: (action: Action) => void;
}

export function Table({ id, state, list, dispatch }: TableProps) {
  const scroller = useCutNames<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const { shown, lines } = list;
  const selected = shown.findIndex(({ number }) => number === state.selected);
  const place = lines.findIndex((one) => "row" in one && one.number === state.selected);
  useResized(
    () => scroller.current,
    ({ clientHeight }) => setHeight(clientHeight),
  );
  useEffect(() => {
    const box = scroller.current;
    if (box === null || place < 0) {
      return;
    }
    const head = box.querySelector<HTMLElement>(".ckh-head")?.offsetHeight ?? 0;
    // The line of its layer is in sight, too.
    const above = lines[place - 1];
    const first = above !== undefined && "layer" in above ? place - 1 : place;
    const [low, high] = [first * ROW, (place + 1) * ROW + head];
    if (low < box.scrollTop) {
      box.scrollTop = low;
    } else if (high > box.scrollTop + box.clientHeight) {
      box.scrollTop = high - box.clientHeight;
    }
  }, [place, state.selected, state.order]);
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / ROW) - 2);
    const to = nextPlace(event.key, selected, shown.length, page);
    const row = to === null ? undefined : shown[to];
    if (row !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      dispatch({ type: "select", row: row.number });
    }
  };
  const first = Math.max(0, Math.floor(top / ROW) - MORE);
  const rows = lines.slice(first, Math.ceil((top + height) / ROW) + MORE);
  const columns = columnsOf(state.history.checkpoints.length);
  return (
    <div
      ref={scroller}
      class={state.history.distances === null ? "ckh-table" : "ckh-table ckh-compared"}
      role="grid"
      aria-label={WORDS.table}
      aria-rowcount={lines.length + 1}
      aria-activedescendant={place < 0 ? undefined : `${id}-row-${state.selected}`}
      tabIndex={0}
      style={{ "--ckh-columns": columns.length, "--ckh-cell": `${cellWidth(columns.length)}px` }}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <Head state={state} columns={columns} />
      <div role="rowgroup" class="ckh-body" style={{ height: `${lines.length * ROW}px` }}>
        {rows.map((one, index) =>
          "layer" in one ? (
            <LayerLine key={one.layer} place={first + index} layer={one} />
          ) : (
            <Line
              key={one.number}
              id={`${id}-row-${one.number}`}
              place={first + index}
              shown={one}
              {...{ state, dispatch }}
            />
          ),
        )}
      </div>
    </div>
  );
}

/** The row that a key selects; null if the key does something else. */
export function nextPlace(key: string, from: number, count: number, page: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowUp: from - 1,
    ArrowDown: from + 1,
    PageUp: from - page,
    PageDown: from + page,
    Home: 0,
    End: count - 1,
  };
  const to = steps[key];
  return to === undefined || count === 0 ? null : Math.min(count - 1, Math.max(0, to));
}

interface HeadProps {
  readonly state: State;
  readonly columns: readonly (readonly [number, number])[];
}

function Head({ state: { history, a, b }, columns }: HeadProps) {
  const isCompared = history.distances !== null;
  const letters = columns.map(([from, to]) =>
    [a, b].map((time, end) => (time >= from && time < to ? "ab"[end] : "")).join(""),
  );
  const head = (look: string, words: string) => (
    <span role="columnheader" class={look}>
      {words}
    </span>
  );
  return (
    <div role="rowgroup" class="ckh-head">
      <div role="row" class="ckh-row" aria-rowindex={1}>
        {head("", WORDS.columns.name)}
        {head("ckh-shape", WORDS.columns.shape)}
        <span role="columnheader" class="ckh-over">
          {isCompared ? WORDS.distanceColumn : WORDS.columns.heat}
          <span class="ckh-heat ckh-letters" aria-hidden="true">
            {letters.map((letter, column) => (
              <i key={column}>{letter}</i>
            ))}
          </span>
        </span>
        {head("ckh-curves", isCompared ? WORDS.normsOfMembers : WORDS.columns.norm)}
        {head("", isCompared ? WORDS.columns.spread : WORDS.columns.change)}
        {isCompared ? null : head("ckh-max", WORDS.columns.max)}
        {head("ckh-norms", WORDS.columns.norms)}
      </div>
    </div>
  );
}

interface LayerProps {
  readonly place: number;
  readonly layer: Layer;
}

function LayerLine({ place, layer: { layer, count, largest } }: LayerProps) {
  return (
    <div
      role="row"
      class="ckh-row ckh-layer"
      aria-rowindex={place + 2}
      style={{ top: `${place * ROW}px` }}
    >
      <span role="gridcell" aria-colspan={7}>
        <b>{layer === "" ? WORDS.ofRoot : visible(layer)}</b>{" "}
        <span class="ckh-faint">{WORDS.layerWords(count, largestWords(largest))}</span>
      </span>
    </div>
  );
}

function largestWords(change: Change): string {
  const words = changeWords(change);
  return "relative" in change && change.relative !== 0 ? WORDS.largestChange(words) : words;
}

interface LineProps {
  readonly id: string;
  readonly place: number;
  readonly shown: Shown;
  readonly state: State;
  readonly dispatch: (action: Action) => void;
}

function Line({ id, place, shown: { number, row, change }, state, dispatch }: LineProps) {
  const { history, scale, a, b, selected } = state;
  const isCompared = history.distances !== null;
  const norms = [a, b].map((time) => row.cells[time]?.values?.l2);
  const isInLayer = state.order === "layer";
  return (
    <div
      id={id}
      role="row"
      class="ckh-row"
      aria-rowindex={place + 2}
      aria-selected={number === selected}
      style={{ top: `${place * ROW}px` }}
      onClick={() => dispatch({ type: "select", row: number })}
    >
      <span
        role="gridcell"
        class={isInLayer ? "ckh-name ckh-in-layer" : "ckh-name"}
        title={visible(row.name)}
      >
        <Place
          place={visible(isInLayer ? row.place.slice(row.place.lastIndexOf(".") + 1) : row.place)}
        />
      </span>
      <span role="gridcell" class="ckh-shape">
        {shapeOf(row.shape)}
      </span>
      <span role="gridcell">
        <Heat {...{ row, scale, isCompared }} checkpoints={history.checkpoints} />
      </span>
      <span role="gridcell" class="ckh-curves">
        <Curve {...{ a, b, isCompared }} cells={row.cells} />
      </span>
      <span role="gridcell">
        <Bar change={change} />
      </span>
      {isCompared ? null : (
        <span role="gridcell" class="ckh-max">
          {change.kind === "exact" && change.maxAbs !== null ? short(change.maxAbs) : ""}
        </span>
      )}
      <span role="gridcell" class="ckh-norms">
        {short(norms[0], 3)} → {short(norms[1], 3)}
      </span>
    </div>
  );
}

/** The owner of a variable is bold: `block0.query` `.kernel`. */
export function Place({ place }: { readonly place: string }) {
  const end = place.lastIndexOf(".");
  return end < 0 ? (
    <b class="ckv-cut">{place}</b>
  ) : (
    <>
      <b class="ckv-cut">{place.slice(0, end)}</b>
      <span class="ckh-faint"> · </span>
      <span class="ckh-last">{place.slice(end + 1)}</span>
    </>
  );
}

/** A bar of the change with its number; a hollow one is a bound. */
function Bar({ change }: { readonly change: Change }) {
  const words = changeWords(change);
  const isMeasured = change.kind === "exact" || change.kind === "bound";
  if (!isMeasured || change.relative === 0) {
    const isBad = change.kind === "bad" || change.kind === "damaged";
    const look = isBad ? "ckh-badge" : change.kind === "new" ? "ckh-new-word" : "ckh-faint";
    return <span class={look}>{words}</span>;
  }
  const length = BAR * Math.min(1, change.relative ?? 1);
  const isCut = change.relative === null || change.relative > 1;
  return (
    <span class="ckh-bars" title={words}>
      <span
        class={`ckh-bar ckh-${change.kind}${isCut ? " ckh-cut" : ""}`}
        style={{ width: `${Math.max(3, Math.round(length))}px` }}
      />
      {words}
    </span>
  );
}
