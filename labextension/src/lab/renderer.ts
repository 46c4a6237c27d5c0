import type { ISessionContext } from "@jupyterlab/apputils";
import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { Panel, Widget } from "@lumino/widgets";
import { mountView } from "../view";
import { type Bundle, MIME_TYPE, readBundle } from "./bundle";

/** Where an output is shown: a notebook or a console, with a kernel of its own. */
export interface Place {
  readonly rendermime: IRenderMimeRegistry;
  readonly sessionContext: ISessionContext;
  /** Whether the kernel still has the widget with this id. */
  knowsModel(modelId: string): boolean;
}

/** A widget that takes a moment until it has something to show. */
interface Pending {
  readonly widget: Widget;
  readonly ready: Promise<void>;
}

const WIDGET_VIEW = "application/vnd.jupyter.widget-view+json";

/** Shows the live widget while the place's kernel knows it, else the snapshot in the output. */
export class GraphRenderer extends Panel implements IRenderMime.IRenderer {
  readonly #place: Place | null;
  #bundle: Bundle | null = null;
  /** What makes the live widget, null for the snapshot, undefined while nothing is shown. */
  #live: IRenderMimeRegistry | null | undefined;

  constructor(place: Place | null) {
    super();
    this.#place = place;
    this.addClass("ckpt-viz-output");
    // A comm opened or closed, a restart, a kernel gone: the status changes with each of them.
    place?.sessionContext.statusChanged.connect(this.update, this);
    place?.sessionContext.kernelChanged.connect(this.update, this);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.#live = undefined;
    try {
      this.#bundle = readBundle(model.data[MIME_TYPE]);
    } catch (error) {
      this.#bundle = null;
      await this.#show(apology(error));
    }
    await this.#refresh();
  }

  // Lumino sends this a moment after update(), once for many calls. By then ipywidgets, which
  // listens to the same signals, has put its manager behind the renderer of WIDGET_VIEW.
  protected override onUpdateRequest(): void {
    void this.#refresh();
  }

  async #refresh(): Promise<void> {
    if (this.#bundle === null) {
      return;
    }
    const { modelId, payload } = this.#bundle;
    const live = this.#place?.knowsModel(modelId) ? this.#place.rendermime : null;
    if (live !== this.#live) {
      this.#live = live;
      await this.#show(live ? liveWidget(live, modelId) : snapshot(payload));
    }
  }

  /** Replace what is shown, as soon as there is something to see. */
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

/** The view that ipywidgets' manager makes of the model. */
function liveWidget(rendermime: IRenderMimeRegistry, modelId: string): Pending {
  const widget = rendermime.createRenderer(WIDGET_VIEW);
  const data = { [WIDGET_VIEW]: { version_major: 2, version_minor: 0, model_id: modelId } };
  void widget.renderModel(rendermime.createModel({ data, trusted: true }));
  return { widget, ready: hasGraph(widget.node) };
}

/** Wait for the graph: anywidget mounts the view, and the view reads it, after renderModel(). */
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

function snapshot(payload: Uint8Array): Pending {
  const widget = new Widget();
  const view = mountView(widget.node, { note: "snapshot" });
  widget.disposed.connect(() => view.dispose());
  return { widget, ready: view.setPayload(payload) };
}

function apology(error: unknown): Pending {
  const widget = new Widget();
  widget.node.textContent = error instanceof Error ? error.message : String(error);
  return { widget, ready: Promise.resolve() };
}
