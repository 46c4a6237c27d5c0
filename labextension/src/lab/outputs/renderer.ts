import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { Panel, Widget } from "@lumino/widgets";
import { whyWords } from "../../basics/text";
import { type Parts, SHOWN } from "../../host/shared";
import { mountView } from "../../view/view";
import { graphviz } from "../graphviz";
import { type Bundle, decoded, MIME_TYPE, readBundle } from "./bundle";
import { type Place, WIDGET_VIEW } from "./place";
import type { Stored } from "./stored";

/** A widget that needs a moment before it can show anything. */
interface Pending {
  readonly widget: Widget;
  readonly ready: Promise<void>;
}

const MISSING =
  "This explorer's graph was stored in another output of this notebook, which is gone; " +
  "run the cell again to show it.";

/** Shows the live widget while the place's kernel knows it, else the snapshot in the output. */
export class GraphRenderer extends Panel implements IRenderMime.IRenderer {
  #bundle: Bundle | null = null;
  /** The registry that renders the live widget; null for the snapshot, undefined while empty. */
  #live: IRenderMimeRegistry | null | undefined;
  /** Whether the output shows an explorer, not just a sentence. */
  #isShown = false;

  constructor(
    private readonly place: Place | null,
    private readonly stored: Stored,
  ) {
    super();
    this.addClass("ckpt-viz-output");
    this.node.addEventListener(SHOWN, (event) => {
      const { digest, payload } = (event as CustomEvent<Parts>).detail;
      stored.add(digest ?? "", payload ?? "");
    });
    // The status changes when a comm opens or closes, and when a kernel restarts or disappears.
    place?.sessionContext.statusChanged.connect(this.update, this);
    place?.sessionContext.kernelChanged.connect(this.update, this);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const previous = this.#bundle;
    try {
      this.#bundle = readBundle(model.data[MIME_TYPE]);
      this.stored.look([{ data: model.data, setData: () => {} }]);
      if (previous !== null && this.#isShown && isSame(previous, this.#bundle)) {
        return; // only the payload came or went: keep the view that the user has opened
      }
      this.#live = undefined;
    } catch (error) {
      this.#bundle = null;
      this.#isShown = false;
      await this.#show(apology(error));
    }
    await this.#refresh();
  }

  // Lumino sends this a moment after update(), once for many calls. ipywidgets listens to the same
  // signals, so by then its manager is behind the renderer of WIDGET_VIEW.
  protected override onUpdateRequest(): void {
    void this.#refresh();
  }

  async #refresh(): Promise<void> {
    if (this.#bundle === null) {
      return;
    }
    const { modelId } = this.#bundle;
    const live = this.place?.knowsModel(modelId) ? this.place.rendermime : null;
    if (live !== this.#live) {
      this.#live = live;
      await this.#show(live ? this.#widget(live, modelId) : this.#snapshot(this.#bundle));
    }
  }

  #widget(rendermime: IRenderMimeRegistry, modelId: string): Pending {
    this.#isShown = true;
    return liveWidget(rendermime, modelId);
  }

  #snapshot({ payload, digest, steps, step }: Bundle): Pending {
    this.#isShown = false;
    try {
      const outputs = [...(this.place?.outputs() ?? [])];
      const stored = payload ?? this.stored.find(digest, outputs);
      if (stored === null) {
        throw new Error(MISSING);
      }
      const played = steps ?? this.stored.steps(digest, outputs);
      const shown = snapshot(decoded(stored), played, step);
      this.#isShown = true;
      return shown;
    } catch (error) {
      return apology(error);
    }
  }

  /** Replaces the current content once the new one has something to show. */
  async #show({ widget, ready }: Pending): Promise<void> {
    const previous = [...this.widgets];
    widget.setHidden(previous.length > 0);
    this.addWidget(widget);
    await ready;
    if (!widget.isDisposed) {
      widget.show();
      for (const old of previous) {
        old.dispose();
      }
    }
  }
}

function isSame(one: Bundle, other: Bundle): boolean {
  return one.digest === other.digest && one.modelId === other.modelId;
}

/** The view that ipywidgets' manager makes of the model. */
function liveWidget(rendermime: IRenderMimeRegistry, modelId: string): Pending {
  const widget = rendermime.createRenderer(WIDGET_VIEW);
  const data = { [WIDGET_VIEW]: { version_major: 2, version_minor: 0, model_id: modelId } };
  void widget.renderModel(rendermime.createModel({ data, trusted: true }));
  return { widget, ready: hasGraph(widget.node) };
}

/** Waits for the graph: anywidget mounts the view, and the view reads it, after renderModel(). */
function hasGraph(node: HTMLElement): Promise<void> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (node.querySelector("[role=treegrid]")) {
        observer.disconnect();
        resolve();
      }
    });
    observer.observe(node, { childList: true, subtree: true });
  });
}

function snapshot(payload: Uint8Array, steps: string | null, step: number | null): Pending {
  const widget = new Widget();
  const view = mountView(widget.node, {
    note: "saved picture",
    graphviz,
    extras: () => import("../../draw/extras"),
    played: steps ?? undefined,
  });
  widget.disposed.connect(() => view.dispose());
  if (step !== null) {
    view.setState({ step });
  }
  return { widget, ready: view.setPayload(payload) };
}

function apology(error: unknown): Pending {
  const widget = new Widget();
  widget.node.textContent = whyWords(error);
  return { widget, ready: Promise.resolve() };
}
