import { expect, test } from "vitest";
import type { Statistics } from "./data";
import { large, load } from "./histories.test-data";
import { type Action, initialState, listOf, ownerOf, reduce, type State } from "./state";

const training = initialState(load("training"));
const after = (state: State, ...actions: readonly Action[]) => actions.reduce(reduce, state);
const places = (state: State) => listOf(state).shown.map(({ row }) => row.place);

test("it opens with the first and the last checkpoint", () => {
  expect([training.a, training.b]).toEqual([0, 8]);
});

test("steps move an end, stop at the ends and pass what cannot be opened", () => {
  const history = {
    ...training.history,
    checkpoints: training.history.checkpoints.map((one, time) =>
      time === 6 || time === 8 ? { ...one, error: "no file" } : one,
    ),
  };
  const state = initialState(history);
  expect(state.b).toBe(7);
  const back = after(state, { type: "step", end: "b", by: -1 });
  expect(back.b).toBe(5);
  expect(after(state, { type: "step", end: "b", by: 1 }).b).toBe(7);
  expect(after(state, { type: "step", end: "a", by: -1 }).a).toBe(0);
  expect(after(state, { type: "step", end: "a", by: 1 })).toMatchObject({ a: 1, b: 7 });
});

test("a checkpoint that is none moves nothing", () => {
  for (const to of [-1, 9, 0.5, Number.NaN]) {
    expect(after(training, { type: "move", end: "b", to })).toBe(training);
  }
});

test("the first NaN is one of weights, and is shown whatever the filter", () => {
  const state = after(
    training,
    { type: "query", query: "nothing has this" },
    { type: "move", end: "b", to: 2 },
    { type: "goToBad" },
  );
  expect(state).toMatchObject({ b: 8, query: "" });
  const [first] = listOf(state).shown.filter(({ number }) => number === state.selected);
  expect(first?.change).toEqual({ kind: "bad", what: "NaN" });
});

test("there is no way to a NaN where all values are finite", () => {
  const healthy = initialState({ ...training.history, rows: [] });
  expect(healthy.firstBad).toBeNull();
  expect(after(healthy, { type: "goToBad" })).toBe(healthy);
});

test("the largest change comes first, and NaN before all", () => {
  const shown = places(training);
  expect(new Set(shown.slice(0, 2))).toEqual(
    new Set(["block1.norm.gamma", "block2.attention.query.kernel"]),
  );
  expect(shown[2]).toBe("head.bias");
  const order = after(training, { type: "order", order: "tree" });
  expect(places(order)[0]).toBe(training.history.rows.find((row) => !row.is_state)?.place);
});

test("values of optimizers are folded, and come after the variables", () => {
  const list = listOf(training);
  expect(list.states).toBe(11);
  expect(list.shown).toHaveLength(list.variables);
  const unfolded = places(after(training, { type: "toggleStates" }));
  expect(unfolded).toHaveLength(list.variables + 11);
  const isState = (place: string) => /Adam|^beta[12]_power$|^global_step$/.test(place);
  expect(unfolded.slice(-11).every(isState)).toBe(true);
});

test("the search filters by name, NaN and change", () => {
  const found = (query: string) => places(after(training, { type: "query", query }));
  expect(found("BLOCK0 kernel")).toEqual(["block0.attention.query.kernel"]);
  expect(found("is:nan")).toHaveLength(2);
  expect(found("is:inf")).toEqual([]);
  expect(found("changed>100% block")).toContain("block0.attention.query.kernel");
  expect(found("changed<1% bias")).toHaveLength(4);
  expect(found("change>100% block")).toEqual(found("changed>100% block"));
  expect(found("no such name")).toEqual([]);
});

test("the search asks for what the values of b measure", () => {
  const b = training.history.checkpoints.length - 1;
  const known = training.history.rows.filter(({ is_state }) => !is_state);
  const found = (query: string) =>
    new Set(places(after(training, { type: "query", query }, { type: "move", end: "b", to: b })));
  const where = (holds: (values: Statistics) => boolean) =>
    new Set(known.filter(({ cells }) => holds(cells[b]?.values ?? {})).map(({ place }) => place));
  expect(found("norm>1")).toEqual(where(({ l2 = 0 }) => l2 > 1));
  expect(found("norm > 1")).toEqual(found("norm>1"));
  expect(found("nan>0")).toEqual(where(({ nan = 0 }) => nan > 0));
  expect(found("min<-0.01 -bias")).toEqual(
    new Set([...where(({ min = 0 }) => min < -0.01)].filter((place) => !place.includes("bias"))),
  );
  expect(found("zeros=100%")).toEqual(where(({ min, max, nan }) => !(min || max || nan)));
  expect(found("is:zero")).toEqual(found("zeros=100%"));
  expect(found("change=0")).toEqual(found("is:unchanged"));
  expect(found("is:unchanged").size).toBeGreaterThan(0);
});

test("a query with a mistake says where it is, and leaves out nothing", () => {
  const list = listOf(after(training, { type: "query", query: "kernel is:lost" }));
  expect(list.mistake).toMatchObject({
    place: 10,
    expected: "one of inf, nan, unchanged, unreadable, zero",
  });
  expect(list.shown).toHaveLength(list.variables);
  expect(listOf(after(training, { type: "query", query: "norm>" })).mistake?.place).toBe(5);
});

test("an answer of the kernel for another a or b is dropped", () => {
  const state = after(
    training,
    { type: "move", end: "a", to: 3 },
    { type: "move", end: "b", to: 7 },
  );
  expect(listOf(state).hasBounds).toBe(true);
  const cells = state.history.rows.map(() => ({ state: "changed", l2: 1, relative: 0.5 }));
  const answer = { type: "computed", a: 3, b: 7, cells } as const;
  expect(listOf(after(state, answer)).hasBounds).toBe(false);
  const moved = after(state, { type: "step", end: "b", by: -1 });
  expect(after(moved, answer)).toBe(moved);
  expect(after(state, answer, { type: "step", end: "b", by: -1 }).between).toBe(null);
});

test("each of 50,000 rows has one place in the order", () => {
  const state = after(initialState(large(50_000, 9)), { type: "move", end: "a", to: 2 });
  const { shown } = listOf(state);
  expect([shown.length, new Set(shown).size]).toEqual([50_000, 50_000]);
});

test("by layer, each owner has a line above its variables, in the order of the tree", () => {
  const state = after(training, { type: "order", order: "layer" });
  const { lines, shown } = listOf(state);
  const tree = places(after(training, { type: "order", order: "tree" }));
  expect(shown.map(({ row }) => row.place).sort()).toEqual([...tree].sort());
  const owners = lines.flatMap((one) => ("layer" in one ? [one.layer] : []));
  expect(new Set(owners).size).toBe(owners.length);
  expect(owners.slice(0, 2)).toEqual(["block0.attention.query", "block0.norm"]);
  let owner = "";
  for (const one of lines) {
    if ("layer" in one) {
      owner = one.layer;
      expect(one.count).toBe(shown.filter(({ row }) => ownerOf(row) === owner).length);
    } else {
      expect(ownerOf(one.row)).toBe(owner);
    }
  }
  const broken = lines.find((one) => "layer" in one && one.layer === "block1.norm");
  expect(broken).toMatchObject({ count: 1, largest: { kind: "bad" } });
});

test("the largest change of a layer is none of a counter", () => {
  const { history } = training;
  const [counter] = history.rows.map((row) => ({ ...row, is_state: true }));
  if (counter === undefined) {
    throw new Error("found no row");
  }
  const quiet = counter.cells.map((cell) => ({ ...cell, state: "equal" as const }));
  const place = `${ownerOf(counter)}.w`;
  const rows = [counter, { ...counter, place, is_state: false, cells: quiet }];
  const state = after(
    initialState({ ...history, rows }),
    { type: "order", order: "layer" },
    { type: "toggleStates" },
  );
  const [first] = listOf(state).lines;
  expect(first).toMatchObject({ count: 2, largest: { relative: 0 } });
});

test("other orders have no lines of layers", () => {
  for (const order of ["tree", "largest"] as const) {
    const { lines, shown } = listOf(after(training, { type: "order", order }));
    expect(lines).toEqual(shown);
  }
});
