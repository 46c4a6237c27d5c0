import type { ISessionContext } from "@jupyterlab/apputils";
import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { Output } from "./stored";

export const WIDGET_VIEW = "application/vnd.jupyter.widget-view+json";

/** The notebook or console that shows an output; it has its own kernel. */
export interface Place {
  readonly rendermime: IRenderMimeRegistry;
  readonly sessionContext: ISessionContext;
  /** Whether the kernel still has the widget with this id. */
  knowsModel(modelId: string): boolean;
  /** All stored outputs of the same notebook. */
  outputs(): Iterable<Output>;
}
