/** The engine in a worker: starts it, asks it, and ends it to cancel what it does. */

import { whyWords } from "../basics/text";
import type { Answer, Ask } from "../kernel/kernel";
import type {
  Message,
  Numbered,
  PageFile,
  Request,
  Result,
  Series,
  Show,
  SiteFiles,
} from "./protocol";
import * as WORDS from "./strings";

interface Waiting {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A checkpoint, or several, that the engine has open. */
interface Open {
  readonly files: readonly PageFile[];
  readonly show: Show;
  readonly paths: readonly string[];
}

export interface Opened {
  readonly title: string;
  /** Files with values that were not dropped. */
  readonly missing: readonly string[];
  /** Whether a program can be edited that would save this. */
  readonly can_rehearse: boolean;
  readonly payload: Uint8Array;
  /** Asks about this, also if the worker has opened something else since. */
  readonly ask: Ask;
}

export interface Site {
  /** The address of the site's folder. */
  readonly base: string;
  readonly files: SiteFiles;
  /** The text of the worker's script. */
  script(): Promise<string>;
}

/** What the page hears of the engine. */
export interface Hears {
  /** How many bytes of the engine are there, of those that it needs. */
  loaded(done: number, total: number): void;
  /** How many bytes of checkpoints were read. */
  read(bytes: number): void;
}

/** How long an answer may delay what is to be opened next, in ms. */
const PATIENCE = 2_000;

export class Engine {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #started: Promise<void> | null = null;
  #tell: ((done: number, total: number) => void) | null = null;
  #mounted: readonly PageFile[] | null = null;
  /** What the worker has open. */
  #open: (() => Promise<Open>) | null = null;
  /** How much there is to open: questions about what is on the page now have to wait. */
  #due = 0;
  /** When the question was asked that the worker answers now. */
  #asked: number | null = null;
  #isUp = false;
  #last: Promise<void> = Promise.resolve();
  #number = 0;

  constructor(
    private readonly site: Site,
    private readonly hears: Hears,
  ) {}

  /** Whether Python runs. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Loads Python; calling it again does nothing, unless that failed. */
  start(): Promise<void> {
    this.#started ??= this.#start().catch((error) => {
      this.stop();
      throw isAbort(error) ? error : new Error(WORDS.noEngine(whyWords(error)), { cause: error });
    });
    return this.#started;
  }

  /** The checkpoints among files. */
  seriesIn(files: readonly PageFile[]): Promise<readonly Series[]> {
    return this.#next(async () => {
      await this.#mount(files);
      const paths = files.map(({ path }) => path);
      const [{ series }] = await this.#send<{ readonly series: readonly Series[] }>({
        do: "series",
        files: paths,
      });
      return series;
    });
  }

  /** Opens something at the first question about it; returns what asks such questions. */
  prepare(open: () => Promise<Open>): Ask {
    return (...question) => this.#ask(open, ...question);
  }

  open(given: Open): Promise<Opened> {
    const open = async () => given;
    return this.#next(async () => ({
      ...(await this.#opened(given, open)),
      ask: (...question) => this.#ask(open, ...question),
    }));
  }

  async #opened(
    { files, show, paths }: Open,
    open: () => Promise<Open>,
  ): Promise<Omit<Opened, "ask">> {
    await this.#mount(files);
    this.#open = null;
    const [data, [payload]] = await this.#send<Omit<Opened, "ask" | "payload">>({
      do: "open",
      show,
      paths,
    });
    this.#open = open;
    return { ...data, payload: payload ?? new Uint8Array() };
  }

  /** Asks as an explorer asks a kernel. Ends the worker at the signal; the next one opens again. */
  async #ask(open: () => Promise<Open>, ...[question, _, tell, signal]: Parameters<Ask>) {
    const cancel = () => this.stop(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", cancel);
    try {
      return await this.#alone(async () => {
        await this.start();
        this.#giveWay();
        if (this.#open !== open) {
          await this.#opened(await open(), open);
          this.#giveWay();
        }
        this.#tell = tell ?? null;
        this.#asked = performance.now();
        const sent = { do: "ask", question: JSON.stringify(question) } as const;
        const [answer, buffers] = await this.#sendRaw(sent);
        return [answer as Answer, buffers.map(viewOf)] as const;
      });
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#tell = this.#asked = null;
    }
  }

  /** Gives a question up if there is something to open. */
  #giveWay(): void {
    if (this.#due > 0) {
      throw new DOMException("", "AbortError");
    }
  }

  /** Opens something else: no question about the present thing delays it, nor a long answer. */
  #next<T>(work: () => Promise<T>): Promise<T> {
    if (this.#asked !== null && performance.now() - this.#asked > PATIENCE) {
      this.stop();
    }
    this.#due++;
    return this.#alone(() => {
      this.#due--;
      return work();
    });
  }

  /** Does a work after all that came before it: each enters a directory, and opens something. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  /** Ends the worker; all that waits fails with the reason. */
  stop(reason: unknown = new DOMException("", "AbortError")): void {
    this.#worker?.terminate();
    this.#worker = this.#started = this.#mounted = this.#open = null;
    this.#isUp = false;
    for (const { reject } of this.#waiting.values()) {
      reject(reason);
    }
    this.#waiting.clear();
  }

  async #start(): Promise<void> {
    const { base, files, script } = this.site;
    const text = await script();
    // A worker of a blob has the policy of this page; one of a file has none.
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const worker = new Worker(url);
    this.#worker = worker;
    // A worker that was ended in the middle of a work may still send something, such as an error.
    const hear = <T>(type: string, listen: (event: T) => void) =>
      worker.addEventListener(type, (event) => this.#worker === worker && listen(event as T));
    hear<MessageEvent<Message>>("message", ({ data }) => this.#take(data));
    hear<ErrorEvent>("error", ({ message }) => this.stop(new Error(message)));
    await this.#post(worker, { do: "start", base, site: files });
    URL.revokeObjectURL(url);
    this.#isUp = true;
  }

  async #mount(files: readonly PageFile[]): Promise<void> {
    await this.start();
    if (this.#mounted !== files) {
      await this.#send({ do: "mount", files });
      this.#mounted = files;
    }
  }

  async #send<T>(request: Request): Promise<readonly [T, readonly Uint8Array[]]> {
    const [data, buffers] = await this.#sendRaw(request);
    const { error } = data as { readonly error?: string };
    if (error !== undefined) {
      throw new Error(error);
    }
    return [data as T, buffers];
  }

  async #sendRaw(request: Request): Promise<readonly [unknown, readonly Uint8Array[]]> {
    await this.start();
    if (this.#worker === null) {
      throw new DOMException("", "AbortError");
    }
    const { json, buffers } = await this.#post(this.#worker, request);
    return [JSON.parse(json), buffers];
  }

  #post(worker: Worker, request: Request): Promise<Result> {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ ...request, id } satisfies Numbered);
    });
  }

  #take(message: Message): void {
    switch (message.type) {
      case "loaded":
        this.hears.loaded(message.done, message.total);
        break;
      case "progress":
        this.#tell?.(message.done, message.total);
        break;
      case "read":
        this.hears.read(message.bytes);
        break;
      case "result":
        this.#waiting.get(message.id)?.resolve(message.result);
        this.#waiting.delete(message.id);
        break;
      case "failed":
        this.stop(new Error(message.why)); // Python answers all else: this is a crash
    }
  }
}

export const isAbort = (error: unknown) =>
  error instanceof DOMException && error.name === "AbortError";

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
