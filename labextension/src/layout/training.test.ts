import { describe, expect, it } from "vitest";
import { layersOf } from "../data/layers";
import { loadGraph, treeGraph } from "../tests/graphs.test-data";
import { freezing, isFrozen, isFrozenHere, trainingsOf } from "./training";

const FACTS = await loadGraph("facts");
const named = (name: string): number =>
  Array.from({ length: FACTS.size }, (_, id) => id).find((id) => FACTS.label(id) === name) ?? -1;

describe("what a training changes", () => {
  it("adds up to the parameters of the graph", () => {
    const whole = trainingsOf(FACTS, 0);
    expect(whole).not.toBeNull();
    const parts = [...FACTS.treeChildren(0)].map((id) => trainingsOf(FACTS, id));
    for (const kind of ["trained", "frozen", "never", "omitted"] as const) {
      expect(parts.reduce((sum, part) => sum + (part?.[kind] ?? 0), 0)).toBe(whole?.[kind]);
    }
    expect(whole?.trained).toBeGreaterThan(0);
    expect(whole?.omitted).toBeGreaterThan(0);
  });

  it("is nothing below a layer that freezes it, and the view tells it there alone", () => {
    const base = named("base");
    expect(freezing(FACTS)).toEqual([base]);
    expect(isFrozen(FACTS, base)).toBe(true);
    expect(isFrozenHere(FACTS, base)).toBe(true);
    expect(isFrozen(FACTS, named("model"))).toBe(false);
    for (const variable of FACTS.treeChildren(base)) {
      expect(isFrozenHere(FACTS, variable)).toBe(false);
    }
  });

  it("is the same among the layers", () => {
    const layers = layersOf(FACTS);
    expect(layers && trainingsOf(layers, 0)).toEqual(trainingsOf(FACTS, 0));
  });

  it("is not known of a graph whose source says nothing", () => {
    expect(trainingsOf(treeGraph([0, 0]), 0)).toBeNull();
    expect(freezing(treeGraph([0, 0]))).toEqual([]);
  });
});
