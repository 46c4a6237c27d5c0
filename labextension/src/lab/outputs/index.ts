import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette, type ISessionContext, type IWidgetTracker } from "@jupyterlab/apputils";
import { IConsoleTracker } from "@jupyterlab/console";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import { ITranslator, nullTranslator } from "@jupyterlab/translation";
import type { Widget } from "@lumino/widgets";
import { addCommands } from "../commands";
import { MIME_TYPE } from "./bundle";
import { moveFocus } from "./focus";
import { HISTORY_MIME_TYPE, HistoryRenderer } from "./history";
import { takeCode } from "./insert";
import { knowsModel } from "./kernels";
import type { Place } from "./place";
import { GraphRenderer } from "./renderer";
import { type Output, outputsOf, Stored } from "./stored";

/** Before the widget's own view (-10), which shows an error if no kernel knows the widget. */
const RANK = -20;

const outputs: JupyterFrontEndPlugin<void> = {
  id: "ckpt-viz:renderer",
  description: "Renders the object graphs of TensorFlow checkpoints in outputs.",
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [INotebookTracker, IConsoleTracker, ICommandPalette, ITranslator],
  activate: (
    { commands },
    rendermime: IRenderMimeRegistry,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null,
  ) => {
    const trans = (translator ?? nullTranslator).load("ckpt_viz");
    const notebook = () => notebooks?.currentWidget?.content ?? null;
    addCommands(commands, palette, trans.__("Checkpoints"), [
      {
        id: "ckpt-viz:go-to-explorer",
        label: trans.__("Go to the Explorer of the Cell, or Back"),
        isInPalette: true,
        isEnabled: () => notebook() !== null,
        execute: () => {
          const content = notebook();
          if (content !== null) {
            moveFocus(content);
          }
        },
      },
    ]);
    const stored = new Stored();
    addRenderer(rendermime, null, stored);
    const sessions = new Set<ISessionContext>();
    // Every notebook and console has its own copy of the registry, made before its outputs.
    const serve = (
      panel: Widget,
      own: IRenderMimeRegistry,
      sessionContext: ISessionContext,
      outputs: () => Iterable<Output>,
    ) => {
      sessions.add(sessionContext);
      panel.disposed.connect(() => sessions.delete(sessionContext));
      const place: Place = {
        rendermime: own,
        sessionContext,
        knowsModel: (modelId) => knowsModel(sessionContext, modelId, sessions),
        outputs,
      };
      addRenderer(own, place, stored);
    };
    forEach(notebooks, (panel) => {
      const outputs = () => outputsOf(panel.content.model);
      serve(panel, panel.content.rendermime, panel.sessionContext, outputs);
      keepWhole(panel, stored);
      takeCode(panel);
    });
    forEach(consoles, (panel) =>
      serve(panel, panel.console.rendermime, panel.sessionContext, () => []),
    );
  },
};

/** Makes each saved notebook hold the payloads of all graphs that it shows. */
function keepWhole({ content, context }: NotebookPanel, stored: Stored): void {
  void context.ready.then(() => stored.look(outputsOf(content.model)));
  context.saveState.connect((_, state) => {
    if (state === "started") {
      stored.heal([...outputsOf(content.model)]);
    }
  });
}

function addRenderer(rendermime: IRenderMimeRegistry, place: Place | null, stored: Stored): void {
  const createRenderer = () => new GraphRenderer(place, stored);
  rendermime.addFactory({ safe: true, mimeTypes: [MIME_TYPE], createRenderer }, RANK);
  // A notebook's registry serves its outputs; the general one serves those outside of notebooks.
  const createHistory = () => new HistoryRenderer(place, rendermime);
  const factory = { safe: true, mimeTypes: [HISTORY_MIME_TYPE], createRenderer: createHistory };
  rendermime.addFactory(factory, RANK);
}

/** Calls for each widget that the tracker has or will have. */
function forEach<T extends Widget>(
  tracker: IWidgetTracker<T> | null,
  call: (widget: T) => void,
): void {
  tracker?.forEach(call);
  tracker?.widgetAdded.connect((_, widget) => call(widget));
}

export default outputs;
