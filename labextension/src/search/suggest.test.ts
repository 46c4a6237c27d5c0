import { describe, expect, it } from "vitest";
import * as WORDS from "../basics/strings";
import { fullTree } from "../tests/graphs.test-data";
import { FIELDS, fieldsOf, valuesOf } from "./fields";
import { suggestionsAt } from "./suggest";

const graph = fullTree(2, 1);
const known = {
  fields: fieldsOf(graph),
  values: (field: string) => (field === "dtype" ? ["float32"] : valuesOf(field, graph)),
};
/** The query after each suggestion at its end. */
const offers = (query: string, caret = query.length): readonly string[] => {
  const { start, texts } = suggestionsAt(query, caret, known);
  return texts.map((text) => query.slice(0, start) + text + query.slice(caret));
};

describe("suggestions", () => {
  it("are fields, then values of a field", () => {
    expect(offers("ro")).toEqual(["role:"]);
    expect(offers("kernel -IS")).toEqual(["kernel -is:"]);
    expect(offers("role:var")).toEqual(["role:variable"]);
    expect(offers("role:variable|sl")).toEqual(["role:variable|slot"]);
    expect(offers("dtype:")).toEqual(["dtype:float32"]);
    expect(offers("dense kernel")).toEqual([]);
    expect(offers("path:a")).toEqual([]);
  });

  it("are only at the end of a term, and not in quotes", () => {
    expect(offers("role", 2)).toEqual([]);
    expect(offers('"is')).toEqual([]);
    expect(offers('"two words" is')).toEqual(['"two words" is:']);
  });

  it("leave out the states of a comparison where there is none", () => {
    expect(offers("is:matched")).toEqual([]);
    expect(offers("chan")).toEqual([]);
    expect(offers("is:sh")).toEqual(["is:shared"]);
  });

  it("have a hint for each field", () => {
    expect(Object.keys(WORDS.fieldHints).sort()).toEqual([...FIELDS.keys()].sort());
  });
});
