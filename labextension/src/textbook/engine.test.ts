import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as WORDS from "../basics/strings";
import { type Answer, DRAWING_SECONDS, LOADING_SECONDS, makeEngine } from "./engine";
import type { Places } from "./places";

/** A fake for the page's workers: each test decides what it answers. */
class FakeWorker extends EventTarget {
  static made: FakeWorker[] = [];
  static isForbidden = false;
  onmessage: ((event: { data: Answer }) => void) | null = null;
  onerror: ((event: { message: string }) => void) | null = null;
  readonly asked: string[] = [];
  isRunning = true;

  constructor() {
    super();
    if (FakeWorker.isForbidden) {
      throw new DOMException("no", "SecurityError");
    }
    FakeWorker.made.push(this);
  }
  postMessage(sizes: string): void {
    this.asked.push(sizes);
  }
  terminate(): void {
    this.isRunning = false;
  }
  answer(data: Answer): void {
    this.onmessage?.({ data });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("Worker", FakeWorker);
  FakeWorker.made = [];
  FakeWorker.isForbidden = false;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Places that a test can tell apart. */
const places = (width: number): Places => ({ width, height: 0, boxes: new Map(), edges: [] });
const never = new AbortController().signal;
const quiet = () => {};
const settle = () => vi.advanceTimersByTimeAsync(0);
const asked = async () => {
  await settle();
  return FakeWorker.made.at(-1)!;
};

describe("Graphviz", () => {
  it("loads on the first request, and only once", async () => {
    const load = vi.fn(async () => "script");
    const engine = makeEngine(load);
    expect(load).not.toHaveBeenCalled();
    for (const [width, sizes] of ["a", "b"].entries()) {
      const drawn = engine.layout(sizes, never, quiet);
      (await asked()).answer({ type: "ready" });
      (await asked()).answer({ type: "drawn", places: places(width) });
      expect(await drawn).toEqual(places(width));
    }
    expect(load).toHaveBeenCalledTimes(1);
    expect(FakeWorker.made.map(({ asked }) => asked)).toEqual([["a", "b"]]);
  });

  it("stops when cancelled, and runs again in a new worker", async () => {
    const engine = makeEngine(async () => "script");
    const abort = new AbortController();
    const drawn = engine.layout("a", abort.signal, quiet);
    const worker = await asked();
    const failed = expect(drawn).rejects.toThrow("abort");
    abort.abort();
    await failed;
    expect(worker.isRunning).toBe(false);
    const again = engine.layout("b", never, quiet);
    (await asked()).answer({ type: "drawn", places: places(2) });
    expect(await again).toEqual(places(2));
  });

  it("stops for the next layout, and that one runs on", async () => {
    const engine = makeEngine(async () => "script");
    const abort = new AbortController();
    const first = expect(engine.layout("a", abort.signal, quiet)).rejects.toThrow("abort");
    await settle();
    abort.abort();
    const second = engine.layout("b", never, quiet);
    await first;
    (await asked()).answer({ type: "drawn", places: places(2) });
    expect(await second).toEqual(places(2));
    expect(FakeWorker.made.map(({ asked, isRunning }) => [...asked, isRunning])).toEqual([
      ["a", false],
      ["b", true],
    ]);
  });

  it("does not start a layout that is already cancelled", async () => {
    const load = vi.fn(async () => "script");
    await expect(makeEngine(load).layout("a", AbortSignal.abort(), quiet)).rejects.toThrow("abort");
    expect(load).not.toHaveBeenCalled();
  });

  it("stops at the deadline, and its error gives the next step", async () => {
    const drawn = makeEngine(async () => "script").layout("a", never, quiet);
    const worker = await asked();
    const failed = expect(drawn).rejects.toThrow(WORDS.drawnTooLate);
    await vi.advanceTimersByTimeAsync(DRAWING_SECONDS * 1000 - 1);
    expect(worker.isRunning).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    await failed;
    expect(worker.isRunning).toBe(false);
  });

  it("gives up loading after a while, and loads again for the next request", async () => {
    const load = vi.fn(() => new Promise<string>(() => {}));
    const engine = makeEngine(load);
    for (const time of [1, 2]) {
      const failed = expect(engine.layout("a", never, quiet)).rejects.toThrow(WORDS.loadedTooLate);
      await vi.advanceTimersByTimeAsync(LOADING_SECONDS * 1000);
      await failed;
      expect(load).toHaveBeenCalledTimes(time);
    }
    expect(FakeWorker.made).toEqual([]);
  });

  it("fails with a sentence if a page forbids it, at once or when the worker starts", async () => {
    FakeWorker.isForbidden = true;
    const engine = makeEngine(async () => "script");
    await expect(engine.layout("a", never, quiet)).rejects.toThrow(WORDS.workersForbidden);
    FakeWorker.isForbidden = false;
    const failed = expect(engine.layout("a", never, quiet)).rejects.toThrow(WORDS.workersForbidden);
    (await asked()).onerror?.({ message: "" });
    await failed;
  });

  it("fails with a sentence, and a failed worker is not used again", async () => {
    const engine = makeEngine(async () => "script");
    const failed = expect(engine.layout("a", never, quiet)).rejects.toThrow(
      "Graphviz failed (out of memory). Close some nodes, or search with the filter on.",
    );
    (await asked()).answer({ type: "failed", message: "out of memory" });
    await failed;
    expect(FakeWorker.made[0]?.isRunning).toBe(false);
  });

  it("releases its worker when the view closes", async () => {
    const engine = makeEngine(async () => "script");
    const drawn = engine.layout("a", never, quiet);
    (await asked()).answer({ type: "drawn", places: places(1) });
    await drawn;
    engine.rest();
    expect(FakeWorker.made[0]?.isRunning).toBe(false);
  });
});
