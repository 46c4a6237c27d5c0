/** The explorer in one element of a page; the widget and JupyterLab both mount this. */

import { render } from "preact";
import { kept, oncePer } from "../basics/once";
import { sentenceText, whyWords } from "../basics/text";
import { decode } from "../data/contract";
import { type Graph, makeGraph } from "../data/graph";
import type { MeasureName } from "../data/measures";
import { Explorer } from "../draw/explorer";
import { makeTypesetter, type Says, type Typesetter } from "../draw/measure";
import { type LoadExtras, type OnRequest, onRequest } from "../draw/on-request";
import { answerKeys } from "../draw/page";
import { partOf } from "../draw/parts";
import type { Dispatch, ShowChanged } from "../draw/props";
import { textMeasure } from "../draw/text-width";
import { insertFrom } from "../host/cells";
import { DEFAULTS_ATTRIBUTE, readDefaults } from "../host/defaults";
import { followGround, onPageChange } from "../host/ground";
import { bytesIn } from "../host/shared";
import {
  type Ask,
  type Kernel,
  makeKernel,
  PATIENCE_FOR_VALUES,
  type Tell,
} from "../kernel/kernel";
import { initialState, reduce } from "../state/reduce";
import {
  type Action,
  type Brevity,
  isNode,
  type Mode,
  type View as ShownView,
  type State,
  viewOf,
} from "../state/state";
import type { LoadGraphviz } from "../textbook/engine";

/** The state that a host may follow and set. */
export interface ViewState {
  /** The host's number of the graph that the ids belong to. */
  readonly of: number;
  /** The id of the selected node. */
  readonly selected: number | null;
  /** The ids of the open nodes; null until the user opens or closes a node. */
  readonly expanded: readonly number[] | null;
  /** The text in the search box. */
  readonly query: string;
  readonly mode: Mode;
  /** What the explorer shows; null: the view's own choice. */
  readonly view: ShownView | null;
  /** What colours the nodes; null: their type. */
  readonly measure: MeasureName | null;
  /** The number of the step at which a restore plays; null while none does. */
  readonly step: number | null;
}

type HostState = {
  readonly [Name in keyof ViewState]?: ViewState[Name] | undefined;
} & { readonly broughtQuery?: string };

export interface ViewHost {
  /**
   * Called after a user has changed the state, but not for the host's own changes. After the host
   * has set another graph, it tells the ids in that graph.
   */
  onChange?(state: ViewState): void;
  /** A short text shown as a tag, e.g. "saved picture". */
  readonly note?: string;
  /** Called when the textbook view first opens; without it the view does not offer that drawing. */
  readonly graphviz?: LoadGraphviz | undefined;
  /** Loads the parts that the view needs rarely; without them the view does not offer these. */
  readonly extras?: LoadExtras | undefined;
  /** The answer about the steps of a restore, packed, where a page has it without a kernel. */
  readonly played?: string | undefined;
  /** Sends questions to a kernel, if there is one. */
  readonly ask?: Ask | undefined;
  /** Whether a user can stop the reading of values from here. */
  readonly canStop?: boolean;
}

export interface View {
  /**
   * Shows a payload. If it is unreadable, shows the error and keeps the graph that was there. A host
   * that numbers its graphs tells the number of this one.
   */
  setPayload(bytes: Uint8Array | Promise<Uint8Array>, of?: number): Promise<void>;
  showsGraph(): boolean;
  /**
   * Ids of another graph than the shown one change nothing. A `broughtQuery` came with a file: the
   * view shows it, and a user decides to run it.
   */
  setState(state: HostState): void;
  dispose(): void;
}

export function mountView(el: HTMLElement, host: ViewHost = {}): View {
  return new MountedView(el, host);
}

/** The check of a changed program, and what answers about it. */
interface Other {
  readonly state: State;
  readonly kernel: Kernel;
}

let views = 0;
/** What the page does to a view, not its user. */
const OF_PAGE: ReadonlySet<Action["type"]> = new Set(["resize", "showPicture"]);
const FOLLOWED = ["selected", "expanded", "query", "mode", "measure"] as const;

class MountedView implements View {
  readonly #host: ViewHost;
  readonly #root = document.createElement("div");
  readonly #id = `ckpt-viz-${++views}`;
  readonly #disposal = new AbortController();
  readonly #kernel: Kernel | null;
  readonly #onRequest: OnRequest | null;
  /** Known once the page gives the view its fonts. */
  #typesetterOf: TypesetterOf | null = null;
  #graph: Graph | null = null;
  /** The number of this graph. */
  #of = 0;
  #state: State | null = null;
  /** The check that the user looks at in place of the graph. */
  #other: Other | null = null;
  /** How many of them there were. */
  #others = 0;
  /** A copy of the state on which a restore plays, and its step. */
  #playing: State | null = null;
  #step: number | null = null;
  #problem: string | null = null;
  /** The host's changes that arrived before there was a graph to apply them to. */
  #pending: HostState = {};
  #payloads = 0;
  #reading = 0;
  /** Whether a user or the host has changed what the view shows. */
  #isTouched = false;

  constructor(el: HTMLElement, host: ViewHost) {
    this.#host = host;
    this.#kernel = host.ask === undefined ? null : makeKernel(host.ask);
    this.#onRequest = host.extras === undefined ? null : onRequest(host.extras);
    this.#root.className = "ckpt-viz";
    el.append(this.#root);
    const { signal } = this.#disposal;
    answerKeys(this.#root, this.#dispatch, signal);
    this.#draw();
    followGround(this.#root, el, signal, () => {
      if (this.#state === null && this.#root.clientWidth > 0) {
        this.#show();
      }
    });
    onPageChange(signal, () => this.#followDefaults(), { attributeFilter: [DEFAULTS_ATTRIBUTE] });
  }

  async setPayload(bytes: Uint8Array | Promise<Uint8Array>, of = this.#of): Promise<void> {
    const number = ++this.#payloads;
    const start = performance.now();
    this.#reading++;
    try {
      const decoded = makeGraph(await decode(await bytes), this.#kernel !== null);
      if (number === this.#payloads) {
        this.#graph = decoded;
        this.#other = this.#playing = this.#step = null;
        this.#problem = null;
        const isOther = of !== this.#of && this.#state !== null;
        this.#of = of;
        this.#show();
        if (isOther && this.#isTouched) {
          this.#host.onChange?.(this.#viewState());
        }
        afterPaint(() => performance.measure("ckpt-viz: payload to first paint", { start }));
      }
    } catch (error) {
      if (number === this.#payloads) {
        this.#problem = sentenceText(whyWords(error));
        this.#draw();
      }
    } finally {
      this.#reading--;
      this.#setPending();
    }
  }

  showsGraph(): boolean {
    return this.#state !== null;
  }

  setState(change: HostState): void {
    this.#pending = { ...this.#pending, ...change };
    this.#setPending();
  }

  dispose(): void {
    this.#payloads++;
    this.#disposal.abort();
    render(null, this.#root);
    this.#root.remove();
  }

  /** Runs a user's action and reports it to the host. */
  readonly #dispatch: Dispatch = (action) => {
    if (this.#playing !== null) {
      this.#playing = reduce(this.#playing, action);
      this.#draw();
      return;
    }
    if (this.#other !== null) {
      this.#other = { ...this.#other, state: reduce(this.#other.state, action) };
      this.#draw();
      return;
    }
    const before = this.#state;
    this.#isTouched ||= !OF_PAGE.has(action.type);
    this.#update(action);
    if (isChanged(before, this.#state)) {
      this.#host.onChange?.(this.#viewState());
    }
  };

  #update(action: Action): void {
    const before = this.#state;
    this.#state = before === null ? null : reduce(before, action);
    if (this.#state !== before) {
      this.#draw();
    }
  }

  readonly #showChanged: ShowChanged = async (check) => {
    const of = this.#graph;
    const graph = check && makeGraph(await decode(check.bytes), true);
    const [known, kernel] = [this.#shown, this.#kernel];
    if (of !== this.#graph || known === null || kernel === null) {
      return;
    }
    this.#others++;
    if (check === null || graph === null) {
      this.#other = null;
    } else {
      const loaded = reduce(known, { type: "load", graph });
      this.#other = {
        state: reduce(loaded, { type: "select", id: check.node ?? loaded.selected }),
        kernel: (question, ...rest) => kernel({ ...question, ...check.about }, ...rest),
      };
    }
    if (this.#playing !== null) {
      this.#playing = this.#shown;
    }
    this.#draw();
  };

  /** The state of the check itself, or of the other one in its place. */
  get #shown(): State | null {
    return this.#other?.state ?? this.#state;
  }

  /** Plays the restore of the check from a step, on a copy of the state; null stops that. */
  #play(step: number | null): void {
    if (step === null) {
      this.#leave();
    } else if (this.#graph?.overlay?.comparison === "check") {
      const hasFocus = this.#root.contains(document.activeElement);
      this.#playing ??= this.#shown;
      this.#step = step;
      this.#draw();
      if (hasFocus && !this.#root.contains(document.activeElement)) {
        // Until the part that plays is there, and takes it.
        this.#root.tabIndex = -1;
        this.#root.focus({ preventScroll: true });
      }
    }
  }

  readonly #playFor = (step: number | null): void => {
    if (step !== this.#step) {
      this.#play(step);
      this.#host.onChange?.(this.#viewState());
    }
  };

  /** Reads the values, and shows the graph with what they measure. */
  readonly #readValues = async (tell: Tell, signal: AbortSignal): Promise<void> => {
    const answer = await this.#kernel?.({ ask: "measures" }, PATIENCE_FOR_VALUES, tell, signal);
    const bytes = bytesIn(answer?.buffers[0]);
    if (bytes.length > 0) {
      await this.setPayload(bytes);
    }
  };

  /** Leaves a restore that plays. */
  #leave(): void {
    const { width = 0, height = 0 } = this.#playing ?? this.#shown ?? {};
    const hasFocus = this.#root.contains(document.activeElement);
    this.#playing = this.#step = null;
    this.#dispatch({ type: "resize", width, height });
    this.#draw();
    if (hasFocus) {
      partOf(this.#root, "play")?.focus();
    }
  }

  #draw(): void {
    const other = this.#other;
    const kernel = other?.kernel ?? this.#kernel;
    const state = this.#playing ?? this.#shown;
    const typesetter =
      state === null ? undefined : this.#typesetterOf?.(state.graph, saying(state));
    render(
      <Explorer
        shown={state === null || typesetter === undefined ? null : { state, typesetter }}
        problem={this.#problem}
        note={this.#host.note}
        id={this.#id}
        graphviz={this.#host.graphviz}
        kernel={kernel}
        onRequest={this.#onRequest}
        insert={insertFrom(this.#root)}
        showChanged={this.#showChanged}
        canStop={this.#host.canStop === true}
        readValues={other === null && kernel !== null ? this.#readValues : null}
        own={{ graph: this.#graph, kernel: this.#kernel }}
        other={other === null ? 0 : this.#others}
        played={this.#host.played ?? null}
        step={this.#step}
        play={this.#playFor}
        dispatch={this.#dispatch}
      />,
      this.#root,
    );
  }

  /** Shows the graph that was read last, once the view has its place in a page. */
  #show(): void {
    const graph = this.#graph;
    if (graph === null || !this.#root.isConnected) {
      return; // followGround calls again
    }
    this.#typesetterOf ??= typesetters(getComputedStyle(this.#root).fontFamily);
    if (this.#state === null) {
      this.#state = this.#initial(graph, this.#typesetterOf);
      this.#draw();
    } else {
      this.#update({ type: "load", graph });
    }
    this.#setAll();
  }

  #initial(graph: Graph, typesetterOf: TypesetterOf): State {
    const defaults = readDefaults(document.documentElement.dataset);
    return initialState(graph, (of: Graph, says: Brevity) => typesetterOf(of, says), defaults);
  }

  /** Shows the graph by new defaults: a saved notebook may open before the settings are read. */
  #followDefaults(): void {
    if (
      this.#isTouched ||
      this.#state === null ||
      this.#graph === null ||
      this.#typesetterOf === null
    ) {
      return;
    }
    const { width, height } = this.#state;
    this.#state = this.#initial(this.#graph, this.#typesetterOf);
    this.#update({ type: "resize", width, height });
  }

  /** Applies the host's changes, unless they are for a graph that is still loading. */
  #setPending(): void {
    if (this.#reading === 0 && this.#state !== null) {
      this.#setAll();
    }
  }

  #setAll(): void {
    const { broughtQuery, measure, mode, of = this.#of, query, step, view } = this.#pending;
    const { expanded, selected } = of === this.#of ? this.#pending : {};
    this.#isTouched ||= [broughtQuery, expanded, measure, query, selected, view].some(
      (value) => value != null && value !== "",
    );
    this.#pending = {};
    const actions: readonly (Action | null)[] = [
      view == null ? null : { type: "showView", view },
      measure === undefined ? null : { type: "setMeasure", measure },
      mode === undefined ? null : { type: "setMode", mode },
      broughtQuery === undefined ? null : { type: "bringQuery", query: broughtQuery },
      query === undefined ? null : { type: "search", query },
      expanded === undefined ? null : { type: "setExpanded", expanded },
    ];
    for (const action of actions.filter((one) => one !== null)) {
      this.#update(action);
    }
    // The host does not know chunks: it gets null for one, and must not send that null back as a
    // selection.
    if (selected !== undefined && selected !== this.#viewState().selected) {
      this.#update({ type: "select", id: selected });
    }
    if (step !== undefined && step !== this.#step) {
      this.#play(step);
    }
  }

  #viewState(): ViewState {
    const state = this.#state;
    return {
      of: this.#of,
      selected: state?.selected != null && isNode(state, state.selected) ? state.selected : null,
      expanded:
        state === null || state.isDefaultExpansion
          ? null
          : [...state.expanded].filter((id) => isNode(state, id)),
      query: state?.query ?? "",
      mode: state?.mode ?? "highlight",
      view: state === null ? null : viewOf(state),
      measure: state?.measure ?? null,
      step: this.#other === null ? this.#step : null,
    };
  }
}

/** Whether any of the state that a host follows differs. */
function isChanged(before: State | null, after: State | null): boolean {
  const views = [before, after].map((state) => (state === null ? null : viewOf(state)));
  return views[0] !== views[1] || FOLLOWED.some((key) => after?.[key] !== before?.[key]);
}

type TypesetterOf = (graph: Graph, says: Says) => Typesetter;

function typesetters(fontFamily: string): TypesetterOf {
  const measure = textMeasure(fontFamily);
  const known = oncePer((_: Graph) => new Map<Says, Typesetter>());
  return (graph, says) => kept(known(graph), says, () => makeTypesetter(graph, measure, says));
}

/** What the boxes of a drawing say. */
function saying({ drawn, says }: State): Says {
  return drawn === "textbook" ? "kinds" : says;
}

/** Calls after the next paint: a message arrives after the frame in which it was posted. */
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
