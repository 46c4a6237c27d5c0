import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { payload } from "../tests/graphs.test-data";
import { joined, type Parts, parted, type Section } from "../tests/payloads.test-data";
import { decode } from "./contract";
import { makeGraph } from "./graph";

type Change = (parts: Parts) => unknown;

/** The fixture after a change. */
function changed(fixture: string, change: Change): Uint8Array {
  const parts = parted(fixture);
  change(parts);
  return gzipSync(joined(parts));
}

const inHeader =
  (keys: object): Change =>
  ({ header }) =>
    Object.assign(header, keys);
const inPart =
  (part: "overlay" | "table", keys: object): Change =>
  ({ header }) =>
    Object.assign(header[part] as object, keys);
const inSection =
  (name: string, change: (section: Section) => unknown): Change =>
  ({ sections }) =>
    change(sections.find((section) => section.name === name)!);
const first = (name: string, value: number): Change =>
  inSection(name, ({ data }) => data.writeInt32LE(value));
const without =
  (names: RegExp): Change =>
  (parts) => {
    parts.sections = parts.sections.filter(({ name }) => !names.test(name));
  };

const refused = (bytes: Uint8Array, what: RegExp) =>
  expect(decode(bytes)).rejects.toThrowError(
    expect.objectContaining({ message: expect.stringMatching(what) }),
  );

/** The payload with this text as its header. */
function headed(text: string): Uint8Array {
  const head = Buffer.alloc(12 + text.length);
  head.write("ckptviz\0", "latin1");
  head.writeUInt32LE(text.length, 8);
  head.write(text, 12);
  return gzipSync(head);
}

const unpacked = gunzipSync(payload("keras3_adam"));

it.each<readonly [string, Uint8Array, RegExp]>([
  ["not gzip data", Uint8Array.of(1, 2, 3), /no gzip data of at most/],
  ["truncated gzip data", payload("keras3_adam").subarray(0, 200), /no gzip data/],
  ["another program's data", gzipSync("hello, this is text"), /is none of ckpt-viz/],
  ["a truncated header", gzipSync(unpacked.subarray(0, 20)), /ends within its header/],
  ["a truncated section", gzipSync(unpacked.subarray(0, 2600)), /section \w+ ends at \d+/],
  ["a header that is no JSON", headed("{"), /has a header that is no JSON/],
  ...["null", "7", "[]", '{"version": {"toString": 1}}'].map(
    (text) => [`the header ${text}`, headed(text), /has version .+, this ckpt-viz reads/] as const,
  ),
])("decode() refuses %s", (_, bytes, what) => refused(bytes, what));

const noHeader = /has a header without/;
const noOverlay = /has an overlay without comparison, base size, verdicts, states/;
const noTable = /has a table without sentence, verdict, heads, notes, columns or totals/;
const noCell = /has a table with a cell that is no sign with words/;
const range = (name: string) => new RegExp(`has -?\\d+ in section ${name}, which is out of range`);

/** In the header: what is changed to what, and the words of the error. */
const OF_HEADER: readonly (readonly [object, RegExp])[] = [
  [{ version: 2 }, /has version 2, this ckpt-viz reads version 1/],
  [{ roles: ["spy"] }, noHeader],
  [{ overlay: [] }, noOverlay],
  [{ table: [] }, noTable],
];
const OF_OVERLAY: readonly (readonly [object, RegExp])[] = [
  [{ comparison: "guess" }, noOverlay],
  [{ base_size: 1.5 }, noOverlay],
  [{ verdicts: [{ name: "assert_consumed", passes: "yes", message: "" }] }, noOverlay],
  [{ verdicts: [null] }, noOverlay],
  [{ states: ["matched", "bewitched"] }, noOverlay],
  [{ severities: ["fatal"] }, noOverlay],
  [{ base_size: 0 }, /with base size 0, but 16 nodes/],
  [{ base_size: 17 }, /with base size 17, but 16 nodes/],
  [{ states: ["plain"] }, range("overlay_state")],
  [{ severities: ["error"] }, range("problem_severity")],
];
const totals = { saved: 9, live: 9, restored: 4, fixed: 5 };
const OF_TABLE: readonly (readonly [object, RegExp])[] = [
  [{ sentence: null }, noTable],
  [{ heads: [1, 2, 3, 4] }, noTable],
  [{ is_one_column: 2 }, noTable],
  [{ totals: null }, noTable],
  [{ totals: { ...totals, saved: "9" } }, noTable],
  [{ totals: { ...totals, restored: 0.5 } }, noTable],
  [{ cells: ["here"] }, noCell],
  [{ cells: [["bewitched", "words"]] }, noCell],
  [{ cells: [["here"]] }, noCell],
  [{ guessed: ["2"] }, noCell],
  ...[-1, 16, 0.5, "2"].map((worst) => [{ worst }, /leads to no node/] as const),
];

describe("decode() refuses in a check", () => {
  it.each(OF_HEADER)("a header with %j", (keys, what) =>
    refused(changed("check", inHeader(keys)), what),
  );
  it.each(OF_OVERLAY)("an overlay with %j", (keys, what) =>
    refused(changed("check", inPart("overlay", keys)), what),
  );
  it.each(OF_TABLE)("a table with %j", (keys, what) =>
    refused(changed("check", inPart("table", keys)), what),
  );
});

describe("decode() refuses a section", () => {
  it.each<readonly [string, string, unknown, RegExp]>([
    ["role", "name", "other", /lacks section role/],
    ["role", "name", 7, noHeader],
    ["role", "type", undefined, noHeader],
    ["role", "type", "__proto__", /has section role of a type that is not known/],
    ["role", "type", "int64", /has section role of a type that is not known/],
    ["role", "length", { toString: 1 }, /has section role with length \{"toString":1\}/],
    ["role", "length", 2 ** 40, /but section role ends at/],
    ["overlay_state", "length", 15, /has 15 elements in section overlay_state, expected 16/],
    ["problem_node", "type", "float64", /problem_node of type float64, expected integers/],
    ["line_values", "name", "other", /lacks section line_values/],
    ["line_guess", "length", 14, /has 14 elements in section line_guess, expected 13/],
  ])("%s whose %s is %j", (name, key, value, what) =>
    refused(
      changed(
        "check",
        inSection(name, (section) => Object.assign(section, { [key]: value })),
      ),
      what,
    ),
  );

  it.each<readonly [string, string, number, RegExp | null]>([
    ["check", "problem_node", 16, null],
    ["check", "overlay_goes_to", -2, null],
    ["check", "line_parent", 0, /has line 0 before its parent in section line_parent/],
    ["check", "line_saved", 10 ** 6, null],
    ["check", "line_live_node", 16, null],
    ["check", "line_plain", -1, null],
    ["check", "line_fixed", 99, null],
    ["check", "line_values", -2, null],
    ["check", "line_guess", 2, null],
    ["facts", "fact_node", -1, null],
    ["facts", "fact_value", 999, null],
    ["facts", "training", 5, null],
    ["blocks", "call_to", 23, null],
    ["keras3_adam", "child_count", -1, null],
    ["keras3_adam", "tree_order", 1, /node 1 twice or before its parent in section tree_order/],
    ["keras3_adam", "layer_order", 5, /row 5 twice or before its parent in section layer_order/],
    ["keras3_adam", "layer_parent", 1, /row 0 twice or before its parent in section layer_order/],
    ["keras3_adam", "layer_shown", 2, /node 0 in another row than its own in section layer_shown/],
    ["keras3_adam", "layer_name", -2, null],
  ])("of %s, %s, that begins with %i", (fixture, name, value, what) =>
    refused(changed(fixture, first(name, value)), what ?? range(name)),
  );
});

it("ignores unknown sections and keys", async () => {
  const later = changed("keras3_adam", ({ header, sections }) => {
    header.lesson = "what a later version may add";
    sections.push({ name: "lesson", type: "uint8", data: Buffer.alloc(0) });
  });
  expect((await decode(later)).overlay).toBe(null);
});

describe("decode() reads a payload that was written before the format had", () => {
  const earlier = async (fixture: string, lacks: RegExp) =>
    makeGraph(await decode(changed(fixture, without(lacks))));

  it("tables", async () => {
    const { header, ...parts } = parted("check");
    const { table, ...others } = header;
    const bytes = gzipSync(joined({ ...parts, header: others }));
    expect([table === undefined, (await decode(bytes)).table]).toEqual([false, null]);
  });
  it("grades of what is not saved", async () => {
    const graph = await earlier("error_and_saver", /^unsaved_is_lost$/);
    expect(graph.notSaved(0).map(({ isLost }) => isLost)).toEqual([true, true]);
  });
  it("layers, calls and names", async () => {
    const { calls, called, label, layerColumns } = await earlier(
      "blocks",
      /^(layer_order|call_|node_name)/,
    );
    expect([calls, layerColumns, called(1)]).toEqual([null, null, label(1)]);
  });
  it("facts", async () => {
    const { facts, size, training } = await earlier("facts", /^(fact_|layer_g|training)/);
    const ids = Array.from({ length: size }, (_, id) => id);
    expect(ids.flatMap(facts)).toEqual([]);
    expect(new Set(ids.map(training))).toEqual(new Set([null]));
  });
});
