import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { payload } from "../tests/graphs.test-data";
import { joined, type Parts, parted, type Section } from "../tests/payloads.test-data";
import { decode } from "./contract";

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
  ["a truncated section", gzipSync(unpacked.subarray(0, 4000)), /section \w+ ends at \d+/],
  ["a header that is no JSON", headed("{"), /has a header that is no JSON/],
  ...["null", "7", "[]", '{"version": {"toString": 1}}'].map(
    (text) => [`the header ${text}`, headed(text), /has version .+, this ckpt-viz reads/] as const,
  ),
])("decode() refuses %s", (_, bytes, what) => refused(bytes, what));

const range = (name: string) => new RegExp(`has -?\\d+ in section ${name}, which is out of range`);

/** What is changed to what, and the field that the error names or its words. */
type Field = readonly [object, string | RegExp];
const OF_HEADER: readonly Field[] = [
  [{ version: 1 }, /has version 1, this ckpt-viz reads version 2; install the same version/],
  [{ origin: "dreamt" }, "header.origin"],
  [{ kind: 7 }, "header.kind"],
  [{ notes: "one" }, "header.notes"],
  [{ overlay: [] }, "header.overlay.comparison"],
  [{ table: undefined }, "header.table"],
  [{ unread: "many" }, "header.unread"],
];
const OF_OVERLAY: readonly Field[] = [
  [{ comparison: "guess" }, "header.overlay.comparison"],
  [{ base_size: 1.5 }, "header.overlay.base_size"],
  [
    { verdicts: [{ name: "assert_consumed", passes: "yes", message: "" }] },
    "header.overlay.verdicts.passes",
  ],
  [{ verdicts: [null] }, "header.overlay.verdicts"],
  [{ base_size: 0 }, /with base size 0, but 16 nodes/],
  [{ base_size: 17 }, /with base size 17, but 16 nodes/],
];
const totals = { saved: 9, live: 9, restored: 4, fixed: 5 };
const OF_TABLE: readonly Field[] = [
  [{ sentence: null }, "header.table.sentence"],
  [{ heads: [1, 2, 3, 4] }, "header.table.heads"],
  [{ is_one_column: 2 }, "header.table.is_one_column"],
  [{ totals: null }, "header.table.totals"],
  [{ totals: { ...totals, restored: 0.5 } }, "header.table.totals.restored"],
  [{ cells: ["here"] }, "header.table.cells"],
  [{ cells: [{ sign: "bewitched", words: "words" }] }, "header.table.cells.sign"],
  [{ cells: [{ sign: "here" }] }, "header.table.cells.words"],
  [{ guessed: [2] }, "header.table.guessed"],
  [{ worst: -1 }, "header.table.worst"],
  [{ worst: 16 }, /leads to no node/],
];
const words = (what: string | RegExp) =>
  typeof what === "string" ? new RegExp(`has another ${what} than docs/payload.md says`) : what;

describe("decode() refuses in a check", () => {
  it.each(OF_HEADER)("a header with %j", (keys, what) =>
    refused(changed("check", inHeader(keys)), words(what)),
  );
  it.each(OF_OVERLAY)("an overlay with %j", (keys, what) =>
    refused(changed("check", inPart("overlay", keys)), words(what)),
  );
  it.each(OF_TABLE)("a table with %j", (keys, what) =>
    refused(changed("check", inPart("table", keys)), words(what)),
  );
});

describe("decode() refuses a section", () => {
  it.each<readonly [string, string, unknown, RegExp]>([
    ["role", "name", "other", /lacks section role/],
    ["role", "name", 7, words("header.sections.name")],
    ["role", "type", undefined, words("header.sections.type")],
    ["role", "type", "int64", /has section role of a type that is not known/],
    ["role", "length", { toString: 1 }, words("header.sections.length")],
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
