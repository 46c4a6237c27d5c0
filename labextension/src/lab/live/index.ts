/** The plugin for what lives in kernels: the side panel, live explorers, restore checks. */

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import {
  ICommandPalette,
  type ISessionContext,
  type IWidgetTracker,
  type MainAreaWidget,
  showErrorMessage,
  WidgetTracker,
} from "@jupyterlab/apputils";
import { IConsoleTracker } from "@jupyterlab/console";
import { PathExt } from "@jupyterlab/coreutils";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import type { Widget } from "@lumino/widgets";
import { whyWords } from "../../text";
import { checkpointIcon } from "../icons";
import { prefixOf } from "../paths";
import type { ExplorerPanel } from "../tabs/panel";
import { ITabs } from "../tabs/tabs";
import { call, insertCode } from "./code";
import { LiveObjects } from "./objects";
import { LivePanel } from "./panel";
import { LiveSource } from "./source";

const COMMANDS = {
  panel: "ckpt-viz:live-objects",
  show: "ckpt-viz:show-live",
  check: "ckpt-viz:check-live",
  insert: "ckpt-viz:insert-code",
} as const;

/** Below the file browser and the running sessions. */
const RANK = 600;

/** What a live tab shows; enough to open it again. */
interface Live {
  readonly name: string;
  /** The kernel's id. */
  readonly kernel: string;
  /** Where the kernel was found: the contents path of a notebook or console. */
  readonly place: string;
  /** The contents path of what it is checked against, and the path as `restore` would get it. */
  readonly path: string | null;
  readonly prefix: string | null;
}

type Tab = MainAreaWidget<ExplorerPanel>;

const live: JupyterFrontEndPlugin<void> = {
  id: "ckpt-viz:live",
  description: "Lists the checkpointable objects of a kernel, shows them and checks restores.",
  autoStart: true,
  requires: [ITabs],
  optional: [INotebookTracker, IConsoleTracker, ILayoutRestorer, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tabs: ITabs,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
  ) => {
    const { commands, serviceManager, shell } = app;
    const { trans, server } = tabs;
    const objects = new LiveObjects(trans);
    let looked: ISessionContext | null = null;
    let notebook: NotebookPanel | null = null;

    const follow = (context: ISessionContext | null) => {
      looked?.kernelChanged.disconnect(take);
      looked = context;
      looked?.kernelChanged.connect(take);
      take();
    };
    const take = () => objects.setKernel(looked?.session?.kernel ?? null);
    // In a console one looks at its own kernel, and inserts code into the notebook all the same.
    followCurrent(notebooks, (panel) => {
      notebook = panel;
      follow(panel?.sessionContext ?? consoles?.currentWidget?.sessionContext ?? null);
    });
    followCurrent(consoles, (panel) => {
      follow(panel?.sessionContext ?? notebook?.sessionContext ?? null);
    });
    // Each tracker's current widget stays so while one of the other's is in front.
    shell.currentChanged?.connect((_, { newValue }) => {
      const current = [notebooks, consoles].map((tracker) => tracker?.currentWidget);
      const front = current.find((widget) => widget != null && widget === newValue);
      if (front) {
        follow(front.sessionContext);
      }
    });

    const connect = async (id: string) => {
      await serviceManager.kernels.refreshRunning();
      const model = [...serviceManager.kernels.running()].find((one) => one.id === id);
      if (model === undefined) {
        throw new Error(
          trans.__("Its kernel is gone. Open it again from the list of live objects."),
        );
      }
      return serviceManager.kernels.connectTo({ model, handleComms: false });
    };
    const shown = new WeakMap<Tab, Live>();
    const tracker = new WidgetTracker<Tab>({ namespace: "ckpt-viz-live" });
    const open = (wanted: Live): Tab => {
      const { name, path } = wanted;
      const tab = tabs.open({
        id: `ckpt-viz-live:${JSON.stringify([wanted.kernel, name, path])}`,
        title: path === null ? name : `${PathExt.basename(prefixOf(path))} → ${name}`,
        caption: trans.__("%1 in the kernel of %2", name, wanted.place),
        source: new LiveSource(() => connect(wanted.kernel), trans, {
          name,
          against: wanted.prefix,
        }),
        compareWords: trans.__("Check restore of…"),
        directory: PathExt.dirname(wanted.place),
        compareWith: (other) => void check(wanted, other),
      });
      if (!tracker.has(tab)) {
        shown.set(tab, wanted);
        void tracker.add(tab);
      }
      return tab;
    };
    const check = async (wanted: Live, path: string) => {
      try {
        // The server knows where the file is on its machine, and that it is a checkpoint.
        const { prefix } = await server.graph(path, null);
        open({ ...wanted, path, prefix });
      } catch (error) {
        await showErrorMessage(trans.__("Check Restore"), whyWords(error));
      }
    };
    const found = (name: unknown): Live | null => {
      const { kernel } = objects;
      if (typeof name !== "string" || kernel === null) {
        return null;
      }
      return { name, kernel: kernel.id, place: looked?.path ?? "", path: null, prefix: null };
    };
    /** The live explorer in front. */
    const current = (): Live | null => {
      const tab = tracker.find((one) => one === shell.currentWidget);
      return (tab && shown.get(tab)) ?? null;
    };

    commands.addCommand(COMMANDS.show, {
      label: trans.__("Show Live Object"),
      caption: trans.__("Open the explorer of a variable of the current kernel"),
      execute: (args) => {
        const wanted = isLive(args) ? args : found(args.name);
        if (wanted === null) {
          throw new Error(`${COMMANDS.show}: expected the name of a variable, and a kernel`);
        }
        return open(wanted);
      },
    });
    commands.addCommand(COMMANDS.check, {
      label: trans.__("Check Restore of…"),
      caption: trans.__(
        "What restoring a checkpoint into live objects would do; nothing is changed",
      ),
      isEnabled: ({ name }) => (name === undefined ? current() : found(name)) !== null,
      execute: async ({ name, path }) => {
        const wanted = name === undefined ? current() : found(name);
        const title = trans.__("Check Restore of…");
        if (wanted !== null) {
          const directory = PathExt.dirname(wanted.place);
          const picked = typeof path === "string" ? path : await tabs.pick(title, directory);
          await (picked === null ? undefined : check(wanted, picked));
        }
      },
    });
    commands.addCommand(COMMANDS.insert, {
      label: trans.__("Insert Code for Live Explorer"),
      isEnabled: ({ name }) => notebook !== null && (name !== undefined || current() !== null),
      execute: ({ name }) => {
        const wanted = name === undefined ? current() : found(name);
        const own = notebooks?.find(({ context }) => context.path === wanted?.place) ?? notebook;
        if (wanted !== null && own !== null) {
          const against = wanted.path === null ? null : prefixOf(wanted.path);
          insertCode(own, call(wanted.name, against, own.context.path));
          shell.activateById(own.id);
        }
      },
    });
    const panel = new LivePanel(
      objects,
      {
        show: (name) => void commands.execute(COMMANDS.show, { name }),
        check: (name, path) =>
          void commands.execute(COMMANDS.check, path === undefined ? { name } : { name, path }),
        insert: (name) => void commands.execute(COMMANDS.insert, { name }),
      },
      () => looked?.name ?? null,
      trans,
    );
    panel.id = "ckpt-viz-live-objects";
    panel.title.icon = checkpointIcon;
    panel.title.caption = trans.__("Live TensorFlow Objects");
    shell.add(panel, "left", { rank: RANK, type: "Live TensorFlow Objects" });
    restorer?.add(panel, panel.id);
    commands.addCommand(COMMANDS.panel, {
      label: trans.__("Show Live TensorFlow Objects"),
      caption: trans.__("The checkpointable objects of the current notebook's kernel"),
      execute: () => shell.activateById(panel.id),
    });
    void restorer?.restore(tracker, {
      command: COMMANDS.show,
      args: (tab) => ({ ...shown.get(tab) }),
      name: ({ id }) => id,
    });
    for (const command of [COMMANDS.panel, COMMANDS.check, COMMANDS.insert]) {
      palette?.addItem({ command, category: trans.__("Checkpoints") });
    }
  },
};

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

function isLive(args: object): args is Live {
  return "name" in args && "kernel" in args && "place" in args;
}

export default live;
