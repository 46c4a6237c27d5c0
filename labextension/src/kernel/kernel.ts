/** Questions to a running kernel. It answers, or throws an error of one sentence. */

import table from "../../../ckpt_viz/graphs/render/exports.json";
import type { MeasureColumnName } from "../data/contract";
import type { ChangedAnswer } from "./changes";
import type { Said, StoryAnswer } from "./play";

/** Counts between edges. */
export interface Histogram {
  readonly counts: readonly number[];
  readonly edges: readonly number[];
}

export interface Value {
  /** The side of a comparison that has the value: program, checkpoint, a or b; "" without one. */
  readonly of: string;
  /** The attribute's name. */
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** The first elements, as text. */
  readonly elements: readonly string[];
  /** Absent for strings, and for tensors that take long to read. */
  readonly statistics?: Readonly<Partial<Record<MeasureColumnName, number>>>;
  readonly histogram?: Histogram | null;
}

/** A value that the kernel cannot give, and the reason. */
export interface NoValue extends Pick<Value, "of" | "name"> {
  readonly error: string;
}

/** The code of a fix: a call of ckpt-viz, and a program for TensorFlow alone. */
export interface FixAnswer {
  readonly short: string;
  readonly code: string;
  /** The notebook's variable for the checked object, if it has one. */
  readonly source: string | null;
}

/** A format that the kernel writes. */
export interface Export {
  readonly format: string;
  readonly label: string;
}

export const EXPORTS: readonly Export[] = table;

/**
 * Sends a question of ckpt_viz/entrances/jupyter/answers.py; returns the answer's data and buffers. Waits at
 * most `patience` ms, if a host can stop waiting at all. A host that reads files itself stops at the
 * signal.
 */
export type Ask = (
  question: object,
  patience?: number,
  tell?: Tell,
  signal?: AbortSignal,
) => Promise<readonly [Answer, readonly DataView[]]>;

/** Called with the bytes that were read, and all that there are. */
export type Tell = (done: number, total: number) => void;

/** Sends a question; returns all parts of the answer, or throws its error. */
export type Kernel = (
  ...asked: Parameters<Ask>
) => Promise<Answer & { readonly buffers: readonly DataView[] }>;

/** How long a kernel may run other cells before it answers, and how long it may work itself. */
export const PATIENCE = 30_000;
export const PATIENCE_FOR_WORK = 600_000;
/** Checkpoints may be large; the view shows how far the kernel is. */
export const PATIENCE_FOR_VALUES = 36_000_000;

/** All possible parts of an answer; the answer to one question has some of them. */
export interface Answer {
  readonly error?: string;
  readonly values?: readonly (Value | NoValue)[];
  readonly text?: string;
  readonly name?: string;
  readonly type?: string;
  readonly fix?: FixAnswer;
  readonly story?: StoryAnswer;
  readonly said?: Said;
  readonly changed?: ChangedAnswer;
  /** What a learner predicts; predict.ts reads it. */
  readonly questions?: unknown;
  readonly is_exercise?: unknown;
  /** The number of the first line of a text, and of the line that matters. */
  readonly first?: number;
  readonly line?: number;
}

export function makeKernel(ask: Ask): Kernel {
  return async (...asked) => {
    const [answer, buffers] = await ask(...asked);
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return { ...answer, buffers };
  };
}
