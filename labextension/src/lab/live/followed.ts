/** The kernel whose objects are listed: that of the notebook or console that was last in front. */

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
  readonly #notebooks: INotebookTracker | null;

  constructor(
    shell: JupyterFrontEnd["shell"],
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
    trans: TranslationBundle,
  ) {
    this.objects = new LiveObjects(trans);
    this.#notebooks = notebooks;
    followCurrent(notebooks, (panel) => {
      this.#notebook = panel;
      this.#follow(panel?.sessionContext ?? consoles?.currentWidget?.sessionContext ?? null);
    });
    followCurrent(consoles, (panel) => {
      this.#follow(panel?.sessionContext ?? this.#notebook?.sessionContext ?? null);
    });
    // Each tracker's current widget stays so while one of the other's is in front.
    shell.currentChanged?.connect((_, { newValue }) => {
      const current = [notebooks, consoles].map((tracker) => tracker?.currentWidget);
      const front = current.find((widget) => widget != null && widget === newValue);
      if (front) {
        this.#follow(front.sessionContext);
      }
    });
  }

  /** The name of the notebook or console; null where there is none. */
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

  /** The notebook at a path, or else the one last in front: a console's code goes there, too. */
  notebookAt(path: string | undefined): NotebookPanel | null {
    return this.#notebooks?.find(({ context }) => context.path === path) ?? this.#notebook;
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

/** Call with the widget that was last in front, now and when it changes. */
function followCurrent<T extends Widget>(
  tracker: IWidgetTracker<T> | null,
  call: (widget: T | null) => void,
): void {
  tracker?.currentChanged.connect((_, widget) => call(widget));
  if (tracker?.currentWidget) {
    call(tracker.currentWidget);
  }
}
