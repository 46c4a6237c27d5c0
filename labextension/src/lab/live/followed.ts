/** The kernel whose objects the panel lists: that of the notebook or console last in front. */

import type { JupyterFrontEnd } from "@jupyterlab/application";
import type { ISessionContext, IWidgetTracker } from "@jupyterlab/apputils";
import type { IConsoleTracker } from "@jupyterlab/console";
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { TranslationBundle } from "@jupyterlab/translation";
import type { Widget } from "@lumino/widgets";
import { LiveObjects } from "./objects";

export class FollowedKernel {
  readonly objects: LiveObjects;
  #notebook: NotebookPanel | null = null;
  #context: ISessionContext | null = null;

  constructor(
    shell: JupyterFrontEnd["shell"],
    private readonly notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
    trans: TranslationBundle,
  ) {
    this.objects = new LiveObjects(trans);
    followCurrent(notebooks, (panel) => {
      this.#notebook = panel;
      this.#follow(panel?.sessionContext ?? consoles?.currentWidget?.sessionContext ?? null);
    });
    followCurrent(consoles, (panel) => {
      this.#follow(panel?.sessionContext ?? this.#notebook?.sessionContext ?? null);
    });
    // A tracker keeps its current widget while a widget of the other tracker is in front.
    shell.currentChanged?.connect((_, { newValue }) => {
      const current = [notebooks, consoles].map((tracker) => tracker?.currentWidget);
      const front = current.find((widget) => widget != null && widget === newValue);
      if (front) {
        this.#follow(front.sessionContext);
      }
    });
  }

  /** The name of the notebook or console; null if there is none. */
  get name(): string | null {
    return this.#context?.name ?? null;
  }

  /** Its contents path. */
  get path(): string {
    return this.#context?.path ?? "";
  }

  get hasNotebook(): boolean {
    return this.#notebook !== null;
  }

  /** The notebook at a path, or else the one last in front: code of a console goes there, too. */
  notebookAt(path: string | undefined): NotebookPanel | null {
    return this.notebooks?.find(({ context }) => context.path === path) ?? this.#notebook;
  }

  #follow(context: ISessionContext | null): void {
    this.#context?.kernelChanged.disconnect(this.#take);
    this.#context = context;
    this.#context?.kernelChanged.connect(this.#take);
    this.#take();
  }

  readonly #take = (): void => {
    this.objects.setKernel(this.#context?.session?.kernel ?? null);
  };
}

/** Calls with the widget that was last in front, now and at each change. */
function followCurrent<T extends Widget>(
  tracker: IWidgetTracker<T> | null,
  call: (widget: T | null) => void,
): void {
  tracker?.currentChanged.connect((_, widget) => call(widget));
  if (tracker?.currentWidget) {
    call(tracker.currentWidget);
  }
}
