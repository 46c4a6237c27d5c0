import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { Panel } from "@lumino/widgets";
import { type Place, WIDGET_VIEW } from "./place";

/** The view of a history in a notebook's output; ckpt_viz/entrances/jupyter/history_view.py writes it. */
export const HISTORY_MIME_TYPE = "application/vnd.ckpt-viz.history.v1+json";
/** What the output shows without the widget, the best first. */
const PICTURES = ["text/html", "text/plain"];

/** Shows the live widget while the place's kernel knows it, else the picture in the output. */
export class HistoryRenderer extends Panel implements IRenderMime.IRenderer {
  #model: IRenderMime.IMimeModel | null = null;
  #isLive: boolean | null = null;

  constructor(
    private readonly place: Place | null,
    private readonly rendermime: IRenderMimeRegistry,
  ) {
    super();
    this.addClass("ckpt-viz-output");
    place?.sessionContext.statusChanged.connect(this.update, this);
    place?.sessionContext.kernelChanged.connect(this.update, this);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.#model = model;
    this.#isLive = null;
    await this.#refresh();
  }

  protected override onUpdateRequest(): void {
    void this.#refresh();
  }

  async #refresh(): Promise<void> {
    const model = this.#model;
    if (model === null) {
      return;
    }
    const id = modelIdOf(model.data[HISTORY_MIME_TYPE]);
    const isLive = id !== "" && this.place?.knowsModel(id) === true;
    if (isLive === this.#isLive) {
      return;
    }
    this.#isLive = isLive;
    const mimeType = isLive ? WIDGET_VIEW : PICTURES.find((one) => one in model.data);
    for (const old of [...this.widgets]) {
      old.dispose();
    }
    if (mimeType === undefined) {
      return;
    }
    const data = isLive
      ? { [WIDGET_VIEW]: { version_major: 2, version_minor: 0, model_id: id } }
      : { ...model.data };
    const widget = this.rendermime.createRenderer(mimeType);
    this.addWidget(widget);
    const trusted = isLive || model.trusted;
    await widget.renderModel(this.rendermime.createModel({ data, trusted }));
  }
}

function modelIdOf(data: unknown): string {
  const id =
    typeof data === "object" && data !== null && "model_id" in data ? data.model_id : undefined;
  return typeof id === "string" ? id : "";
}
