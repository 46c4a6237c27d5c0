/** An explorer that fills a tab, with messages about its source above it. */

import type { TranslationBundle } from "@jupyterlab/translation";
import type { IDisposable } from "@lumino/disposable";
import { type ISignal, Signal } from "@lumino/signaling";
import { Widget } from "@lumino/widgets";
import { render } from "preact";
import { whyWords } from "../../basics/text";
import { mountView, type View, type ViewState } from "../../view/view";
import { graphviz } from "../graphviz";
import type { Kept, Source } from "../source";
import { Choice } from "./choice";
import { Sentence } from "./sentence";

export class ExplorerPanel extends Widget {
  readonly #notices = document.createElement("div");
  readonly #stage = document.createElement("div");
  readonly #loaded = new Signal<this, readonly Kept[]>(this);
  #watch: IDisposable | null = null;
  #view: View | null = null;
  #state: ViewState | null = null;
  #loading: AbortController | null = null;
  #notes: readonly string[] = [];
  #isStale = false;
  #problem: string | null = null;

  constructor(
    private source: Source,
    private readonly trans: TranslationBundle,
  ) {
    super();
    this.addClass("ckpt-viz-tab");
    this.#notices.className = "ckpt-viz-notices";
    this.#stage.className = "ckpt-viz-stage";
    this.node.append(this.#notices, this.#stage);
    void this.refresh();
  }

  /** Emits at each loaded graph, with the list of checkpoints beside it. */
  get loaded(): ISignal<this, readonly Kept[]> {
    return this.#loaded;
  }

  /** Shows another source in this place. */
  setSource(source: Source): Promise<void> {
    this.#watch?.dispose();
    this.#watch = null;
    this.source.dispose();
    this.source = source;
    this.#view?.dispose();
    this.#view = null;
    this.#state = null;
    this.#notes = [];
    return this.refresh();
  }

  /** Reads the source again; nodes that still exist stay selected and open. */
  async refresh(): Promise<void> {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    this.#problem = null;
    this.#draw();
    try {
      const { payload, notes, kept, state } = await this.source.load(loading.signal, this.#state);
      if (this.#loading !== loading || this.isDisposed) {
        return;
      }
      this.#view ??= this.#mount(this.source);
      await this.#view.setPayload(payload);
      this.#view.setState(state);
      this.#notes = notes;
      this.#isStale = false;
      this.#watch?.dispose(); // it may come from another connection
      this.#watch = this.source.watch(
        () => {
          this.#isStale = true;
          this.#draw();
        },
        () => this.isVisible,
      );
      this.#loaded.emit(kept);
      if (document.activeElement === this.node) {
        this.activate(); // it was active before there was a view to take the keys
      }
    } catch (error) {
      if (this.#loading === loading) {
        this.#problem = loading.signal.aborted
          ? this.trans.__("Cancelled: nothing was read.")
          : whyWords(error);
      }
    }
    if (this.#loading === loading) {
      this.#loading = null;
      this.#draw();
    }
  }

  override dispose(): void {
    this.#loading?.abort();
    this.#loading = null;
    this.#watch?.dispose();
    this.source.dispose();
    this.#view?.dispose();
    render(null, this.#notices);
    super.dispose();
  }

  protected override onActivateRequest(): void {
    const outline = this.#stage.querySelector<HTMLElement>("[role=treegrid]");
    (outline ?? this.node).focus();
  }

  #mount({ ask, canStop }: Source): View {
    return mountView(this.#stage, {
      graphviz,
      extras: () => import("../../draw/extras"),
      ask,
      canStop,
      onChange: (state) => {
        this.#state = state;
      },
    });
  }

  #draw(): void {
    if (this.isDisposed) {
      return;
    }
    const cancel = () => this.#loading?.abort();
    const again = () => void this.refresh();
    const trans = this.trans;
    render(
      <>
        {this.#loading && (
          <p role="status" class="ckpt-viz-loading">
            {this.source.loadingWords}
            <Choice words={trans.__("Cancel")} choose={cancel} />
          </p>
        )}
        {this.#problem !== null && (
          <p role="alert" class="ckpt-viz-problem">
            <Sentence text={this.#problem} />
            <Choice words={trans.__("Try again")} choose={again} />
          </p>
        )}
        {this.#isStale && !this.#loading && this.#problem === null && (
          <p role="status" class="ckpt-viz-stale">
            {this.source.staleWords}
            <Choice words={trans.__("Refresh")} choose={again} />
          </p>
        )}
        {this.#notes.map((note) => (
          <p key={note} role="note">
            <Sentence text={note} />
          </p>
        ))}
      </>,
      this.#notices,
    );
  }
}
