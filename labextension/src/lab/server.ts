/** The server's part (ckpt_viz/entrances/server, docs/server.md): it reads checkpoints in files. */

import { PathExt, URLExt } from "@jupyterlab/coreutils";
import { type Contents, ServerConnection } from "@jupyterlab/services";
import type { TranslationBundle } from "@jupyterlab/translation";
import { DisposableDelegate, type IDisposable } from "@lumino/disposable";
import { Poll } from "@lumino/polling";
import { version } from "../../package.json";
import { VERSION } from "../data/contract";
import type { Answer as HistoryAnswer } from "../history/asking";
import { type Line, readLines } from "../history/lines";
import { bytesOf } from "../host/shared";
import type { Answer, Ask } from "../kernel/kernel";
import { patiently } from "./patience";
import { type Kept, type Loaded, type Source, unpacked } from "./source";

/** How often to check files for changes, in ms; ten times less often after failures. */
export const INTERVAL = 5_000;

/** The server's answer to a request for a graph; an error has a sentence and its reason. */
interface GraphAnswer {
  readonly version: string;
  readonly format: number;
  readonly etag: string;
  readonly prefix: string;
  readonly kept: readonly Kept[];
  readonly payload: string;
}

interface Refusal {
  readonly message?: string;
  readonly reason?: string;
}

type Query = Readonly<Record<string, string>>;

export class CheckpointServer {
  constructor(
    private readonly settings: ServerConnection.ISettings,
    private readonly contents: Contents.IManager,
    private readonly trans: TranslationBundle,
  ) {}

  /** The source of the checkpoint at a contents path, or of its difference from an older one. */
  source(path: string, against: string | null = null): Source {
    return new SavedSource(this, this.trans, path, against);
  }

  /** The names of the checkpoints in a directory, by the content of its files. */
  async checkpoints(directory: string, signal: AbortSignal): Promise<readonly string[]> {
    const query = { path: this.#local(directory) };
    const response = await this.#get("checkpoints", query, signal);
    return ((await response.json()) as { readonly names: readonly string[] }).names;
  }

  /** Passes on the history of a directory while the server reads it. Returns its files' tag. */
  async history(
    path: string,
    signal: AbortSignal,
    take: (lines: readonly Line[]) => void,
  ): Promise<string> {
    const response = await this.#get("history", { path: this.#local(path) }, signal);
    let isOver = false;
    await readLines(response, (lines) => {
      isOver ||= lines.some(({ part }) => part === "end" || part === "refused");
      take(lines);
    });
    if (!isOver) {
      throw new Error(
        this.trans.__(
          "Jupyter's server ended the reading: its process may have had too little memory. The server's log says more.",
        ),
      );
    }
    return opaque(response.headers.get("ETag") ?? "");
  }

  /** A tag that changes with a directory's checkpoints; null once there are none. */
  historyTag(path: string): Promise<string | null> {
    return this.#tag("history", { path: this.#local(path) });
  }

  /** The answer to a question about a history with this tag. */
  async askHistory(path: string, etag: string, question: object): Promise<HistoryAnswer> {
    const query = { path: this.#local(path), etag, question: JSON.stringify(question) };
    const response = await this.#get("history", query);
    const { answer } = (await response.json()) as { readonly answer: HistoryAnswer };
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return answer;
  }

  async graph(path: string, against: string | null, signal?: AbortSignal): Promise<GraphAnswer> {
    const response = await this.#get("graph", this.#sides(path, against), signal);
    return this.#checked((await response.json()) as GraphAnswer);
  }

  /** A tag that changes with the files; null once they are unreadable. */
  etag(path: string, against: string | null): Promise<string | null> {
    return this.#tag("graph", this.#sides(path, against));
  }

  async #tag(endpoint: string, query: Query): Promise<string | null> {
    const response = await this.#request(endpoint, query, { method: "HEAD", cache: "no-store" });
    if (response.status >= 500) {
      throw new Error(`${response.status} ${response.statusText}`); // no fact about the files
    }
    return response.ok ? opaque(response.headers.get("ETag") ?? "") : null;
  }

  /** The answer to a question about the graph with this ETag, never about another one. */
  async answer(
    path: string,
    against: string | null,
    etag: string | null,
    question: object,
    signal?: AbortSignal,
  ): ReturnType<Ask> {
    const query = { ...this.#sides(path, against), question: JSON.stringify(question) };
    const response = await this.#get("answer", etag === null ? query : { ...query, etag }, signal);
    const { answer, buffers } = (await response.json()) as {
      readonly answer: Answer;
      readonly buffers: readonly string[];
    };
    return [answer, unpacked(buffers)];
  }

  /** The messages for a page and a server of different versions. */
  mismatch({ version: theirs }: Pick<GraphAnswer, "version">): readonly string[] {
    return theirs === version
      ? []
      : [
          this.trans.__(
            "This page has ckpt-viz %1, Jupyter's server has %2: install the same version in both, restart the server, and load the page again.",
            version,
            theirs,
          ),
        ];
  }

  #checked(answer: GraphAnswer): GraphAnswer {
    if (answer.format !== VERSION) {
      throw new Error(
        this.trans.__(
          "Jupyter's server has ckpt-viz %1, which sends graphs in format %2; this page has %3, which reads format %4. Install the same version in both, restart the server, and load the page again.",
          answer.version,
          answer.format,
          version,
          VERSION,
        ),
      );
    }
    return answer;
  }

  #sides(path: string, against: string | null): Query {
    const [own, other] = [path, against].map((one) => (one === null ? null : this.#local(one)));
    return other == null ? { path: own ?? "" } : { path: own ?? "", against: other };
  }

  /** A path as the server's own contents manager knows it. */
  #local(path: string): string {
    const drive = this.contents.driveName(path);
    if (drive !== "" && drive !== "RTC") {
      throw new Error(
        this.trans.__(
          "%1 is on the drive %2; open a checkpoint among the server's own files instead.",
          path,
          drive,
        ),
      );
    }
    return this.contents.localPath(path);
  }

  async #get(endpoint: string, query: Query, signal?: AbortSignal): Promise<Response> {
    const ask = () => this.#request(endpoint, query, { signal: signal ?? null });
    const response = await patiently(ask, signal);
    if (!response.ok) {
      throw new Error(await this.#whyNot(response));
    }
    return response;
  }

  async #request(endpoint: string, query: Query, init: RequestInit): Promise<Response> {
    const { baseUrl } = this.settings;
    const url = URLExt.join(baseUrl, "ckpt-viz/api/v1", endpoint);
    const asked = `${url}${URLExt.objectToQueryString(query)}`;
    try {
      return await ServerConnection.makeRequest(asked, init, this.settings);
    } catch (error) {
      if (error instanceof ServerConnection.NetworkError) {
        throw new Error(
          this.trans.__(
            "Jupyter's server does not answer: it has stopped, or the network is down. Start the server, then try again.",
          ),
        );
      }
      throw error;
    }
  }

  async #whyNot(response: Response): Promise<string> {
    const refusal = await response.json().then(
      (data: Refusal | null) => data ?? {},
      (): Refusal => ({}),
    );
    // Jupyter itself answers for paths without a handler, and its answer has no reason of ours.
    if (response.status === 404 && !refusal.reason) {
      return this.trans.__(
        "Jupyter's server has no ckpt-viz %1. Run `pip install ckpt-viz` in JupyterLab's environment, and restart JupyterLab. Then `jupyter server extension list` shows ckpt_viz.",
        version,
      );
    }
    return refusal.message || `${response.status} ${response.statusText}`;
  }
}

class SavedSource implements Source {
  #etag: string | null = null;
  readonly #disposal = new AbortController();
  readonly canStop = true;

  constructor(
    private readonly server: CheckpointServer,
    private readonly trans: TranslationBundle,
    private readonly path: string,
    private readonly against: string | null,
  ) {}

  get staleWords(): string {
    return this.trans.__("The files have changed since they were read.");
  }

  get loadingWords(): string {
    const names = [this.against, this.path].flatMap((path) => path ?? []);
    return this.trans.__("Reading %1 …", names.map((path) => PathExt.basename(path)).join(", "));
  }

  readonly ask: Ask = (question, _patience, _tell, stopped) => {
    const { signal } = this.#disposal;
    const both = stopped === undefined ? signal : AbortSignal.any([signal, stopped]);
    return this.server.answer(this.path, this.against, this.#etag, question, both);
  };

  async load(signal: AbortSignal): Promise<Loaded> {
    const answer = await this.server.graph(this.path, this.against, signal);
    this.#etag = opaque(answer.etag);
    return {
      payload: bytesOf(answer.payload),
      notes: this.server.mismatch(answer),
      kept: answer.kept,
      state: {},
    };
  }

  watch(isStale: () => void, isSeen: () => boolean): IDisposable {
    const poll = new Poll({
      name: "ckpt-viz:files",
      frequency: { interval: INTERVAL, max: 10 * INTERVAL, backoff: true },
      standby: "when-hidden",
      factory: async () => {
        if (!isSeen()) {
          return;
        }
        const shown = this.#etag;
        const found = await this.server.etag(this.path, this.against);
        if (shown !== null && shown === this.#etag && found !== shown) {
          isStale();
        }
      },
    });
    return new DisposableDelegate(() => poll.dispose());
  }

  dispose(): void {
    this.#disposal.abort();
  }
}

/** An ETag without the parts that a proxy may change. */
function opaque(etag: string): string {
  return etag.replace(/^W\//, "").replaceAll('"', "");
}
