/** A history as CSV, with the columns of Python's `History.to_csv`. */

import type { Cell, History } from "./data";

const OF_ROW = ["key", "place", "dtype", "checkpoint", "number", "step", "state"];
const OF_CELL = ["l2", "relative", "max_abs", "changed", "since_first", "left_out", "error"];
const OF_VALUES = ["min", "max", "mean", "std", "l2", "zeros", "nan", "inf"];
/** A text that programs for tables take for a formula; also with the wide forms of the signs. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;

/** The view has six digits of each number, and no zeros. */
export function csvOf({ checkpoints, rows }: History): string {
  const lines = [[...OF_ROW, ...OF_CELL.map((name) => `change_${name}`), ...OF_VALUES]];
  const fields = (data: object | undefined, names: readonly string[]) =>
    names.map((name) => (data as Readonly<Record<string, unknown>> | undefined)?.[name]);
  const text: unknown[][] = rows.flatMap((row) =>
    row.cells.map((cell: Cell, number) => {
      const { title = "", step = null } = checkpoints[number] ?? {};
      return [
        ...[row.key, row.place, row.dtype, title, number, step, cell.state],
        ...fields({ left_out: 0, ...cell }, OF_CELL),
        ...fields(cell.values, OF_VALUES),
      ];
    }),
  );
  return [...lines, ...text].map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

function field(value: unknown): string {
  if (typeof value === "number") {
    return String(value);
  }
  const text = typeof value === "string" ? value : "";
  return `"${FORMULA.test(text) ? "'" : ""}${text.replaceAll('"', '""')}"`;
}
