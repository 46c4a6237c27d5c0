import { expect, test } from "vitest";
import { STATE, stateOf, type Traits } from "./traits";

/** A model that has these traits and no others. */
function model(traits: Partial<Traits>) {
  return { get: <Name extends keyof Traits>(name: Name) => traits[name] as Traits[Name] };
}

const NEW = {
  ...{ selected: null, expanded: null, query: "", mode: "highlight" },
  ...{ view: null, measure: null, step: null },
};

test("a host that restores a widget without its state shows it as a new one", () => {
  expect(stateOf(model({}))).toEqual(NEW);
  expect(Object.keys(NEW)).toEqual([...STATE]);
});

test("the traits that the model has come before those of a new widget", () => {
  const known = { query: "kernel", selected: { of: 1, ids: 7 }, view: null, step: 0 };
  expect(stateOf(model({ ...known, _edition: 1 }))).toEqual({ ...NEW, ...known });
});
