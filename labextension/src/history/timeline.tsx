/** The view of a history in one element of a page. */

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { LEVELS } from "../basics/scale";
import { sentenceText, visible, whyWords } from "../basics/text";
import { useResized } from "../draw/resizing";
import { insertFrom } from "../host/cells";
import { claimKeys } from "../host/claiming";
import { followGround } from "../host/ground";
import { type Cell, decodeHistory, type History } from "./data";
import { Details } from "./details";
import { Exports, type Write } from "./exports";
import type { RestoreCode, Restoring } from "./remedy";
import {
  type Action,
  initialState,
  type List,
  listOf,
  ORDERS,
  type Order,
  reduce,
  type State,
} from "./state";
import * as WORDS from "./strings";
import { Strip } from "./strip";
import { Table } from "./table";
import type { AskWhere } from "./where";
import { percent } from "./words";

/** What a kernel or Jupyter's server answers: ckpt_viz/answers/timeline/questions.py. */
export interface Kernel {
  /** The cells of a row with their histograms. */
  cells(row: number): Promise<readonly Cell[]>;
  /** For each row the cell of b, against a. */
  between(a: number, b: number): Promise<readonly Cell[]>;
}

export interface Host {
  readonly kernel?: Kernel | undefined;
  /** Reads where a row changed from a to b. */
  readonly where?: AskWhere | undefined;
  /** The code that restores a checkpoint, with the names of the program. */
  readonly restoreCode?: ((checkpoint: number) => Promise<RestoreCode>) | undefined;
  /** Writes a file in all digits. Without it, the view writes what it has. */
  readonly file?: Write | undefined;
  /** Called after a user has moved a or b. */
  onMove?(a: number, b: number): void;
  /** Called after a user has chosen the order of the rows. */
  onOrder?(order: Order): void;
}

export interface Timeline {
  /** Shows packed JSON. If it is unreadable, shows the error. */
  setPayload(packed: Uint8Array | Promise<Uint8Array>): Promise<void>;
  /** Shows a history, or more of the one that is shown: what the user has chosen stays. */
  show(history: History): void;
  setEnds(a: number, b: number): void;
  setOrder(order: Order): void;
  dispose(): void;
}

let views = 0;

export function mountTimeline(el: HTMLElement, host: Host = {}): Timeline {
  const root = document.createElement("div");
  root.className = "ckpt-viz-timeline";
  el.append(root);
  const id = `ckpt-viz-timeline-${++views}`;
  let state: State | null = null;
  /** What the host has chosen, by type and end: it comes before a history. */
  const chosen = new Map<string, Action>();
  let problem: string | null = null;
  let payloads = 0;
  const disposal = new AbortController();
  const draw = () => {
    const props = { id, state, host, dispatch, insert: insertFrom(root) };
    render(<Content {...props} said={problem ?? WORDS.loading} />, root);
  };
  const dispatch = (action: Action) => {
    const before = state;
    if (before === null) {
      return;
    }
    state = reduce(before, action);
    draw();
    if (state.a !== before.a || state.b !== before.b) {
      host.onMove?.(state.a, state.b);
    }
    if (state.order !== before.order) {
      chosen.set("order", { type: "order", order: state.order });
      host.onOrder?.(state.order);
    }
  };
  const choose = (what: string, action: Action) => {
    chosen.set(what, action);
    if (state !== null) {
      state = reduce(state, action);
      draw();
    }
  };
  answerKeys(root, dispatch, disposal.signal);
  followGround(root, el, disposal.signal);
  draw();
  return {
    async setPayload(packed) {
      const number = ++payloads;
      try {
        const history = await decodeHistory(await packed);
        if (number !== payloads || disposal.signal.aborted) {
          return;
        }
        state = [...chosen.values()].reduce(reduce, initialState(history));
        problem = null;
      } catch (error) {
        problem = sentenceText(whyWords(error));
      }
      if (!disposal.signal.aborted) {
        draw();
      }
    },
    show(history) {
      state = state === null ? initialState(history) : reduce(state, { type: "update", history });
      problem = null;
      draw();
    },
    setEnds(a, b) {
      choose("a", { type: "move", end: "a", to: a });
      choose("b", { type: "move", end: "b", to: b });
    },
    setOrder: (order) => choose("order", { type: "order", order }),
    dispose() {
      disposal.abort();
      render(null, root);
      root.remove();
    },
  };
}

/** The action of a key, if it is one of the view's. */
export function actionOf({ key, code, shiftKey }: KeyboardEvent): Action | "search" | null {
  const by = code === "Comma" || key === "," ? -1 : code === "Period" || key === "." ? 1 : null;
  if (by !== null) {
    return { type: "step", end: shiftKey ? "a" : "b", by };
  }
  return key === "n" ? { type: "goToBad" } : key === "/" ? "search" : null;
}

function answerKeys(
  root: HTMLElement,
  dispatch: (action: Action) => void,
  signal: AbortSignal,
): void {
  const isTyped = ({ target }: Event) => target instanceof HTMLInputElement;
  const isPlain = ({ ctrlKey, metaKey, altKey }: KeyboardEvent) => !ctrlKey && !metaKey && !altKey;
  const act = (event: KeyboardEvent) => {
    const action = isTyped(event) || !isPlain(event) ? null : actionOf(event);
    if (action === null) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (action === "search") {
      root.querySelector<HTMLInputElement>("input")?.focus();
    } else {
      dispatch(action);
    }
  };
  root.addEventListener("keydown", act, { signal });
  const runsCell = ({ key, shiftKey }: KeyboardEvent) => shiftKey && key === "Enter";
  const claims = (event: KeyboardEvent) =>
    isPlain(event) && event.key !== "Escape" && !runsCell(event);
  claimKeys(root, claims, signal);
}

interface ViewProps {
  readonly id: string;
  readonly state: State;
  readonly host: Host;
  readonly dispatch: (action: Action) => void;
  readonly insert: Restoring["insert"];
}

interface ContentProps extends Omit<ViewProps, "state"> {
  readonly state: State | null;
  /** What the view says without a history. */
  readonly said: string;
}

function Content({ state, said, ...props }: ContentProps) {
  return state === null ? <p role="status">{said}</p> : <View state={state} {...props} />;
}

function View({ id, state, host, dispatch, insert }: ViewProps) {
  const { history, a, b } = state;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const list = useList(state);
  const [computing, setComputing] = useState<string | null>(null);
  const shown = list.shown.find(({ number }) => number === state.selected) ?? null;
  const cells = useCells(shown?.number ?? null, history, host.kernel);
  const { kernel } = host;
  const compute = async () => {
    setComputing(WORDS.computing);
    try {
      const found = await kernel?.between(a, b);
      if (found !== undefined) {
        dispatch({ type: "computed", a, b, cells: found });
      }
      setComputing(null);
    } catch (error) {
      setComputing(whyWords(error));
    }
  };
  const ask = kernel === undefined || computing === WORDS.computing ? null : () => void compute();
  return (
    <section class="ckh-view" aria-label={WORDS.view} ref={box}>
      <Toolbar {...{ state, list, dispatch }} write={host.file} />
      <Strip {...{ state, width, dispatch }} />
      <Sentences {...{ state, dispatch }} />
      <Note state={state} list={list} computing={computing} compute={ask} />
      <div class="ckh-panes">
        {list.shown.length === 0 ? (
          <p class="ckh-table ckh-faint ckh-nothing">{WORDS.nothingFound}</p>
        ) : (
          <Table {...{ id, state, list, dispatch }} />
        )}
        <Details
          {...{ state, shown, cells }}
          compute={ask}
          ask={host.where}
          restoring={{ code: host.restoreCode, insert }}
        />
      </div>
      <Foot {...{ state, list, dispatch }} />
    </section>
  );
}

interface ToolbarProps extends FootProps {
  readonly write: Write | undefined;
}

function Toolbar({ state, list, dispatch, write }: ToolbarProps) {
  const { history, order, query } = state;
  const { checkpoints, distances } = history;
  const count = checkpoints.length;
  const [first, last] = [checkpoints[0], checkpoints.at(-1)].map((one) =>
    visible(one?.title ?? ""),
  );
  return (
    <div class="ckh-toolbar">
      <b class="ckh-range">{WORDS.range(first ?? "", last ?? "")}</b>
      <span class="ckh-tag">
        {distances === null ? WORDS.checkpoints(count) : WORDS.members(count)}
      </span>
      <span class="ckh-faint">{visible(history.order)}</span>
      <span class="ckh-space" />
      <span role="group" aria-label={WORDS.order} class="ckh-choice">
        {ORDERS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={order === one}
            onClick={() => dispatch({ type: "order", order: one })}
          >
            {WORDS.orders[one]}
          </button>
        ))}
      </span>
      <input
        type="search"
        value={query}
        placeholder={WORDS.searchHint}
        title={WORDS.search}
        aria-label={WORDS.search}
        aria-invalid={list.mistake !== null}
        onInput={({ currentTarget }) => dispatch({ type: "query", query: currentTarget.value })}
      />
      <span class={list.mistake === null ? "ckh-faint" : "ckh-alarm"} role="status">
        {list.mistake !== null
          ? WORDS.mistake(list.mistake.place + 1, list.mistake.expected)
          : WORDS.variables(list.shown.filter(({ row }) => !row.is_state).length, list.variables)}
      </span>
      <Exports {...{ state, write }} />
    </div>
  );
}

function Sentences({ state, dispatch }: Pick<ViewProps, "state" | "dispatch">) {
  const { history, firstBad, a, b } = state;
  const distance = history.distances?.[a]?.[b];
  return (
    <div class="ckh-sentences">
      <p>
        {history.sentences.map(({ text, is_alarm }) => (
          <span key={text} class={is_alarm ? "ckh-alarm" : ""}>
            {is_alarm ? "▲ " : ""}
            {sentenceText(text)}{" "}
          </span>
        ))}
        {firstBad === null ? null : (
          <button type="button" class="ckh-link" onClick={() => dispatch({ type: "goToBad" })}>
            {firstBad.what === "NaN" ? WORDS.goToNaN : WORDS.goToInf}
          </button>
        )}
      </p>
      {distance == null || a === b ? null : <p>{WORDS.distance(percent(distance))}</p>}
    </div>
  );
}

interface NoteProps {
  readonly state: State;
  readonly list: List;
  readonly computing: string | null;
  readonly compute: (() => void) | null;
}

/** Which changes the bars show, if they are not all exact from the start. */
function Note({ state, list, computing, compute }: NoteProps) {
  const isComputed = state.between !== null;
  if (!list.hasBounds && !isComputed && computing === null) {
    return null;
  }
  return (
    <p class="ckh-note" role="status">
      {computing ?? (isComputed ? WORDS.computedNote : WORDS.boundsNote)}{" "}
      {list.hasBounds && compute !== null ? (
        <button type="button" class="ckh-link" onClick={compute}>
          {WORDS.compute}
        </button>
      ) : null}
    </p>
  );
}

interface FootProps {
  readonly state: State;
  readonly list: List;
  readonly dispatch: (action: Action) => void;
}

function Foot({ state, list, dispatch }: FootProps) {
  const { scale, hasStates, history } = state;
  const isCompared = history.distances !== null;
  return (
    <div class="ckh-foot">
      <span class="ckh-item">
        {isCompared ? WORDS.legendSpread : WORDS.legendChange}
        <span class="ckh-heat" aria-hidden="true">
          {Array.from({ length: LEVELS }, (_, level) => (
            <i key={level} class={`ckh-heat-cell ckh-level-${level + 1}`} />
          ))}
        </span>
        {WORDS.legendRange(percent(scale.low), percent(scale.high), scale.isCut)} {WORDS.logScale}
      </span>
      <span class="ckh-item ckh-heat">
        <i class="ckh-equal" />
        {WORDS.legend.equal}
      </span>
      <span class="ckh-item ckh-heat">
        <i class="ckh-bad">{WORDS.statistics.nan}</i>
        {WORDS.legend.bad}
      </span>
      <span class="ckh-item ckh-heat">
        <i class="ckh-new">+</i>
        {WORDS.legend.first}
      </span>
      {list.states > 0 && list.variables > 0 ? (
        <button type="button" class="ckh-link" onClick={() => dispatch({ type: "toggleStates" })}>
          {WORDS.states(list.states, hasStates)}
        </button>
      ) : null}
      <span class="ckh-space" />
      <span class="ckh-item">
        <kbd>,</kbd> <kbd>.</kbd> {WORDS.keys.b}
      </span>
      <span class="ckh-item">
        <kbd>⇧ ,</kbd> <kbd>⇧ .</kbd> {WORDS.keys.a}
      </span>
      {state.firstBad === null ? null : (
        <span class="ckh-item">
          <kbd>n</kbd> {WORDS.keys.alarm}
        </span>
      )}
    </div>
  );
}

/** The rows, computed again only if something changed that decides them. */
function useList(state: State): List {
  const last = useRef<readonly [State, List] | null>(null);
  const before = last.current?.[0];
  const keys = ["history", "a", "b", "order", "query", "hasStates", "between"] as const;
  if (before === undefined || keys.some((key) => before[key] !== state[key])) {
    last.current = [state, listOf(state)];
  }
  return last.current?.[1] ?? listOf(state);
}

const NO_CELLS: readonly Cell[] = [];

/** The cells of a row with histograms: those of the payload, or the kernel's. */
function useCells(
  row: number | null,
  history: History,
  kernel: Kernel | undefined,
): readonly Cell[] | null {
  const cells = history.rows[row ?? -1]?.cells ?? NO_CELLS;
  const isComplete =
    kernel === undefined ||
    cells.some(({ values }) => values?.histogram !== undefined) ||
    !cells.some(({ values }) => values?.mean !== undefined);
  const [asked, setAsked] = useState<readonly [readonly Cell[], readonly Cell[]] | null>(null);
  useEffect(() => {
    if (row === null || isComplete) {
      return;
    }
    let isOld = false;
    const show = (found: readonly Cell[]) => isOld || setAsked([cells, found]);
    kernel.cells(row).then(show, () => show(cells));
    return () => {
      isOld = true;
    };
  }, [row, cells, isComplete]);
  return isComplete ? cells : asked?.[0] === cells ? asked[1] : null;
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(1000);
  useResized(
    () => box.current,
    ({ clientWidth }) => setWidth(clientWidth),
  );
  return width;
}
