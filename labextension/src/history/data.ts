/** A history as Python's `History.to_json` writes it: docs/history.md. */

import { gunzip } from "../basics/gunzip";
import type { Histogram } from "../kernel/kernel";
import * as WORDS from "./strings";

export type Statistic = keyof typeof WORDS.statistics;

export type Statistics = Readonly<Partial<Record<Statistic, number>>> & {
  readonly histogram?: Histogram;
};

export interface Cell {
  readonly state: string;
  readonly values?: Statistics;
  readonly l2?: number;
  readonly relative?: number;
  readonly max_abs?: number;
  readonly at?: readonly number[];
  readonly since_first?: number;
  readonly error?: string;
  /** How many elements the change leaves out, because they are NaN or infinite. */
  readonly left_out?: number;
}

/** Where a variable differs between two checkpoints: docs/history.md. */
export interface ChangeMap {
  readonly state: string;
  /** What the map shows, or why there is none. */
  readonly words: string;
  /** The rows and columns of the tensor as a matrix. */
  readonly matrix?: readonly [number, number];
  /** The means of |b − a|; null where no element is finite. */
  readonly cells?: readonly (readonly (number | null)[])[];
  /** Row and column of cells with elements that are NaN or infinite, and how many. */
  readonly broken?: readonly (readonly [number, number, number])[];
  readonly max_abs?: number;
  readonly at?: readonly number[];
}

export interface Row {
  readonly key: string;
  readonly name: string;
  readonly place: string;
  readonly is_state: boolean;
  readonly dtype: string | null;
  readonly shape: readonly number[] | null;
  /** One for each checkpoint. */
  readonly cells: readonly Cell[];
  readonly spread?: number;
}

export interface Checkpoint {
  readonly title: string;
  readonly path: string;
  readonly step: number | null;
  readonly saved_at: string | null;
  readonly error: string | null;
  /** Whether it was deleted since it was read. */
  readonly isGone?: boolean;
}

export interface Finding {
  readonly kind: string;
  /** The number of the first checkpoint concerned. */
  readonly first: number;
  readonly why: string;
  readonly is_alarm: boolean;
  /** The places of the variables. */
  readonly names: readonly string[];
  /** The way back to finite values. */
  readonly restore?: { readonly checkpoint: number; readonly code: string };
}

export interface History {
  readonly sentences: readonly { readonly text: string; readonly is_alarm: boolean }[];
  readonly notes: readonly string[];
  readonly order: string;
  readonly checkpoints: readonly Checkpoint[];
  readonly marks: readonly { readonly at: number; readonly why: string }[];
  readonly findings: readonly Finding[];
  readonly rows: readonly Row[];
  /** If members were compared without an order; else null. */
  readonly distances: readonly (readonly (number | null)[])[] | null;
}

const LISTS = ["sentences", "notes", "checkpoints", "marks", "findings", "rows"] as const;
const MAX_BYTES = 1_000_000_000;

/** Reads the packed JSON. Throws an error of one sentence for the user. */
export async function decodeHistory(packed: Uint8Array): Promise<History> {
  try {
    return readHistory(JSON.parse(new TextDecoder().decode(await gunzip(packed, MAX_BYTES))));
  } catch (error) {
    throw new Error(WORDS.noHistory + (error instanceof Error ? error.message : String(error)));
  }
}

/** Checks that data has the parts that the view reads. */
export function readHistory(data: unknown): History {
  if (!isRecord(data)) {
    throw new Error(WORDS.missing(WORDS.object));
  }
  if (data.version !== 1) {
    throw new Error(WORDS.version(JSON.stringify(data.version) ?? "none"));
  }
  for (const name of LISTS) {
    if (!Array.isArray(data[name])) {
      throw new Error(WORDS.missing(name));
    }
  }
  // The lists are checked, and their items below.
  const history = data as unknown as History;
  const times = history.checkpoints.length;
  const isRow = (row: unknown) =>
    isRecord(row) && typeof row.place === "string" && lengthOf(row.cells) === times;
  if (times === 0 || !history.rows.every(isRow)) {
    throw new Error(WORDS.missing(times === 0 ? "checkpoints" : "rows"));
  }
  return history;
}

export function isBroken(cell: Cell | undefined): "NaN" | "Inf" | null {
  if (cell?.values?.nan) {
    return "NaN";
  }
  return cell?.values?.inf ? "Inf" : null;
}

export const isThere = (cell: Cell | undefined): cell is Cell =>
  cell !== undefined && !["absent", "damaged", "waiting"].includes(cell.state);

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : -1;
}

function isRecord(value: unknown): value is Readonly<Partial<Record<string, unknown>>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
