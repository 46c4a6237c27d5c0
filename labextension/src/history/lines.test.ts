import { expect, it } from "vitest";
import { load } from "./histories.test-data";
import { ended, type Line, NOTHING, readLines, withLines } from "./lines";
import { initialState, reduce } from "./state";

const whole = load("training");
const bare = { ...whole, version: 1, rows: whole.rows.map((row) => ({ ...row, cells: [] })) };
const plan: Line = { part: "plan", is_first: false, history: bare };
const rowsOf = (...numbers: readonly number[]): Line => ({
  part: "rows",
  rows: numbers.map((number) => [number, whole.rows[number]?.cells ?? []]),
  read: 10,
  total: 100,
});

it("shows the rows of the plan, and fills them as they arrive", () => {
  const first = withLines(NOTHING, [plan]);
  expect(first.history?.rows.length).toBe(whole.rows.length);
  const states = first.history?.rows.flatMap(({ cells }) => cells.map(({ state }) => state));
  expect(new Set(states)).toEqual(new Set(["waiting"]));
  const next = withLines(first, [rowsOf(3), rowsOf(1, 2)]);
  expect(next).toMatchObject({ rows: 3, read: 10, total: 100, end: "none" });
  expect(next.history?.rows[2]).toEqual(whole.rows[2]);
  expect(next.history?.rows[4]?.cells[0]?.state).toBe("waiting");
});

it("is the whole history in the end", () => {
  const { sentences, notes, findings } = whole;
  const all = rowsOf(...whole.rows.map((_, number) => number));
  const told = { sentences, notes, findings };
  const end: Line = { part: "end", is_complete: true, why: "", ...told };
  const found = withLines(NOTHING, [plan, all, end]);
  expect(found.end).toBe("complete");
  expect(found.history).toEqual({ ...whole, version: 1 });
});

it("marks what was not read when the reading ends", () => {
  const { history } = withLines(NOTHING, [plan, rowsOf(0)]);
  const rows = history === null ? [] : ended(history).rows;
  expect(rows[0]).toEqual(whole.rows[0]);
  expect(rows[1]?.cells.map(({ state }) => state)).toEqual(whole.checkpoints.map(() => "unread"));
});

it("ignores rows that the plan does not have", () => {
  const found = withLines(withLines(NOTHING, [plan]), [
    {
      part: "rows",
      rows: [
        [1e6, []],
        [0, []],
      ],
      read: 1,
      total: 2,
    },
  ]);
  expect(found.history?.rows[0]?.cells.length).toBe(whole.checkpoints.length);
});

it("refuses a plan that is no history", () => {
  expect(() => withLines(NOTHING, [{ ...plan, history: { ...bare, version: 2 } }])).toThrow(
    "expected version 1",
  );
});

it("reads lines that arrive in any pieces", async () => {
  const text = `${JSON.stringify(plan)}\n${JSON.stringify(rowsOf(0))}\n`;
  for (const size of [1, 7, 1000, text.length]) {
    const bytes = new TextEncoder().encode(text);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) {
          controller.enqueue(bytes.slice(at, at + size));
        }
        controller.close();
      },
    });
    const found: Line[] = [];
    await readLines(new Response(stream), (lines) => found.push(...lines));
    expect(found).toEqual([plan, rowsOf(0)]);
  }
});

it("keeps what the user has chosen while rows arrive", () => {
  const { history } = withLines(NOTHING, [plan]);
  const full = withLines(NOTHING, [plan, rowsOf(...whole.rows.keys())]).history;
  if (history === null || full === null) {
    throw new Error("no history");
  }
  const start = initialState(history);
  const chosen = (
    [
      { type: "move", end: "a", to: 2 },
      { type: "select", row: 3 },
      { type: "order", order: "tree" },
      { type: "query", query: "block" },
    ] as const
  ).reduce(reduce, start);
  const { a, b, selected, order, query, firstBad } = reduce(chosen, {
    type: "update",
    history: full,
  });
  expect({ a, b, selected, order, query }).toEqual({
    ...{ a: 2, b: 8, selected: 3, order: "tree", query: "block" },
  });
  expect(firstBad?.time).toBe(8);
  // Until the user moves b, it follows the last checkpoint.
  const fewer = { ...whole, checkpoints: whole.checkpoints.slice(0, 5) };
  expect(reduce(initialState(fewer), { type: "update", history: full }).b).toBe(8);
});
