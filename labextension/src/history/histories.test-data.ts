/** The histories that Python wrote (tests/support/history_fixtures.py), and large ones. */

import { readFileSync } from "node:fs";
import { type Cell, type History, type Row, readHistory } from "./data";

const DIRECTORY = new URL("../../../tests/data/histories/", import.meta.url);

export function text(name: string): string {
  return readFileSync(new URL(`${name}.json`, DIRECTORY), "utf8");
}

export const load = (name: string): History => readHistory(JSON.parse(text(name)));

export function rowOf(history: History, place: string): Row {
  const found = history.rows.find((row) => row.place === place);
  if (found === undefined) {
    throw new Error(`no row ${place}`);
  }
  return found;
}

/** A row of these cells. */
export function row(...cells: readonly Cell[]): Row {
  const [key, shape] = ["k", [2]];
  return { key, name: key, place: key, is_state: false, dtype: "float32", shape, cells };
}

/** A history of many variables that all change at each save. */
export function large(rows: number, times: number): History {
  const checkpoint = { path: "", step: null, saved_at: null, error: null };
  return {
    sentences: [],
    notes: [],
    order: "",
    checkpoints: Array.from({ length: times }, (_, time) => ({ ...checkpoint, title: `c${time}` })),
    marks: [],
    findings: [],
    distances: null,
    rows: Array.from({ length: rows }, (_, number) => ({
      ...row(
        ...Array.from({ length: times }, (_, time) => ({
          state: time === 0 ? "first" : "changed",
          relative: (number % 97) / 97,
          l2: 1,
          values: { l2: 1 + number + time },
        })),
      ),
      place: `layer${number}.kernel`,
    })),
  };
}
