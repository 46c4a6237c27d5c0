/** What the page and its engine say to each other. */

/** A dropped file, and its path below the folder that was dropped. */
export interface PageFile {
  readonly path: string;
  readonly file: File;
}

/** What the page shows of one or more checkpoints: ckpt_viz/entrances/web/session.py. */
export type Show = "graph" | "diff" | "check" | "history";

/** The checkpoints of a directory, the last saved one last. */
export interface Series {
  readonly directory: string;
  readonly paths: readonly string[];
}

/** By the name of a file of the site, its hash as `integrity` has it, and its size. */
export type SiteFiles = Readonly<Record<string, readonly [hash: string, bytes: number]>>;

export type Request =
  | { readonly do: "start"; readonly base: string; readonly site: SiteFiles }
  | { readonly do: "mount"; readonly files: readonly PageFile[] }
  | { readonly do: "series"; readonly files: readonly string[] }
  | { readonly do: "open"; readonly show: Show; readonly paths: readonly string[] }
  | { readonly do: "ask"; readonly question: string };

export type Numbered = Request & { readonly id: number };

/** JSON with `error` if there is no result, and the buffers beside it. */
export interface Result {
  readonly json: string;
  readonly buffers: readonly Uint8Array[];
}

export type Message =
  | { readonly type: "result"; readonly id: number; readonly result: Result }
  | { readonly type: "failed"; readonly id: number; readonly why: string }
  /** The bytes of the engine that are there, and all that it needs. */
  | { readonly type: "loaded"; readonly done: number; readonly total: number }
  /** The bytes of values that were read, and all that there are. */
  | { readonly type: "progress"; readonly done: number; readonly total: number }
  /** The bytes of files that were read up to now. */
  | { readonly type: "read"; readonly bytes: number };
