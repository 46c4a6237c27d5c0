/** The history of a directory's checkpoints in a tab; the server reads it. */

import { MainAreaWidget, WidgetTracker } from "@jupyterlab/apputils";
import { PathExt } from "@jupyterlab/coreutils";
import type { TranslationBundle } from "@jupyterlab/translation";
import { refreshIcon, ToolbarButton } from "@jupyterlab/ui-components";
import { Poll } from "@lumino/polling";
import { Widget } from "@lumino/widgets";
import { render } from "preact";
import { formatCount, visible, whyWords } from "../../basics/text";
import type { Cell } from "../../history/data";
import { type Arrived, ended, type Line, NOTHING, withLines } from "../../history/lines";
import { type Merged, merged } from "../../history/merge";
import type { Host, Kernel, Timeline } from "../../history/timeline";
import { bytesWords } from "../../words/words";
import { type CheckpointServer, INTERVAL } from "../server";
import { Choice } from "../tabs/choice";
import { Sentence } from "../tabs/sentence";
import type { Tabs } from "../tabs/tabs";

/** How long the page waits between two pictures of a history that is being read, in ms. */
const PAUSE = 200;
/** A reading that the tab begins by itself shows its progress after so many ms. */
const QUIET = 1_000;

interface Reading {
  readonly controller: AbortController;
  /** Whether the tab shows how far it is. */
  isShown: boolean;
  arrived: Arrived;
}

export class HistoryPanel extends Widget {
  readonly #notices = document.createElement("div");
  readonly #stage = document.createElement("div");
  readonly #poll: Poll;
  #view: Timeline | null = null;
  #mount: typeof import("../../history/timeline") | null = null;
  #reading: Reading | null = null;
  /** What the view shows. */
  #shown: Merged | null = null;
  /** What the history had before this reading. */
  #before: Merged | null = null;
  /** The tag of the files that the view shows, and that which the last reading saw. */
  #etag: string | null = null;
  #seen: string | null = null;
  #problem: string | null = null;
  /** Why not all was read, with how much was. */
  #rest: string | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    readonly path: string,
    private readonly server: CheckpointServer,
    private readonly trans: TranslationBundle,
  ) {
    super();
    this.addClass("ckpt-viz-tab");
    this.#notices.className = "ckpt-viz-notices";
    this.#stage.className = "ckpt-viz-stage";
    this.node.append(this.#notices, this.#stage);
    this.#poll = new Poll({
      name: "ckpt-viz:history",
      frequency: { interval: INTERVAL, max: 10 * INTERVAL, backoff: true },
      standby: "when-hidden",
      factory: () => this.#look(),
    });
    void this.refresh();
  }

  /** Reads the checkpoints again, and on from where the last reading ended. */
  async refresh({ isQuiet = false } = {}): Promise<void> {
    this.#reading?.controller.abort();
    const reading: Reading = {
      controller: new AbortController(),
      isShown: !isQuiet,
      arrived: NOTHING,
    };
    this.#reading = reading;
    this.#before = this.#shown;
    this.#problem = null;
    this.#rest = null;
    const { signal } = reading.controller;
    const isCurrent = () => this.#reading === reading && !this.isDisposed;
    const patience = setTimeout(() => {
      reading.isShown = true;
      this.#draw();
    }, QUIET);
    this.#draw();
    try {
      const [etag] = await Promise.all([
        this.server.history(this.path, signal, (lines) => {
          if (isCurrent()) {
            this.#take(reading, lines);
          }
        }),
        this.#prepare(),
      ]);
      if (isCurrent()) {
        this.#etag = this.#seen = etag;
      }
    } catch (error) {
      if (isCurrent() && !signal.aborted) {
        this.#problem = whyWords(error);
      }
    }
    clearTimeout(patience);
    if (isCurrent()) {
      this.#finish(reading);
    }
  }

  override dispose(): void {
    this.#reading?.controller.abort();
    this.#reading = null;
    this.#poll.dispose();
    clearTimeout(this.#timer ?? undefined);
    this.#view?.dispose();
    render(null, this.#notices);
    super.dispose();
  }

  protected override onActivateRequest(): void {
    const grid = this.#stage.querySelector<HTMLElement>("[role=grid]");
    (grid ?? this.node).focus();
  }

  async #prepare(): Promise<void> {
    this.#mount ??= await import("../../history/timeline"); // a file of its own: few tabs need it
    this.#paint();
  }

  #take(reading: Reading, lines: readonly Line[]): void {
    reading.arrived = withLines(reading.arrived, lines);
    if (this.#timer === null) {
      this.#paint();
    }
  }

  /** Shows what has arrived, and takes a pause that is longer if that took long. */
  #paint(): void {
    const reading = this.#reading;
    if (reading === null || this.isDisposed || this.#mount === null) {
      return;
    }
    const start = performance.now();
    const { history, rows, end } = reading.arrived;
    // A view that has rows keeps them until others arrive.
    if (history !== null && (this.#before === null || rows > 0 || end === "complete")) {
      this.#show(merged(history, this.#before?.history ?? null));
    }
    this.#draw();
    const pause = Math.max(PAUSE, 4 * (performance.now() - start));
    const painted = reading.arrived;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#reading?.arrived !== painted) {
        this.#paint();
      }
    }, pause);
  }

  #show(found: Merged): void {
    const mount = this.#mount;
    if (mount === null) {
      return;
    }
    this.#view ??= mount.mountTimeline(this.#stage, this.#answers());
    this.#shown = found;
    this.#view.show(found.history);
  }

  /** Ends a reading: shows all that has arrived, and what was not read. */
  #finish(reading: Reading): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    const { arrived } = reading;
    if (arrived.history !== null && (this.#before === null || arrived.rows > 0)) {
      const found = merged(arrived.history, this.#before?.history ?? null);
      this.#show({ ...found, history: ended(found.history) });
    }
    if (arrived.end === "refused") {
      this.#problem = arrived.why;
    } else if (this.#problem === null && arrived.end !== "complete") {
      this.#rest = this.#restWords(reading);
    }
    this.#reading = null;
    this.#draw();
  }

  /** Notices new checkpoints, and deleted ones. */
  async #look(): Promise<void> {
    if (!this.isVisible || this.#reading !== null || this.#etag === null) {
      return;
    }
    const found = await this.server.historyTag(this.path);
    if (found !== this.#etag && found !== this.#seen && this.#reading === null) {
      this.#seen = found;
      await this.refresh({ isQuiet: true });
    }
  }

  /** What answers questions of the view; its numbers are not always those of the server. */
  #answers(): Host {
    const trans = this.trans;
    const shown = () => {
      if (this.#shown === null || this.#etag === null) {
        throw new Error(trans.__("Wait until the history was read, then ask again."));
      }
      return { ...this.#shown, etag: this.#etag };
    };
    const timeOf = ({ history, times }: Merged, place: number): number => {
      const time = times[place] ?? null;
      if (time === null) {
        const title = history.checkpoints[place]?.title ?? "";
        throw new Error(trans.__("%1 was deleted: its values cannot be read again.", title));
      }
      return time;
    };
    const ask = (question: object) => this.server.askHistory(this.path, shown().etag, question);
    const kernel: Kernel = {
      cells: async (place) => {
        const found = shown();
        const row = found.rows[place] ?? null;
        const old = found.history.rows[place]?.cells ?? [];
        if (row === null) {
          return old;
        }
        const cells = (await ask({ ask: "row", row })).row?.cells ?? [];
        return found.times.map((time, at) => cells[time ?? -1] ?? old[at] ?? NONE);
      },
      between: async (a, b) => {
        const found = shown();
        const { cells } = await ask({
          ask: "between",
          a: timeOf(found, a),
          b: timeOf(found, b),
        });
        return found.rows.map((row) => cells?.[row ?? -1] ?? NONE);
      },
    };
    const where: Host["where"] = async (place, a, b) => {
      const found = shown();
      const times = { a: timeOf(found, a), b: timeOf(found, b) };
      const { map } = await ask({ ask: "where", row: found.rows[place] ?? -1, ...times });
      if (map === undefined) {
        throw new Error(trans.__("The server sent no map."));
      }
      return map;
    };
    return { kernel, where };
  }

  #draw(): void {
    if (this.isDisposed) {
      return;
    }
    const trans = this.trans;
    const reading = this.#reading;
    render(
      <>
        {reading?.isShown && (
          <div class="ckpt-viz-reading">
            <span role="status" class="ckpt-viz-loading">
              {trans.__("Reading the history of %1 …", visible(PathExt.basename(this.path)))}
            </span>
            <progress
              aria-label={trans.__("Progress")}
              aria-valuetext={this.#progressWords(reading.arrived)}
              max={1}
              value={progressOf(reading.arrived)}
            />
            <span>{this.#progressWords(reading.arrived)}</span>
            <Choice words={trans.__("Cancel")} choose={() => reading.controller.abort()} />
          </div>
        )}
        {this.#problem !== null && (
          <p role="alert" class="ckpt-viz-problem">
            <Sentence text={this.#problem} />
            <Choice words={trans.__("Try again")} choose={() => void this.refresh()} />
          </p>
        )}
        {this.#rest !== null && (
          <p role="status">
            <Sentence text={this.#rest} />
            <Choice words={trans.__("Read on")} choose={() => void this.refresh()} />
          </p>
        )}
      </>,
      this.#notices,
    );
  }

  #progressWords({ isPlanned, opened, checkpoints, read, total }: Arrived): string {
    const trans = this.trans;
    if (checkpoints === 0) {
      return "";
    }
    const [done, all] = [formatCount(opened), formatCount(checkpoints)];
    return isPlanned
      ? trans.__("%1 of %2 checkpoints, %3 of %4", done, all, bytesWords(read), bytesWords(total))
      : trans.__("%1 of %2 checkpoints opened", done, all);
  }

  #restWords({ arrived, controller }: Reading): string {
    const trans = this.trans;
    const { history, isPlanned, rows, why } = arrived;
    if (history === null || !isPlanned) {
      return trans.__("Cancelled: nothing was read.");
    }
    const [done, all] = [formatCount(rows), formatCount(history.rows.length)];
    const said = controller.signal.aborted
      ? trans.__("Cancelled: %1 of %2 rows were read.", done, all)
      : trans.__("%1 of %2 rows were read.", done, all);
    return why === "" ? said : `${said} ${sentence(why)}`;
  }
}

const NONE: Cell = { state: "absent" };

/** From 0 to 1; opening the checkpoints is the first tenth. */
function progressOf({ isPlanned, opened, checkpoints, read, total }: Arrived): number {
  const isOpened = checkpoints === 0 ? 0 : opened / checkpoints;
  return isPlanned ? 0.1 + (0.9 * read) / Math.max(1, total) : 0.1 * isOpened;
}

const sentence = (why: string): string => `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.`;

type Tab = MainAreaWidget<HistoryPanel>;

/** The open tabs of histories: one for each path. */
export class Histories {
  readonly tracker = new WidgetTracker<Tab>({ namespace: "ckpt-viz-histories" });

  constructor(
    private readonly tabs: Tabs,
    private readonly server: CheckpointServer,
    private readonly trans: TranslationBundle,
  ) {}

  /** Shows the history of a directory, or of its `checkpoint` file. */
  open(path: string): Tab {
    const open = this.tracker.find(({ content }) => content.path === path);
    return this.tabs.show(open ?? this.#make(path));
  }

  #make(path: string): Tab {
    const trans = this.trans;
    const content = new HistoryPanel(path, this.server, trans);
    const tab: Tab = new MainAreaWidget({ content });
    const refresh = new ToolbarButton({
      icon: refreshIcon,
      tooltip: trans.__("Read the checkpoints again"),
      onClick: () => void content.refresh(),
    });
    tab.toolbar.addItem("refresh", refresh);
    const title = trans.__("History of %1", PathExt.basename(path) || "/");
    this.tabs.label(tab, `ckpt-viz-history:${path}`, title, path);
    void this.tracker.add(tab);
    return tab;
  }
}
