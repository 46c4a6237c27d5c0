import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  MOST_STEPWISE,
  makeStory,
  nextPlayed,
  nextProblem,
  nextVisit,
  nodesAround,
  playDeedOf,
  playKeyLines,
  type Story,
  type StoryAnswer,
  timeOf,
} from "./play";

const NONE = -1;
const PROBLEM = 128;
const ACTIONS = ["bind", "keep", "defer", "valueless", "gather", "restore", "fail", "drop"];
type Row = readonly [action: string, saved: number, live: number, holder: number, name: string];

/**
 * The root (0) has "a" (1), "late" (2), and "gone" (3), which is lost; "a" has "late" as "again". The
 * picture shows the saved nodes 0, 1 and 2 as its own, and 3 as 4.
 */
const ROWS: readonly Row[] = [
  ["bind", 0, 0, NONE, ""],
  ["valueless", 0, 0, NONE, ""],
  ["bind", 1, 1, 0, "a"],
  ["defer", 2, NONE, 0, "late"],
  ["defer!", 3, NONE, 0, "gone"],
  ["gather", 1, 1, NONE, ""],
  ["keep", 0, 0, 1, "up"],
  ["bind", 2, 3, 1, "again"],
  ["gather", 2, 3, NONE, ""],
  ["restore", 1, 1, NONE, ""],
  ["restore", 2, 3, NONE, ""],
];
const PLACES = [0, 1, 2, 4];
const SIZE = 5;

function column(numbers: readonly number[]): DataView {
  // Buffers of messages may begin anywhere in memory.
  const bytes = new Uint8Array(numbers.length * 4 + 1);
  bytes.set(new Uint8Array(Int32Array.from(numbers).buffer), 1);
  return new DataView(bytes.buffer, 1);
}

function answered(rows: readonly Row[] = ROWS): readonly [StoryAnswer, DataView[]] {
  const names = [...new Set(rows.map(([, , , , name]) => name))];
  const kinds = rows.map(
    ([action]) => ACTIONS.indexOf(action.replace("!", "")) + (action.endsWith("!") ? PROBLEM : 0),
  );
  const columns = [
    rows.map((row) => row[1]),
    rows.map((row) => row[2]),
    rows.map((row) => row[3]),
    rows.map((row) => names.indexOf(row[4])),
    PLACES,
  ];
  const answer = { title: "restore() of x", end: "It returns.", actions: ACTIONS, names };
  return [answer, [new DataView(Uint8Array.from(kinds).buffer), ...columns.map(column)]];
}

const storyOf = (rows?: readonly Row[]): Story => makeStory(...answered(rows), SIZE)!;

describe("a story", () => {
  it("has the nodes of the picture, the name and the problem of each step", () => {
    const story = storyOf();
    expect([story.length, story.size, story.end]).toEqual([11, 4, "It returns."]);
    expect(story.step(4)).toEqual({
      action: "defer",
      node: 3,
      saved: 4,
      live: null,
      holder: 0,
      name: "gone",
      isProblem: true,
    });
    expect(story.problems).toEqual([4]);
  });

  it("tells the queue after each step, the next one first", () => {
    const story = storyOf();
    const queues = ROWS.map((_, at) => story.queue(at));
    expect(queues).toEqual([[0], [], [1], [1], [1], [], [], [2], [], [], []]);
    expect(queues.map(({ length }) => length)).toEqual(ROWS.map((_, at) => story.queueLength(at)));
    expect(story.queue(2, 0)).toEqual([]);
  });

  it("tells what waits until it is bound, and where", () => {
    const story = storyOf();
    const late = { node: 2, holder: 0, name: "late" };
    const gone = { node: 3, holder: 0, name: "gone" };
    expect([2, 3, 4, 6, 7].map((at) => story.waiting(at))).toEqual([
      [],
      [late],
      [late, gone],
      [late, gone],
      [gone],
    ]);
    expect([0, 2, 7, 10].map((at) => story.bound(at))).toEqual([1, 2, 3, 3]);
    expect([8, 9, 10].map((at) => story.assigned(at))).toEqual([0, 1, 2]);
  });

  it("tells what has become of each node of the picture", () => {
    const story = storyOf();
    const fates = (id: number) => ROWS.map((_, at) => story.fate(id, at));
    expect(fates(2).slice(2)).toEqual([
      ...["unseen", "waits", "waits", "waits", "waits"],
      ...["queued", "bound", "bound", "restored"],
    ]);
    expect(fates(4).at(-1)).toBe("waits");
    // Node 3 of the picture is an object alone: the value of the saved node 2 goes there.
    expect([6, 7, 10].map((at) => story.fate(3, at))).toEqual(["unseen", "bound", "restored"]);
    const failing = storyOf([...ROWS.slice(0, 6), ["fail!", 1, 1, NONE, ""]]);
    expect(failing.fate(1, 6)).toBe("failed");
    expect(failing.fate(3, 6)).toBe(null);
    expect(storyOf([["drop", 1, NONE, 0, "a"]]).fate(1, 0)).toBe("forgotten");
  });

  it("is null for columns that do not belong together", () => {
    const [answer, buffers] = answered();
    const without = (place: number, instead: DataView) =>
      makeStory(
        answer,
        buffers.map((buffer, index) => (index === place ? instead : buffer)),
        SIZE,
      );
    expect(makeStory(answer, buffers.slice(1), SIZE)).toBe(null);
    expect(makeStory(answer, [...buffers, column([])], SIZE)).toBe(null);
    expect(makeStory(answer, buffers, SIZE - 1)).toBe(null); // node 4 is not there
    expect(without(1, column([0]))).toBe(null);
    expect(without(1, new DataView(new ArrayBuffer(3)))).toBe(null);
    expect(without(3, column(ROWS.map(() => 7)))).toBe(null);
    expect(without(4, column(ROWS.map(() => -1)))).toBe(null);
    expect(without(0, new DataView(new Uint8Array(11).fill(99).buffer))).toBe(null);
    expect(makeStory({ ...answer, names: [] }, buffers, SIZE)).toBe(null);
    expect(storyOf([]).length).toBe(0);
  });
});

describe("playing", () => {
  it("goes by steps, by nodes and to the next problem", () => {
    const story = storyOf();
    expect([0, 1, 5, 8].map((at) => nextVisit(story, at))).toEqual([1, 5, 8, 10]);
    expect([10, 8, 1].map((at) => nextVisit(story, at, -1))).toEqual([8, 5, 0]);
    expect([0, 4].map((at) => nextProblem(story, at))).toEqual([4, 4]);
    expect([0, 10].map((at) => nextPlayed(story, at))).toEqual([1, 10]);
    const row: Row = ["keep", 0, 0, 1, "up"];
    const long = storyOf([...ROWS, ...Array<Row>(MOST_STEPWISE).fill(row), ["keep", 1, 1, 1, "b"]]);
    expect([5, 11].map((at) => nextPlayed(long, at))).toEqual([8, long.length - 1]);
  });

  it("is four times as fast where something is known already", () => {
    const story = storyOf();
    expect(timeOf(story, 2, 1) / timeOf(story, 6, 1)).toBe(4);
    expect(timeOf(story, 2, 1) / timeOf(story, 2, 4)).toBe(4);
  });

  it("names the nodes around a step, those of the step last", () => {
    expect(nodesAround(storyOf(), 4, 1)).toEqual([0, 2, 0, 4, 1, 1, 0, 4]);
  });
});

describe("the keys", () => {
  const press = (key: string, modifiers: Partial<KeyboardEvent> = {}) =>
    playDeedOf({ key, ...modifiers } as KeyboardEvent);

  it("step, and go by nodes with Shift", () => {
    expect(press("ArrowRight")).toEqual({ type: "step", by: 1 });
    expect(press("ArrowLeft", { shiftKey: true })).toEqual({ type: "node", by: -1 });
    expect(press("]", { shiftKey: true })).toEqual({ type: "problem" });
    expect(press("Escape")).toEqual({ type: "close" });
    expect([press("ArrowUp"), press("ArrowRight", { ctrlKey: true })]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("are those of the document", () => {
    const docs = readFileSync(new URL("../../../docs/explorer.md", import.meta.url), "utf8");
    const [, table = ""] = docs.split("| key while it plays | what it does |\n| --- | --- |\n");
    const rows = table.slice(0, table.indexOf("\n\n")).split("\n");
    const wanted = playKeyLines().map(
      ({ does, keys }) => `| ${keys.replace(/\S+/g, "`$&`")} | ${does} |`,
    );
    expect(rows).toEqual(wanted);
  });
});
