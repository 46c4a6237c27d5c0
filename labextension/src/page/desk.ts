/** What the page has open: its files, what it shows of them, and what it waits for. */

import { whyWords } from "../basics/text";
import { type Engine, type Hears, isAbort, type Opened } from "./engine";
import { EXAMPLES, type Example, filesOf, payloadOf } from "./examples";
import { MOST_FILES, TooManyFiles, together } from "./files";
import type { PageFile, Series, Show } from "./protocol";
import * as WORDS from "./strings";

/** The files of one side, and which checkpoint of them is shown. */
export interface Side {
  readonly files: readonly PageFile[];
  readonly series: readonly Series[];
  readonly path: string;
}

/** What the stage shows. */
export interface Shown extends Opened {
  readonly show: Show;
}

export interface DeskState {
  readonly example: Example | null;
  readonly sides: readonly Side[];
  readonly shown: Shown | null;
  /** What the page is doing, in words; null if nothing. */
  readonly busy: string | null;
  /** The bytes of the engine that are there, and all that it needs; null if it has all. */
  readonly loading: readonly [number, number] | null;
  readonly problem: string | null;
  readonly bytesRead: number;
}

export const EMPTY: DeskState = {
  example: null,
  sides: [],
  shown: null,
  busy: null,
  loading: null,
  problem: null,
  bytesRead: 0,
};

/** Where a drop goes: beside what is open, or in the place of one of two sides. */
export type Zone = "one" | "before" | "after" | "anywhere";

export class Desk {
  state: DeskState = EMPTY;
  readonly #engine: Engine;
  readonly #draw: () => void;
  #turn = 0;

  constructor(engine: (hears: Hears) => Engine, draw: () => void) {
    this.#engine = engine({
      loaded: (done, total) => this.#set({ loading: done < total ? [done, total] : null }),
      read: (bytesRead) => this.#set({ bytesRead }),
    });
    this.#draw = draw;
  }

  /** Starts Python before someone needs it; a failure shows when someone does. */
  warmUp(): void {
    this.#engine.start().catch(() => {});
  }

  /** Shows an example: its picture at once, its files when the first question comes. */
  async openExample(example: Example): Promise<void> {
    await this.#work(WORDS.reading(example.title), async (isCurrent) => {
      const payload = await payloadOf(example);
      if (isCurrent()) {
        const { paths, show, title } = example;
        const ask = this.#engine.prepare(async () => ({
          files: await filesOf(example),
          show,
          paths,
        }));
        const shown = { show, title, missing: [], can_rehearse: false, payload, ask };
        this.#set({ example, sides: [], shown });
      }
    });
  }

  /** Opens what was dropped on a zone, or chosen for it. */
  async take(zone: Zone, given: () => Promise<readonly PageFile[]>): Promise<void> {
    await this.#work(this.#engine.isUp ? WORDS.readingAll : WORDS.starting, async (isCurrent) => {
      const files = await collected(given);
      const lacking = zone === "anywhere" ? this.#lacking(files) : -1;
      if (lacking >= 0) {
        await this.#add(files, lacking, isCurrent);
        return;
      }
      const side = await this.#sideOf(files);
      if (isCurrent()) {
        const sides = placed(this.state.sides, side, zone);
        await this.#show(sides, sides.length === 2 ? "diff" : "graph", isCurrent);
      }
    });
  }

  /** Adds files to the side that lacks some, such as a shard that was not there. */
  async add(given: () => Promise<readonly PageFile[]>): Promise<void> {
    await this.#work(WORDS.readingAll, async (isCurrent) => {
      const files = await collected(given);
      await this.#add(files, Math.max(0, this.#lacking(files)), isCurrent);
    });
  }

  async #add(files: readonly PageFile[], to: number, isCurrent: () => boolean): Promise<void> {
    const { sides, shown } = this.state;
    const added = sides.map((side, place) =>
      place === to ? { ...side, files: merged(side.files, files) } : side,
    );
    await this.#show(added, shown?.show ?? "graph", isCurrent);
  }

  /** The side that lacks all of these files; -1 if none does. */
  #lacking(files: readonly PageFile[]): number {
    const missing = this.state.shown?.missing ?? [];
    const isMissing = ({ file }: PageFile) =>
      missing.some((name) => file.name.startsWith(baseName(name).replace(/…$/, "")));
    return files.length > 0 && files.every(isMissing)
      ? this.state.sides.findIndex(({ path }) =>
          missing.some((name) => baseName(name).startsWith(baseName(path))),
        )
      : -1;
  }

  /** Shows another checkpoint of a side, or the same in another way. */
  async change(show: Show, path?: string, of = 0): Promise<void> {
    const sides = this.state.sides.map((side, place) =>
      place === of && path !== undefined ? { ...side, path } : side,
    );
    await this.#work(WORDS.readingAll, (isCurrent) => this.#show(sides, show, isCurrent));
  }

  async swap(): Promise<void> {
    const { sides, shown } = this.state;
    await this.#work(WORDS.readingAll, (isCurrent) =>
      this.#show([...sides].reverse(), shown?.show ?? "diff", isCurrent),
    );
  }

  /** Closes one of two sides, or goes back to the start. */
  async close(side: number): Promise<void> {
    const sides = this.state.sides.filter((_, place) => place !== side);
    if (sides.length > 0) {
      this.#set({ sides }); // at once: the other side may be closed before this one is shown
      await this.#work(WORDS.readingAll, (isCurrent) => this.#show(sides, "graph", isCurrent));
    } else {
      this.cancel();
      this.#set({ ...EMPTY, bytesRead: 0 });
      const [first] = EXAMPLES;
      if (first !== undefined) {
        await this.openExample(first);
      }
    }
  }

  /** Ends what the engine does now. */
  cancel(): void {
    if (this.state.busy !== null) {
      this.#turn++;
      this.#engine.stop();
      this.#set({ busy: null, problem: WORDS.cancelled });
    }
  }

  async #sideOf(files: readonly PageFile[]): Promise<Side> {
    const [first] = files;
    if (first === undefined) {
      throw new Error(WORDS.noFiles);
    }
    const series = await this.#engine.seriesIn(files);
    return { files, series, path: series[0]?.paths.at(-1) ?? first.path };
  }

  async #show(sides: readonly Side[], show: Show, isCurrent: () => boolean): Promise<void> {
    const [before, after] = sides;
    if (before === undefined) {
      return;
    }
    const opened = await (after === undefined
      ? this.#engine.open({ files: before.files, show, paths: pathsOf(before, show) })
      : this.#openTwo(before, after, show));
    if (isCurrent()) {
      this.#set({ example: null, sides, shown: { ...opened, show } });
    }
  }

  #openTwo(before: Side, after: Side, show: Show): Promise<Opened> {
    const [files, ofBefore, ofAfter] = together(before.files, after.files);
    const paths = [ofBefore + before.path, ofAfter + after.path];
    // The program of a check comes first: it is as the checkpoint after the change.
    return this.#engine.open({ files, show, paths: show === "check" ? paths.reverse() : paths });
  }

  async #work(busy: string, work: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    const turn = ++this.#turn;
    const isCurrent = () => turn === this.#turn;
    this.#set({ busy, problem: null });
    try {
      await work(isCurrent);
    } catch (error) {
      if (isCurrent() && !isAbort(error)) {
        this.#set({ problem: whyWords(error) });
      }
    }
    if (isCurrent()) {
      this.#set({ busy: null });
    }
  }

  #set(change: Partial<DeskState>): void {
    this.state = { ...this.state, ...change };
    this.#draw();
  }
}

const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

async function collected(given: () => Promise<readonly PageFile[]>): Promise<readonly PageFile[]> {
  try {
    return await given();
  } catch (error) {
    throw error instanceof TooManyFiles
      ? new Error(WORDS.tooMany(MOST_FILES.toLocaleString("en")))
      : error;
  }
}

/** The sides after a drop. What is dropped beside an open checkpoint is the later one. */
export function placed(sides: readonly Side[], side: Side, zone: Zone): readonly Side[] {
  const [first, second] = sides;
  switch (zone) {
    case "one":
      return [side];
    case "before":
      return second === undefined ? (first === undefined ? [side] : [side, first]) : [side, second];
    case "after":
    case "anywhere":
      return first === undefined ? [side] : [first, side];
  }
}

function merged(own: readonly PageFile[], others: readonly PageFile[]): readonly PageFile[] {
  // A shard is beside the index, in whatever folder that is.
  const folder = own[0]?.path.slice(0, own[0].path.lastIndexOf("/") + 1) ?? "";
  const added = others.map(({ path, file }) => ({
    path: path.includes("/") ? path : folder + path,
    file,
  }));
  const paths = new Set(added.map(({ path }) => path));
  return [...own.filter(({ path }) => !paths.has(path)), ...added];
}

/** A check of one checkpoint is that of a program that would save exactly this. */
function pathsOf({ path, series }: Side, show: Show): readonly string[] {
  if (show === "history") {
    return series.find(({ paths }) => paths.includes(path))?.paths ?? [path];
  }
  return show === "check" ? [path, path] : [path];
}
