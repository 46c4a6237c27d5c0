/** The source of a tab's graph: Jupyter's server, or a kernel. */

import type { IDisposable } from "@lumino/disposable";
import { bytesOf } from "../host/shared";
import type { Ask } from "../kernel/kernel";
import type { ViewState } from "../view/view";

/** A checkpoint that is beside others, or that the state file lists. */
export interface Kept {
  /** Its contents path; null if it is outside of the server's root. */
  readonly path: string | null;
  readonly exists: boolean;
  /** Whether the state file of its directory names it, and whether as the latest. */
  readonly named: boolean;
  readonly latest: boolean;
}

export interface Loaded {
  readonly payload: Uint8Array;
  /** Facts about it for the user, a sentence each. */
  readonly notes: readonly string[];
  /** The checkpoints of a directory: those in its state file come last, oldest first. */
  readonly kept: readonly Kept[];
  /** The nodes that were selected and open before, by their ids in this graph. */
  readonly state: Partial<ViewState>;
}

/** The buffers of an answer, which arrive as base64. */
export function unpacked(buffers: readonly string[]): readonly DataView[] {
  return buffers.map((buffer) => {
    const bytes = bytesOf(buffer);
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  });
}

export interface Source {
  /** Reads the graph as it is now. `before` has the earlier selection and open nodes, if any. */
  load(signal: AbortSignal, before: ViewState | null): Promise<Loaded>;
  readonly ask: Ask;
  /** Whether a signal ends the reading of values. */
  readonly canStop: boolean;
  /**
   * Calls back each time the last loaded graph turns out to be outdated.
   *
   * `isSeen` returns whether the user can see the explorer; a hidden one needs no check.
   */
  watch(isStale: () => void, isSeen: () => boolean): IDisposable;
  /** Releases its resources; callers ask it nothing afterwards. */
  dispose(): void;
  /** The message in that case. */
  readonly staleWords: string;
  /** The message while it loads. */
  readonly loadingWords: string;
}
