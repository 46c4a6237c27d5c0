/** The explorer in one element of a page; the widget and JupyterLab both mount this. */

import { render } from "preact";
import { useMemo } from "preact/hooks";
import { decode } from "./contract";
import { readDefaults } from "./defaults";
import { Breadcrumbs } from "./draw/breadcrumbs";
import { Details } from "./draw/details";
import { Drawing } from "./draw/drawing";
import { Filters } from "./draw/filters";
import { Legend } from "./draw/legend";
import { makeTypesetter, type Typesetter, textMeasure } from "./draw/measure";
import { Minimap } from "./draw/minimap";
import { Outline } from "./draw/outline";
import { HeightHandle, Panes } from "./draw/panes";
import type { Dispatch } from "./draw/props";
import { QueryMistake } from "./draw/search";
import { Textbook } from "./draw/textbook";
import { Toolbar } from "./draw/toolbar";
import { VerdictLine } from "./draw/verdict";
import { type Graph, makeGraph } from "./graph";
import { type Ask, type Kernel, makeKernel } from "./kernel";
import { actionOf, isOurs } from "./keyboard";
import { positionWords, problemSentence } from "./signs";
import {
  type Action,
  initialState,
  isAtProblem,
  isNode,
  type Mode,
  reduce,
  type State,
} from "./state";
import * as WORDS from "./strings";
import { sentenceText, whyWords } from "./text";
import { type Engine, type LoadGraphviz, makeEngine } from "./textbook/engine";
import { chunkCount, chunkLabel, matchWords, sentence } from "./words";

/** What a host may follow and set. */
export interface ViewState {
  /** The id of the selected node. */
  readonly selected: number | null;
  /** The ids of the open nodes; null while the view's own choice stands. */
  readonly expanded: readonly number[] | null;
  /** What stands in the search box. */
  readonly query: string;
  readonly mode: Mode;
}

export interface ViewHost {
  /** Called when what a person did changed the state; not for the host's own changes. */
  onChange?(state: ViewState): void;
  /** A short text shown as a tag, e.g. "snapshot". */
  readonly note?: string;
  /** Called when the textbook view is first asked for, which is not offered without it. */
  readonly graphviz?: LoadGraphviz | undefined;
  /** Puts questions to a kernel, where there is one. */
  readonly ask?: Ask | undefined;
}

export interface View {
  /** Shows a payload; says so in the view where it cannot be read, keeping what was shown. */
  setPayload(bytes: Uint8Array | Promise<Uint8Array>): Promise<void>;
  setState(state: Partial<ViewState>): void;
  dispose(): void;
}

let views = 0;

export function mountView(el: HTMLElement, host: ViewHost = {}): View {
  const root = document.createElement("div");
  root.className = "ckpt-viz";
  el.append(root);
  const id = `ckpt-viz-${++views}`;
  const disposal = new AbortController();
  const engine = host.graphviz === undefined ? null : makeEngine(host.graphviz);
  const kernel = host.ask === undefined ? null : makeKernel(host.ask);

  let typesetterOf: TypesetterOf | null = null; // known once the page gives the view its fonts
  let graph: Graph | null = null;
  let state: State | null = null;
  let problem: string | null = null;
  let wanted: Partial<ViewState> = {};
  let payloads = 0;
  let reading = 0;

  const draw = () => {
    const typesetter = state === null ? undefined : typesetterOf?.(state.graph);
    const shown = state === null || typesetter === undefined ? null : { state, typesetter };
    const { note } = host;
    render(<Explorer {...{ shown, problem, note, id, engine, kernel, dispatch }} />, root);
  };
  const update = (action: Action) => {
    const before = state;
    state = before === null ? null : reduce(before, action);
    if (state !== before) {
      draw();
    }
  };
  const dispatch: Dispatch = (action) => {
    const before = state;
    update(action);
    const followed = ["selected", "expanded", "query", "mode"] as const;
    if (followed.some((key) => state?.[key] !== before?.[key])) {
      host.onChange?.(viewState(state));
    }
  };
  const show = () => {
    if (graph === null || !root.isConnected) {
      return; // onceVisible calls again
    }
    typesetterOf ??= typesetters(getComputedStyle(root).fontFamily);
    if (state === null) {
      const defaults = readDefaults(document.documentElement.dataset);
      state = initialState(graph, typesetterOf, defaults);
      draw();
    } else {
      update({ type: "load", graph });
    }
    wantAll();
  };
  /** Does what the host has asked for meanwhile. */
  const wantAll = () => {
    const all = wanted;
    wanted = {};
    want(all);
  };
  const want = ({ expanded, mode, query, selected }: Partial<ViewState>) => {
    if (mode !== undefined) {
      update({ type: "setMode", mode });
    }
    if (query !== undefined) {
      update({ type: "search", query });
    }
    if (expanded !== undefined) {
      update({ type: "setExpanded", expanded });
    }
    // To a host a chunk is nothing: it hears of one as of no node, and gives that back.
    if (selected !== undefined && selected !== viewState(state).selected) {
      update({ type: "select", id: selected });
    }
  };

  answerKeys(root, dispatch, disposal.signal);
  draw();
  onceVisible(root, disposal.signal, () => {
    if (state === null) {
      show();
    }
  });

  return {
    async setPayload(bytes) {
      const number = ++payloads;
      const start = performance.now();
      reading++;
      try {
        const decoded = makeGraph(await decode(await bytes));
        if (number === payloads) {
          graph = decoded;
          problem = null;
          show();
          afterPaint(() => performance.measure("ckpt-viz: payload to first paint", { start }));
        }
      } catch (error) {
        if (number === payloads) {
          problem = sentenceText(whyWords(error));
          draw();
        }
      } finally {
        reading--;
        if (reading === 0 && state !== null) {
          wantAll();
        }
      }
    },
    setState(change) {
      wanted = { ...wanted, ...change };
      if (reading === 0 && state !== null) {
        wantAll(); // else it is about the graph that is being read
      }
    },
    dispose() {
      payloads++;
      disposal.abort();
      render(null, root);
      root.remove();
    },
  };
}

type TypesetterOf = (graph: Graph) => Typesetter;

function typesetters(fontFamily: string): TypesetterOf {
  const measure = textMeasure(fontFamily);
  const known = new WeakMap<Graph, Typesetter>();
  return (graph) => {
    const typesetter = known.get(graph) ?? makeTypesetter(graph, measure);
    known.set(graph, typesetter);
    return typesetter;
  };
}

function answerKeys(root: HTMLElement, dispatch: Dispatch, signal: AbortSignal): void {
  const act = (event: KeyboardEvent) => {
    const action = actionOf(event);
    const isFree = !isTakenByControl(event);
    if (event.key === "/" && isOurs(event) && isFree) {
      event.preventDefault();
      root.querySelector<HTMLInputElement>(".ckv-search input")?.select();
    }
    const clicked = CLICKED[event.key];
    if (clicked !== undefined && isOurs(event) && isFree) {
      root.querySelector<HTMLElement>(clicked)?.click();
      if (event.key === "Enter") {
        setTimeout(() => root.querySelector<HTMLElement>(".ckv-details")?.focus());
      }
    }
    const isStep = action?.type === "stepProblem" && !isTyped(event);
    if (action !== undefined && (isStep || isFree)) {
      event.preventDefault();
      event.stopPropagation();
      dispatch(action);
    }
  };
  // JupyterLab would take "a" or "dd" for commands of the notebook. It leaves a key alone if the
  // focused element itself says so, and asks at the document, so this must come earlier.
  const claim = (event: KeyboardEvent) => {
    if (event.target instanceof Element && root.contains(event.target)) {
      const isOfBox = isTextBox(event.target) && !(event.ctrlKey || event.metaKey || event.altKey);
      event.target.toggleAttribute(
        "data-lm-suppress-shortcuts",
        isOfBox || isOurs(event) || closesPanel(event.target, event),
      );
    }
  };
  root.addEventListener("keydown", act, { signal });
  window.addEventListener("keydown", claim, { capture: true, signal });
}

/** The buttons that keys stand for. */
const CLICKED: Readonly<Record<string, string>> = {
  "?": ".ckv-help-button",
  Enter: ".ckv-tabs [data-tab=details]",
  c: ".ckv-node-name .ckv-copy",
  k: ".ckv-key .ckv-copy",
};

/** Calls once the element has a size, and so its place in a page. */
function onceVisible(element: HTMLElement, signal: AbortSignal, call: () => void): void {
  const observer = new ResizeObserver(() => {
    if (element.clientWidth > 0) {
      observer.disconnect();
      call();
    }
  });
  observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect());
}

/** Calls once what was drawn is on the screen: messages come after the frame they are posted in. */
function afterPaint(call: () => void): void {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      call();
    };
    port2.postMessage(null);
  });
}

function viewState(state: State | null): ViewState {
  return {
    selected: state?.selected != null && isNode(state, state.selected) ? state.selected : null,
    expanded:
      state === null || state.isDefaultExpansion
        ? null
        : [...state.expanded].filter((id) => isNode(state, id)),
    query: state?.query ?? "",
    mode: state?.mode ?? "highlight",
  };
}

/** Boxes take all that is typed, buttons what presses them; steps through problems are neither. */
function isTakenByControl({ key, target }: KeyboardEvent): boolean {
  const isControl = target instanceof Element && target.matches("button, input, summary");
  return isTextBox(target) || (isControl && (key === " " || key.length > 1));
}

/** Whether Escape is about what stands over the explorer. */
function closesPanel(target: Element, { key }: KeyboardEvent): boolean {
  return key === "Escape" && target.closest(".ckv-help, .ckv-menu[open]") !== null;
}

function isTextBox(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === "search";
}

/** Whether a key writes something, a bracket say, which elsewhere steps through problems. */
function isTyped({ key, target }: KeyboardEvent): boolean {
  return key.length === 1 && isTextBox(target);
}

interface ExplorerProps {
  readonly shown: { readonly state: State; readonly typesetter: Typesetter } | null;
  readonly problem: string | null;
  readonly note: string | undefined;
  readonly id: string;
  readonly engine: Engine | null;
  readonly kernel: Kernel | null;
  readonly dispatch: Dispatch;
}

function Explorer({ shown, problem, ...rest }: ExplorerProps) {
  const message =
    problem === null ? null : (
      <p class="ckv-problem" role="alert">
        {problem}
      </p>
    );
  if (shown === null) {
    return message ?? <p class="ckv-hint">{WORDS.loading}</p>;
  }
  return (
    <>
      {message}
      <Shown {...shown} {...rest} />
    </>
  );
}

type ShownProps = Omit<ExplorerProps, "shown" | "problem"> & NonNullable<ExplorerProps["shown"]>;

function Shown({ state, typesetter, note, id, engine, kernel, dispatch }: ShownProps) {
  // Panning, zooming and a new size, the drawing's first one too, change the drawing alone.
  const { drawn, found, mode, problem, query, rows, selected } = state;
  const still = useMemo(
    () => ({
      above: (
        <>
          <Toolbar
            state={state}
            note={note}
            id={id}
            offersTextbook={engine !== null}
            kernel={kernel}
            typesetter={typesetter}
            dispatch={dispatch}
          />
          <QueryMistake state={state} id={id} />
          <VerdictLine state={state} dispatch={dispatch} />
          <Breadcrumbs state={state} dispatch={dispatch} />
        </>
      ),
      outline: <Outline state={state} dispatch={dispatch} id={id} />,
      details: <Details state={state} kernel={kernel} dispatch={dispatch} />,
      below: (
        <>
          <div class="ckv-foot">
            <Filters state={state} dispatch={dispatch} />
            <Legend state={state} dispatch={dispatch} />
          </div>
          <div class="ckv-live" role="status" aria-live="polite">
            {announcement(state)}
          </div>
          <HeightHandle />
        </>
      ),
    }),
    [drawn, found, mode, problem, query, rows, selected],
  );
  return (
    <>
      {still.above}
      <Panes id={id}>
        {{
          outline: still.outline,
          drawing:
            drawn === "textbook" && engine !== null ? (
              <Textbook state={state} typesetter={typesetter} engine={engine} dispatch={dispatch} />
            ) : (
              <>
                <Drawing state={state} typesetter={typesetter} dispatch={dispatch} />
                <Minimap state={state} id={id} dispatch={dispatch} />
              </>
            ),
          details: still.details,
        }}
      </Panes>
      {still.below}
    </>
  );
}

/** What a screen reader says: matches, the problem that was gone to, the selected node. */
function announcement(state: State): string {
  const { graph, problem, selected } = state;
  const { overlay } = graph;
  const matches = matchWords(state.found, selected);
  const chunk = selected === null ? null : state.tree.chunk(selected);
  const selection =
    chunk !== null
      ? `${chunkLabel(graph, chunk)}, ${chunkCount(chunk)}`
      : selected === null
        ? ""
        : sentence(graph, selected);
  const node = [matches, selection].filter((words) => words !== "").join(": ");
  return overlay === null || problem === null || !isAtProblem(state)
    ? node
    : `${positionWords(overlay, problem)}: ${problemSentence(overlay, problem)} ${node}`;
}
