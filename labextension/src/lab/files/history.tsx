/** The history of a directory's checkpoints in a tab; the server reads it. */

import type { JupyterFrontEnd } from "@jupyterlab/application";
import { MainAreaWidget, WidgetTracker } from "@jupyterlab/apputils";
import { PathExt } from "@jupyterlab/coreutils";
import type { TranslationBundle } from "@jupyterlab/translation";
import { refreshIcon, ToolbarButton } from "@jupyterlab/ui-components";
import { Widget } from "@lumino/widgets";
import { render } from "preact";
import type { Timeline } from "../../history/timeline";
import { visible, whyWords } from "../../text";
import { checkpointIcon } from "../icons";
import type { CheckpointServer } from "../server";
import { Choice } from "../tabs/choice";
import { Sentence } from "../tabs/sentence";

export class HistoryPanel extends Widget {
  readonly path: string;
  readonly #server: CheckpointServer;
  readonly #trans: TranslationBundle;
  readonly #notices = document.createElement("div");
  readonly #stage = document.createElement("div");
  #view: Timeline | null = null;
  #loading: AbortController | null = null;
  #problem: string | null = null;

  constructor(path: string, server: CheckpointServer, trans: TranslationBundle) {
    super();
    this.path = path;
    this.#server = server;
    this.#trans = trans;
    this.addClass("ckpt-viz-tab");
    this.#notices.className = "ckpt-viz-notices";
    this.#stage.className = "ckpt-viz-stage";
    this.node.append(this.#notices, this.#stage);
    void this.refresh();
  }

  /** Reads the checkpoints again. */
  async refresh(): Promise<void> {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    this.#problem = null;
    this.#draw();
    try {
      const [payload, { mountTimeline }] = await Promise.all([
        this.#server.history(this.path, loading.signal),
        import("../../history/timeline"), // a file of its own, since few tabs need it
      ]);
      if (this.#loading !== loading || this.isDisposed) {
        return;
      }
      this.#view ??= mountTimeline(this.#stage);
      await this.#view.setPayload(payload);
    } catch (error) {
      if (this.#loading === loading) {
        this.#problem = loading.signal.aborted
          ? this.#trans.__("Cancelled: nothing was read.")
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
    this.#view?.dispose();
    render(null, this.#notices);
    super.dispose();
  }

  protected override onActivateRequest(): void {
    const grid = this.#stage.querySelector<HTMLElement>("[role=grid]");
    (grid ?? this.node).focus();
  }

  #draw(): void {
    if (this.isDisposed) {
      return;
    }
    const trans = this.#trans;
    render(
      <>
        {this.#loading && (
          <p role="status" class="ckpt-viz-loading">
            {trans.__("Reading the history of %1 …", visible(PathExt.basename(this.path)))}
            <Choice words={trans.__("Cancel")} choose={() => this.#loading?.abort()} />
          </p>
        )}
        {this.#problem !== null && (
          <p role="alert" class="ckpt-viz-problem">
            <Sentence text={this.#problem} />
            <Choice words={trans.__("Try again")} choose={() => void this.refresh()} />
          </p>
        )}
      </>,
      this.#notices,
    );
  }
}

type Tab = MainAreaWidget<HistoryPanel>;

/** The open tabs of histories: one for each path. */
export class Histories {
  readonly tracker = new WidgetTracker<Tab>({ namespace: "ckpt-viz-histories" });
  readonly #app: JupyterFrontEnd;
  readonly #area: "main" | "down";
  readonly #server: CheckpointServer;
  readonly #trans: TranslationBundle;

  constructor(
    app: JupyterFrontEnd,
    area: "main" | "down",
    server: CheckpointServer,
    trans: TranslationBundle,
  ) {
    this.#app = app;
    this.#area = area;
    this.#server = server;
    this.#trans = trans;
  }

  /** Shows the history of a directory, or of its `checkpoint` file. */
  open(path: string): Tab {
    const tab = this.tracker.find(({ content }) => content.path === path) ?? this.#make(path);
    if (!tab.isAttached) {
      this.#app.shell.add(tab, this.#area);
    }
    this.#app.shell.activateById(tab.id);
    return tab;
  }

  #make(path: string): Tab {
    const trans = this.#trans;
    const content = new HistoryPanel(path, this.#server, trans);
    const tab: Tab = new MainAreaWidget({ content });
    const refresh = new ToolbarButton({
      icon: refreshIcon,
      tooltip: trans.__("Read the checkpoints again"),
      onClick: () => void content.refresh(),
    });
    tab.toolbar.addItem("refresh", refresh);
    tab.id = `ckpt-viz-history:${path}`;
    tab.title.label = trans.__("History of %1", visible(PathExt.basename(path) || "/"));
    tab.title.caption = visible(path);
    tab.title.icon = checkpointIcon;
    tab.title.closable = true;
    void this.tracker.add(tab);
    return tab;
  }
}
