/** The explorer in one element of a page; the widget and JupyterLab both mount this. */

import { render } from "preact";
import { decode } from "./contract";
import { Details } from "./draw/details";
import { Drawing } from "./draw/drawing";
import { Legend } from "./draw/legend";
import { makeTypesetter, type Typesetter, textMeasure } from "./draw/measure";
import { Outline } from "./draw/outline";
import type { Dispatch } from "./draw/props";
import { Toolbar } from "./draw/toolbar";
import { type Graph, makeGraph } from "./graph";
import { actionOf } from "./keyboard";
import { type Action, initialState, reduce, type State } from "./state";
import { sentence, WORDS } from "./words";

/** What a host may follow and set. */
export interface ViewState {
  /** The id of the selected node. */
  readonly selected: number | null;
  /** The ids of the open nodes; null while the view's own choice stands. */
  readonly expanded: readonly number[] | null;
}

export interface ViewHost {
  /** Called when what a person did changed the state; not for the host's own changes. */
  onChange?(state: ViewState): void;
  /** A short text shown as a tag, e.g. "snapshot". */
  readonly note?: string;
}

export interface View {
  /** Shows a payload; says so in the view where it cannot be read, keeping what was shown. */
  setPayload(bytes: Uint8Array): Promise<void>;
  setState(state: Partial<ViewState>): void;
  dispose(): void;
}

let views = 0;

export function mountView(el: HTMLElement, host: ViewHost = {}): View {
  const root = document.createElement("div");
  root.className = "ckpt-viz";
  // JupyterLab leaves the keys to an element that says so; else "a" or "dd" edit the notebook.
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  el.append(root);
  const id = `ckpt-viz-${++views}`;
  const measure = textMeasure(getComputedStyle(root).fontFamily);
  const typesetters = new WeakMap<Graph, Typesetter>();
  const typesetterOf = (graph: Graph): Typesetter => {
    const typesetter = typesetters.get(graph) ?? makeTypesetter(graph, measure);
    typesetters.set(graph, typesetter);
    return typesetter;
  };

  let state: State | null = null;
  let problem: string | null = null;
  let pending: Partial<ViewState> = {};
  let payloads = 0;

  const draw = () => {
    render(
      <Explorer
        state={state}
        problem={problem}
        note={host.note}
        id={id}
        typesetterOf={typesetterOf}
        dispatch={dispatch}
      />,
      root,
    );
  };
  const update = (action: Action): boolean => {
    const before = state;
    state = before === null ? null : reduce(before, action);
    if (state !== before) {
      draw();
    }
    return state !== before;
  };
  const dispatch: Dispatch = (action) => {
    const before = state;
    if (update(action) && state !== null && before !== null) {
      if (state.selected !== before.selected || state.expanded !== before.expanded) {
        host.onChange?.(viewState(state));
      }
    }
  };
  const onKey = (event: KeyboardEvent) => {
    const action = isControl(event.target) ? undefined : actionOf(event);
    if (action !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      dispatch(action);
    }
  };
  root.addEventListener("keydown", onKey);
  draw();

  return {
    async setPayload(bytes) {
      const number = ++payloads;
      const start = performance.now();
      try {
        const graph = makeGraph(await decode(bytes));
        if (number !== payloads) {
          return; // a newer one came while this was unpacked
        }
        problem = null;
        if (state === null) {
          state = initialState(graph, typesetterOf);
          draw();
          afterPaint(() => performance.measure("ckpt-viz: payload to first paint", { start }));
        } else {
          update({ type: "load", graph });
        }
        this.setState(pending);
      } catch (error) {
        if (number === payloads) {
          problem = error instanceof Error ? error.message : String(error);
          draw();
        }
      }
    },
    setState(change) {
      pending = { ...pending, ...change };
      if (change.expanded !== undefined) {
        update({ type: "setExpanded", expanded: change.expanded });
      }
      if (change.selected !== undefined) {
        update({ type: "select", id: change.selected });
      }
    },
    dispose() {
      payloads++;
      root.removeEventListener("keydown", onKey);
      render(null, root);
      root.remove();
    },
  };
}

/** Calls once what was drawn is on the screen: messages come after the frame they are posted in. */
function afterPaint(call: () => void): void {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = call;
    port2.postMessage(null);
  });
}

function viewState({ selected, expanded, isDefaultExpansion }: State): ViewState {
  return { selected, expanded: isDefaultExpansion ? null : [...expanded] };
}

/** Buttons and boxes take their own keys, space above all. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLButtonElement || target instanceof HTMLInputElement;
}

interface ExplorerProps {
  readonly state: State | null;
  readonly problem: string | null;
  readonly note: string | undefined;
  readonly id: string;
  readonly typesetterOf: (graph: Graph) => Typesetter;
  readonly dispatch: Dispatch;
}

function Explorer({ state, problem, note, id, typesetterOf, dispatch }: ExplorerProps) {
  const message =
    problem === null ? null : (
      <p class="ckv-problem" role="alert">
        {problem}
      </p>
    );
  if (state === null) {
    return message ?? <p class="ckv-hint">{WORDS.loading}</p>;
  }
  return (
    <>
      {message}
      <Toolbar state={state} note={note} dispatch={dispatch} />
      <div class="ckv-panes">
        <Outline state={state} dispatch={dispatch} id={id} />
        <Drawing state={state} typesetter={typesetterOf(state.graph)} dispatch={dispatch} />
        <Details state={state} dispatch={dispatch} />
      </div>
      <Legend state={state} dispatch={dispatch} />
      <div class="ckv-live" role="status" aria-live="polite">
        {state.selected === null ? "" : sentence(state.graph, state.selected)}
      </div>
    </>
  );
}
