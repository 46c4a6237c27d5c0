import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import type { ISessionContext, IWidgetTracker } from "@jupyterlab/apputils";
import { IConsoleTracker } from "@jupyterlab/console";
import { INotebookTracker } from "@jupyterlab/notebook";
import { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { Widget } from "@lumino/widgets";
import { MIME_TYPE } from "./bundle";
import { knowsModel } from "./kernels";
import { GraphRenderer, type Place } from "./renderer";

/** Ahead of the widget's own view (-10), an error message where no kernel knows the widget. */
const RANK = -20;

const plugin: JupyterFrontEndPlugin<void> = {
  id: "ckpt-viz:renderer",
  description: "Renders the object graphs of TensorFlow checkpoints in outputs.",
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [INotebookTracker, IConsoleTracker],
  activate: (
    _app,
    rendermime: IRenderMimeRegistry,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
  ) => {
    addRenderer(rendermime, null);
    const sessions = new Set<ISessionContext>();
    // Every notebook and console has its own copy of the registry, made before its outputs.
    const serve = (panel: Widget, own: IRenderMimeRegistry, sessionContext: ISessionContext) => {
      sessions.add(sessionContext);
      panel.disposed.connect(() => sessions.delete(sessionContext));
      addRenderer(own, {
        rendermime: own,
        sessionContext,
        knowsModel: (modelId) => knowsModel(sessionContext, modelId, sessions),
      });
    };
    forEach(notebooks, (panel) => serve(panel, panel.content.rendermime, panel.sessionContext));
    forEach(consoles, (panel) => serve(panel, panel.console.rendermime, panel.sessionContext));
  },
};

function addRenderer(rendermime: IRenderMimeRegistry, place: Place | null): void {
  const createRenderer = () => new GraphRenderer(place);
  rendermime.addFactory({ safe: true, mimeTypes: [MIME_TYPE], createRenderer }, RANK);
}

/** Call for each widget that the tracker has or will have. */
function forEach<T extends Widget>(
  tracker: IWidgetTracker<T> | null,
  call: (widget: T) => void,
): void {
  tracker?.forEach(call);
  tracker?.widgetAdded.connect((_, widget) => call(widget));
}

export default plugin;
