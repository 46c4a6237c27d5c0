/** A history that arrives line by line while Jupyter's server reads it: docs/server.md. */

import { type Cell, type Finding, type History, readHistory } from "./data";

export type Line =
  | { readonly part: "plan"; readonly is_first: boolean; readonly history: unknown }
  | { readonly part: "opened"; readonly done: number; readonly total: number }
  | {
      readonly part: "rows";
      /** The numbers of rows, with their cells. */
      readonly rows: readonly (readonly [number, readonly Cell[]])[];
      readonly read: number;
      readonly total: number;
    }
  | {
      readonly part: "end";
      readonly is_complete: boolean;
      /** Why not all was read. */
      readonly why: string;
      readonly sentences?: History["sentences"];
      readonly notes?: readonly string[];
      readonly findings?: readonly Finding[];
    }
  | { readonly part: "refused"; readonly message: string };

/** What has arrived. */
export interface Arrived {
  /** Null before the first plan. */
  readonly history: History | null;
  /** Whether the plan is that of all checkpoints. */
  readonly isPlanned: boolean;
  readonly opened: number;
  readonly checkpoints: number;
  readonly rows: number;
  readonly read: number;
  readonly total: number;
  /** The last line, if it has come. */
  readonly end: "none" | "complete" | "part" | "refused";
  readonly why: string;
}

export const NOTHING: Arrived = {
  history: null,
  isPlanned: false,
  opened: 0,
  checkpoints: 0,
  rows: 0,
  read: 0,
  total: 0,
  end: "none",
  why: "",
};

const WAITING: Cell = { state: "waiting" };
const UNREAD: Cell = { state: "unread" };

/** What has arrived with some more lines. Throws an error of one sentence for a malformed plan. */
export function withLines(before: Arrived, lines: readonly Line[]): Arrived {
  let now = before;
  const rows = lines.flatMap((line) => {
    now = withLine(now, line);
    return line.part === "rows" ? line.rows : [];
  });
  if (rows.length === 0 || now.history === null) {
    return now;
  }
  // One copy of the list for all lines.
  const all = [...now.history.rows];
  for (const [number, cells] of rows) {
    const row = all[number];
    if (row !== undefined && cells.length === now.history.checkpoints.length) {
      all[number] = { ...row, cells };
    }
  }
  return { ...now, history: { ...now.history, rows: all } };
}

function withLine(before: Arrived, line: Line): Arrived {
  switch (line.part) {
    case "plan": {
      const history = planned(line.history);
      const checkpoints = history.checkpoints.length;
      const opened = line.is_first ? Math.max(1, before.opened) : checkpoints;
      return { ...before, history, isPlanned: !line.is_first, opened, checkpoints, rows: 0 };
    }
    case "opened":
      return { ...before, opened: line.done, checkpoints: line.total };
    case "rows":
      return {
        ...before,
        rows: before.rows + line.rows.length,
        read: line.read,
        total: line.total,
      };
    case "end": {
      const { is_complete, why, sentences, notes, findings } = line;
      const history = before.history && {
        ...before.history,
        sentences: sentences ?? [],
        notes: notes ?? [],
        findings: findings ?? [],
      };
      return { ...before, history, why, end: is_complete ? "complete" : "part" };
    }
    case "refused":
      return { ...before, why: line.message, end: "refused" };
  }
}

/** A history whose rows wait for their cells. */
function planned(data: unknown): History {
  const plan = data as History;
  const cells = plan.checkpoints.map(() => WAITING);
  return readHistory({ ...plan, rows: plan.rows.map((row) => ({ ...row, cells })) });
}

/** A history after its reading has ended: what still waits was not read. */
export function ended(history: History): History {
  const isWaiting = ({ cells }: { readonly cells: readonly Cell[] }) =>
    cells.some(({ state }) => state === "waiting");
  return history.rows.some(isWaiting)
    ? {
        ...history,
        rows: history.rows.map((row) =>
          isWaiting(row)
            ? { ...row, cells: row.cells.map((one) => (one.state === "waiting" ? UNREAD : one)) }
            : row,
        ),
      }
    : history;
}

/** The lines of a response, in batches as they arrive. */
export async function readLines(
  response: Response,
  take: (lines: readonly Line[]) => void,
): Promise<void> {
  const stream = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let next = await stream?.read(); next && !next.done; next = await stream?.read()) {
    const lines = (rest + next.value).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) {
      take(lines.map((line) => JSON.parse(line) as Line));
    }
  }
}
