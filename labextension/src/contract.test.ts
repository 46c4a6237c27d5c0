import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decode, PayloadError } from "./contract";
import { makeGraph } from "./graph";
import { FIXTURES, payload } from "./graphs.test-data";

const DAMAGED_PLACES = 200; // in each payload, each alone

const unpacked = (name = "keras3_adam"): Buffer => gunzipSync(payload(name));

/** The fixture with a changed header, and with its sections moved to the new end of the header. */
function withHeader(
  change: (header: Record<string, unknown>) => void,
  of: string | Uint8Array = "keras3_adam",
): Uint8Array {
  const bytes = typeof of === "string" ? unpacked(of) : gunzipSync(of);
  const length = bytes.readUInt32LE(8);
  const header = JSON.parse(bytes.toString("utf8", 12, 12 + length)) as Record<string, unknown>;
  change(header);
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(Math.ceil((12 + text.length) / 8) * 8);
  bytes.copy(head, 0, 0, 8);
  head.writeUInt32LE(text.length, 8);
  text.copy(head, 12);
  return gzipSync(Buffer.concat([head, bytes.subarray(Math.ceil((12 + length) / 8) * 8)]));
}

type Sections = { name: string; type: string; length: number }[];

const withoutTable = (bytes: Uint8Array) => withHeader((header) => delete header.table, bytes);

/** The payload with the first element of an integer section replaced. */
function withFirst(of: string, id: number, fixture = "check"): Uint8Array {
  const bytes = unpacked(fixture);
  const headerEnd = 12 + bytes.readUInt32LE(8);
  const header = JSON.parse(bytes.toString("utf8", 12, headerEnd)) as { sections: Sections };
  let offset = Math.ceil(headerEnd / 8) * 8;
  for (const { name, type, length } of header.sections) {
    if (name === of) {
      bytes.writeInt32LE(id, offset);
    }
    const size = length * (type === "uint8" ? 1 : type === "int32" ? 4 : 8);
    offset += Math.ceil(size / 8) * 8;
  }
  return gzipSync(bytes);
}

const says = (bytes: Uint8Array, what: RegExp) =>
  expect(decode(bytes)).rejects.toThrowError(
    expect.objectContaining({ message: expect.stringMatching(what) }),
  );

describe("decode() refuses a malformed payload and gives the reason", () => {
  it("not gzip data", () => says(new Uint8Array([1, 2, 3]), /no gzip data/));
  it("truncated gzip data", () => says(payload("keras3_adam").subarray(0, 200), /no gzip data/));
  it("gzip data of another program", () =>
    says(gzipSync("hello, this is text"), /is none of ckpt-viz/));
  it("a truncated header", () =>
    says(gzipSync(unpacked().subarray(0, 20)), /ends within its header/));
  it("a truncated section", () =>
    says(gzipSync(unpacked().subarray(0, 2600)), /has 2600 bytes, but section \w+ ends at \d+/));
  it("another version", () =>
    says(
      withHeader((header) => (header.version = 2)),
      /has version 2, this ckpt-viz reads version 1/,
    ));
  it("an unknown role", () =>
    says(
      withHeader((header) => (header.roles = ["spy"])),
      /has a header without/,
    ));
  it("a missing section", () =>
    says(
      withHeader((header) => {
        (header.sections as { name: string }[])[0]!.name = "other";
      }),
      /lacks section role/,
    ));
  it.each(["null", "7", "[]", '{"version": {"toString": 1}}'])("a header that is %s", (text) => {
    const head = Buffer.alloc(12 + text.length);
    head.write(`ckptviz\0`, "latin1");
    head.writeUInt32LE(text.length, 8);
    head.write(text, 12);
    return says(gzipSync(head), /has version .+, this ckpt-viz reads version 1/);
  });
  it.each([null, "role", { name: { toString: 1 }, type: "int32" }, { name: "role" }])(
    "a section that is listed as %j",
    (listed) =>
      says(
        withHeader((header) => {
          (header.sections as unknown[])[0] = listed;
        }),
        /has a header without/,
      ),
  );
  it.each(["__proto__", "constructor", "int64"])("a section of type %s", (type) =>
    says(
      withHeader((header) => {
        (header.sections as { type: string }[])[0]!.type = type;
      }),
      /has section role of a type that is not known/,
    ),
  );
  it("a section without a length", () =>
    says(
      withHeader((header) => {
        (header.sections as { length: unknown }[])[0]!.length = { toString: 1 };
      }),
      /has section role with length \{"toString":1\}/,
    ));
  it("a section longer than the payload", () =>
    says(
      withHeader((header) => {
        (header.sections as { length: number }[])[0]!.length = 2 ** 40;
      }),
      /but section role ends at/,
    ));
});

describe("decode() refuses a malformed overlay and gives the reason", () => {
  const withOverlay = (change: Record<string, unknown>) =>
    withHeader((header) => Object.assign(header.overlay as object, change), "check");
  const without = /has an overlay without comparison, base size, verdicts, states/;

  it.each([
    ["another comparison", { comparison: "guess" }],
    ["a fraction as base size", { base_size: 1.5 }],
    [
      "a verdict that is neither true nor false",
      { verdicts: [{ name: "assert_consumed", passes: "yes" }] },
    ],
    ["no verdict", { verdicts: [null] }],
    ["an unknown state", { states: ["matched", "bewitched"] }],
    ["an unknown severity", { severities: ["fatal"] }],
  ])("%s", (_, change) => says(withOverlay(change), without));
  it("something other than an overlay", () =>
    says(
      withHeader((header) => (header.overlay = [])),
      without,
    ));
  it.each([0, -1, 17])("a base size of %i with 16 nodes", (size) =>
    says(withOverlay({ base_size: size }), /with base size -?\d+, but 16 nodes/),
  );
  it("a mark with an unknown state", () =>
    says(withOverlay({ states: ["plain"] }), /has \d in section overlay_state, which is out of/));
  it("a problem with an unknown severity", () =>
    says(withOverlay({ severities: ["error"] }), /in section problem_severity, which is out of/));
  it("no marks", () =>
    says(
      withHeader((header) => (header.overlay = header.overlay ?? expectedOverlay)),
      /lacks section problem_kind/,
    ));
  it("marks for another number of nodes", () =>
    says(
      withHeader((header) => {
        (header.sections as Sections).find(({ name }) => name === "overlay_state")!.length = 15;
      }, "check"),
      /has 15 elements in section overlay_state, expected 16/,
    ));
  it("a problem that names a missing node", () =>
    says(withFirst("problem_node", 16), /has 16 in section problem_node/));
  it.each([16, -2])("a value that goes into a missing node, %i", (id) =>
    says(withFirst("overlay_goes_to", id), /in section overlay_goes_to, which is out of/),
  );
  it("floating-point numbers as ids of nodes", () =>
    says(
      withHeader((header) => {
        const nodes = (header.sections as Sections).find(({ name }) => name === "problem_node")!;
        nodes.type = "float64";
        nodes.length = 4; // the number of bytes stays the same
      }, "check"),
      /has section problem_node of type float64, expected integers/,
    ));

  const expectedOverlay = {
    comparison: "check",
    base_size: 1,
    verdicts: [],
    states: [],
    severities: [],
  };
});

describe("decode() refuses a malformed table and gives the reason", () => {
  const withTable = (change: Record<string, unknown>) =>
    withHeader((header) => Object.assign(header.table as object, change), "check");
  const without = /has a table without sentence, verdict, heads, notes, columns or totals/;
  const noCell = /has a table with a cell that is no sign with words/;

  it.each([
    ["no sentence", { sentence: null }],
    ["no verdict", { verdict: 1 }],
    ["heads that are no texts", { heads: [1, 2, 3, 4] }],
    ["notes that are no list", { notes: "note" }],
    ["no number of columns", { is_one_column: 2 }],
    ["no totals", { totals: null }],
    ["a total that is a text", { totals: { saved: "9", live: 9, restored: 4, fixed: 5 } }],
    ["a total that is no whole number", { totals: { saved: 9, live: 9, restored: 0.5, fixed: 5 } }],
  ])("%s", (_, change) => says(withTable(change), without));
  it.each([
    ["no cells", { cells: null }],
    ["a cell that is no pair", { cells: ["here"] }],
    ["an unknown sign", { cells: [["bewitched", "words"]] }],
    ["a cell without words", { cells: [["here"]] }],
    ["numbers of guesses that are texts", { guessed: ["2"] }],
  ])("%s", (_, change) => says(withTable(change), noCell));
  it("something other than a table", () =>
    says(
      withHeader((header) => (header.table = [])),
      without,
    ));
  it.each([-1, 16, 0.5, "2"])("%s as the worst node", (worst) =>
    says(withTable({ worst }), /has a table that leads to no node/),
  );
  it("no lines", () => says(lacking(/^line_values/, "check"), /lacks section line_values/));
  it.each([
    ["line_parent", 0, /has line 0 before its parent in section line_parent/],
    ["line_parent", 13, /has 13 in section line_parent, which is out of range/],
    ["line_saved", 10 ** 6, /in section line_saved, which is out of range/],
    ["line_live_node", 16, /has 16 in section line_live_node, which is out of range/],
    ["line_plain", -1, /has -1 in section line_plain, which is out of range/],
    ["line_fixed", 99, /has 99 in section line_fixed, which is out of range/],
    ["line_values", -2, /has -2 in section line_values, which is out of range/],
    ["line_guess", 2, /has 2 in section line_guess, which is out of range/],
  ])("%s is %i", (name, value, problem) => says(withFirst(name, value), problem));
  it("lines of another number", () => {
    const cut = withHeader((header) => {
      (header.sections as Sections).find(({ name }) => name === "line_guess")!.length += 1;
    }, "check");
    return says(cut, /elements in section line_guess, expected 13/);
  });
});

it("reads a payload that was written before it told where a plain restore puts values", async () => {
  const earlier = withHeader((header) => {
    const sections = header.sections as { name: string }[];
    sections.find(({ name }) => name === "overlay_goes_to")!.name = "something_else";
  }, "diff");
  const { overlay, nodeCount } = await decode(earlier);
  expect([...overlay!.columns.overlay_goes_to]).toEqual(Array(nodeCount).fill(-1));
});

/** The payload without the sections whose names match. */
const lacking = (sections: RegExp, fixture: string) =>
  withHeader((header) => {
    for (const section of header.sections as { name: string }[]) {
      section.name = section.name.replace(sections, "something_else_");
    }
  }, fixture);

it("reads a payload that was written before the view had its own words for the fix", async () => {
  const { overlay } = makeGraph(await decode(lacking(/^problem_fix/, "check")), true);
  expect(overlay!.problem(0).remedy).toMatch(/check\.fix\(\)\.apply\(\)\.$/);
});

it("reads a payload that was written before the format had guesses", async () => {
  const earlier = lacking(/^(guess_|line_)/, "check");
  const { overlay } = makeGraph(await decode(withoutTable(earlier)));
  expect(overlay!.guesses).toEqual([]);
});

it("reads a payload that was written before the format had tables", async () => {
  const graph = makeGraph(await decode(withoutTable(lacking(/^line_/, "check"))));
  expect([graph.table, graph.overlay?.comparison]).toEqual([null, "check"]);
});

it("reads a payload that was written before what is not saved had grades", async () => {
  const lost = async (bytes: Uint8Array) =>
    makeGraph(await decode(bytes))
      .notSaved(0)
      .map(({ isLost }) => isLost);
  const earlier = withHeader((header) => {
    const sections = header.sections as { name: string }[];
    sections.find(({ name }) => name === "unsaved_is_lost")!.name = "something_else";
  }, "error_and_saver");
  expect(await lost(payload("error_and_saver"))).toEqual([true, false]);
  expect(await lost(earlier)).toEqual([true, true]);
});

it("reads a payload that was written before the format had layers", async () => {
  const earlier = withHeader((header) => {
    const sections = header.sections as { name: string }[];
    sections.find(({ name }) => name === "layer_order")!.name = "something_else";
  });
  expect((await decode(earlier)).layers).toBe(null);
});

it("reads a payload that was written before the format had calls", async () => {
  const earlier = withHeader((header) => {
    const sections = header.sections as { name: string }[];
    sections.find(({ name }) => name === "call_from")!.name = "something_else";
  }, "blocks");
  expect((await decode(earlier)).calls).toBe(null);
});

const FACTS = ["fact_node", "fact_name", "fact_value", "layer_gives", "layer_gets", "training"];

it("reads a payload that was written before the format had facts", async () => {
  const earlier = withHeader((header) => {
    for (const section of header.sections as { name: string }[]) {
      section.name = FACTS.includes(section.name) ? `no_${section.name}` : section.name;
    }
  }, "facts");
  expect((await decode(payload("facts"))).facts.fact_node).toHaveLength(3);
  const { facts, nodeCount } = await decode(earlier);
  expect(facts.fact_node).toHaveLength(0);
  expect(new Set(facts.layer_gives)).toEqual(new Set([-1]));
  expect([...facts.training]).toEqual(Array(nodeCount).fill(0));
});

it.each([
  ["fact_node", 16],
  ["fact_node", -1],
  ["fact_value", 999],
  ["layer_gets", -2],
])("refuses facts out of range: %s is %i", async (name, value) => {
  await says(withFirst(name, value, "facts"), new RegExp(`${value} in section ${name}, which is`));
});

it("refuses a training that has no meaning", async () => {
  await says(withFirst("training", 5, "facts"), /has 5 in section training, which is out of range/);
});

it.each(FACTS)("refuses facts without an end: %s", async (name) => {
  const cut = withHeader((header) => {
    const section = (header.sections as Sections).find((section) => section.name === name)!;
    section.length += section.length % 2 === 0 ? -1 : 1; // as long as before, with the padding
  }, "facts");
  await says(cut, /elements in section \w+, expected \d+/);
});

it.each(["call_from", "call_to"])("refuses a call of a missing node: %s", async (name) => {
  await says(withFirst(name, 23, "blocks"), new RegExp(`has 23 in section ${name}, which is out`));
});

it("refuses calls without an end", async () => {
  const cut = withHeader((header) => {
    const sections = header.sections as Sections;
    // Sections are padded, so one element more leaves the others in their places.
    sections.find(({ name }) => name === "call_to")!.length += 1;
  }, "blocks");
  await says(cut, /elements in section call_to, expected 13/);
});

it.each([
  ["layer_order", 5, /row 0 twice or before|row \d+ twice or before/],
  ["layer_parent", 1, /row 0 twice or before its parent in section layer_order/],
  ["layer_shown", 2, /node 0 in another row than its own in section layer_shown/],
  ["layer_name", -2, /-2 in section layer_name, which is out of range/],
])("refuses layers that are no tree: %s", async (name, value, problem) => {
  await says(withFirst(name, value, "keras3_adam"), problem);
});

it("ignores unknown sections and keys", async () => {
  const later = withHeader((header) => {
    header.lesson = "what a later version may add";
    (header.sections as object[]).push({ name: "lesson", type: "uint8", length: 0 });
  });
  expect((await decode(later)).overlay).toBe(null);
});

it("decodes a damaged payload or throws a PayloadError", async () => {
  for (const name of FIXTURES) {
    const whole = gunzipSync(payload(name));
    const step = Math.max(7, Math.ceil(whole.length / DAMAGED_PLACES));
    for (let place = 0; place < whole.length; place += step) {
      const damaged = Buffer.from(whole);
      damaged[place] = (damaged[place] ?? 0) ^ 0xff;
      await decode(gzipSync(damaged, { level: 1 })).catch((error: unknown) => {
        expect(error).toBeInstanceOf(PayloadError);
      });
    }
  }
});
