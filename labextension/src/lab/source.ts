/** Where the explorer of a tab gets its graph from: Jupyter's server, or a kernel. */

import type { IDisposable } from "@lumino/disposable";
import type { Ask } from "../kernel";
import { bytesOf } from "../shared";
import type { ViewState } from "../view";

/** A checkpoint that lies beside others, or is said to. */
export interface Kept {
  /** Its contents path; null where it lies outside of the server's root. */
  readonly path: string | null;
  readonly exists: boolean;
  /** Whether the state file of its directory names it, and whether as the latest. */
  readonly named: boolean;
  readonly latest: boolean;
}

export interface Loaded {
  readonly payload: Uint8Array;
  /** What is worth knowing about it, a sentence each. */
  readonly notes: readonly string[];
  /** The checkpoints of a directory: those that its state file names come last, oldest first. */
  readonly kept: readonly Kept[];
  /** What was selected and open before, in the ids of this graph. */
  readonly state: Partial<ViewState>;
}

/** The buffers of an answer, which are sent as base64. */
export function unpacked(buffers: readonly string[]): readonly DataView[] {
  return buffers.map((buffer) => {
    const bytes = bytesOf(buffer);
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  });
}

export interface Source {
  /** Reads the graph as it is now. `before` is what was selected and open, if it was shown. */
  load(signal: AbortSignal, before: ViewState | null): Promise<Loaded>;
  readonly ask: Ask;
  /**
   * Calls back each time that what was loaded last is found to be no longer so.
   *
   * `isSeen` tells whether somebody looks on; nobody else has to know.
   */
  watch(isStale: () => void, isSeen: () => boolean): IDisposable;
  /** Gives back what it holds; nothing is asked of it any more. */
  dispose(): void;
  /** What is said then. */
  readonly staleWords: string;
  /** What is said while it loads. */
  readonly loadingWords: string;
}
