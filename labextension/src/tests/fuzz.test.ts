/**
 * For any payload, `decode` gives a clear error, or a graph that every part of the view can read.
 */

import { gunzipSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { decode, NODE_STATES, PayloadError } from "../data/contract";
import { type Graph, makeGraph } from "../data/graph";
import { messageOf } from "../draw/message";
import { linksOf } from "../layout/links";
import { segmentsOf } from "../layout/ribbon";
import { stripsOf } from "../layout/strips";
import { tableRows } from "../state/lines";
import { initialState, reduce } from "../state/reduce";
import type { Action } from "../state/state";
import { toDot } from "../textbook/dot";
import { isTooMany, partInSight, sizesOf } from "../textbook/part";
import { cellSign, problemSign } from "../words/signs";
import {
  boxText,
  dtypeCell,
  edgeText,
  problemWords,
  sentence,
  shapeCell,
  shapeWords,
  sharedWords,
  sizeCell,
  sizeSentence,
  typeWords,
  valueWords,
} from "../words/words";
import { FIXTURES, payload, randomFrom, WIDTHS } from "./graphs.test-data";
import { type Json, joined, type Parts, parted, SIZES } from "./payloads.test-data";

const MUTANTS = Number(process.env.CKPT_VIZ_MUTANTS ?? 400);
/** The time limit for one mutant; the fixtures have about twenty nodes. */
const MAX_MS = 2_000;

/** Numbers and names that programs stumble over. */
const INTEGERS = [0, 1, -1, -2, 2, 7, 127, 255, 65_536, 2 ** 30, 2 ** 31 - 1, -(2 ** 31)];
const NUMBERS = [...INTEGERS, Number.NaN, Number.POSITIVE_INFINITY, -1e308, 1e308, 0.5, 2 ** 53];
const NAMES = ["__proto__", "constructor", "toString", "length", "", "\0", "a".repeat(100_000)];
const VALUES = [null, true, -1, 0.5, 1e308, ...NAMES, [], {}, [null], [[]], { a: 1 }];

type Mutate = (random: () => number) => Buffer;

function picked<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

/** Random data for a column of the given type. */
function column(random: () => number, type: string, parts: Parts): Buffer {
  const filled = parts.sections.filter((one) => one.type === type && one.data.length > 0);
  return filled.length === 0 ? Buffer.alloc(8) : picked(random, filled).data;
}

function set(parts: Parts, of: string, values: readonly number[]): void {
  const found = parts.sections.find((one) => one.name === of);
  if (found !== undefined) {
    found.data = Buffer.from(Int32Array.from(values).buffer);
    found.type = "int32";
  }
}

function read(parts: Parts, of: string): number[] {
  const data = parts.sections.find((one) => one.name === of)?.data ?? Buffer.alloc(0);
  return Array.from({ length: data.length / 4 }, (_, place) => data.readInt32LE(place * 4));
}

/** Makes damaged payloads by changing parts of a valid one. */
function changing(name: string) {
  return (change: (parts: Parts, random: () => number) => void): Mutate =>
    (random) => {
      const parts = parted(name);
      const times = 1 + Math.floor(random() * 3);
      for (let time = 0; time < times; time++) {
        change(parts, random);
      }
      return joined(parts);
    };
}

/** Damage to what only comparisons have: the overlay, the table and its lines. */
function ofComparisons(name: string): readonly Mutate[] {
  const changed = changing(name);
  const inPart = (part: "overlay" | "table", values: readonly unknown[]) =>
    changed(({ header }, random) => {
      const of = header[part];
      if (typeof of === "object" && of !== null && !Array.isArray(of)) {
        (of as Json)[picked(random, Object.keys(of))] = picked(random, values);
      }
    });
  return [
    inPart("overlay", [...VALUES, [{ name: "__proto__", passes: false }], NODE_STATES]),
    inPart("table", [...VALUES, [["here", "words"]], ["", "", "", ""], [2 ** 40]]),
    changed((parts, random) => {
      const columns = parts.sections.filter(({ name: of }) => of.startsWith("line_"));
      const { name: of } = picked(random, columns.length === 0 ? parts.sections : columns);
      const anywhere = read(parts, of).map(() => Math.floor(random() * 14) - 1);
      set(parts, of, anywhere);
    }),
  ];
}

/** A damaged payload: one of the planned cases, or blind damage to bytes. */
function mutations(name: string): readonly Mutate[] {
  const changed = changing(name);
  return [
    ...ofComparisons(name),
    (random) => {
      const bytes = gunzipSync(payload(name));
      for (let left = 1 + random() * 4; left > 0; left--) {
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      }
      return bytes;
    },
    (random) => {
      const bytes = gunzipSync(payload(name));
      return bytes.subarray(0, Math.floor(random() * bytes.length));
    },
    (random) => joined(parted(name), () => picked(random, VALUES)),
    (random) => joined(parted(name), (header) => ({ ...header, sections: picked(random, VALUES) })),
    changed(({ header }, random) => {
      header[picked(random, Object.keys(header))] = picked(random, VALUES);
    }),
    changed(({ sections }, random) => {
      picked(random, sections).name = picked(random, NAMES.slice(0, 6));
    }),
    changed(({ sections }, random) => {
      picked(random, sections).type = picked(random, [...NAMES.slice(0, 6), ...Object.keys(SIZES)]);
    }),
    changed(({ sections }, random) => {
      picked(random, sections).length = picked(random, [...NUMBERS, "3", null, [3]]);
    }),
    changed(({ sections }, random) => {
      const one = picked(random, sections);
      one.data = one.data.subarray(0, Math.floor((random() * one.data.length) / 8) * 8);
    }),
    changed((parts, random) => {
      const data = column(random, "int32", parts);
      const place = Math.floor((random() * data.length) / 4) * 4;
      data.writeInt32LE(picked(random, [...INTEGERS, Math.floor(random() * 20)]), place);
    }),
    changed((parts, random) => {
      const data = column(random, "float64", parts);
      data.writeDoubleLE(picked(random, NUMBERS), Math.floor((random() * data.length) / 8) * 8);
    }),
    changed((parts, random) => {
      const data = column(random, "uint8", parts);
      data[Math.floor(random() * data.length)] = Math.floor(random() * 256);
    }),
    // Columns that may point to any node point in circles.
    changed((parts, random) => {
      const of = picked(random, ["first_parent", "child_node", "overlay_other_place"]);
      const size = read(parts, "tree_order").length;
      const circled = read(parts, of).map((id) => (id < 0 ? id : Math.floor(random() * size)));
      set(parts, of, circled);
    }),
    changed((parts, random) => {
      const of = picked(random, ["tree_parent", "tree_order"]);
      const size = read(parts, "tree_order").length;
      const anywhere = read(parts, of).map(() => Math.floor(random() * (size + 1)) - 1);
      set(parts, of, anywhere);
    }),
    changed((parts, random) => {
      const sizes = read(parts, "string_length");
      const place = Math.floor(random() * sizes.length);
      sizes[place] = picked(random, INTEGERS);
      set(parts, "string_length", sizes);
    }),
  ];
}

/** Asks the graph for everything that the views ask for. */
function lookAt(graph: Graph): void {
  const ids = Array.from({ length: graph.size }, (_, id) => id);
  for (const id of ids) {
    graph.name(id);
    sentence(graph, id);
    boxText(graph, id);
    edgeText(graph, id);
    typeWords(graph, id);
    shapeCell(graph, id);
    dtypeCell(graph, id);
    valueWords(graph, id);
    problemWords(graph, id);
    sharedWords(graph, id);
    sizeCell(graph, id);
    sizeSentence(graph, id);
    graph.attributes(id).map(shapeWords);
    graph.notSaved(id);
    graph.facts(id);
    expect([graph.gives(id), graph.gets(id), graph.training(id)]).not.toContain(undefined);
    linksOf(graph, id);
    graph.overlay?.below(id);
    graph.overlay?.problemsOf(id);
  }
  segmentsOf(graph);
  lookAtComparison(graph);
  const actions: readonly Action[] = [
    { type: "resize", width: 800, height: 600 },
    { type: "showBookkeeping", shows: true },
    { type: "setExpanded", expanded: ids },
    ...ids.map((id): Action => ({ type: "select", id })),
    { type: "showView", view: "layers" },
    { type: "toggleTable" },
    { type: "selectLine", line: 0 },
    { type: "openSiblings" },
    ...ids.map((line): Action => ({ type: "toggleLine", line })),
    { type: "step", step: "in" },
    { type: "step", step: "last" },
    { type: "toggleTable" },
    { type: "stepChange", by: 1 },
    { type: "showOnlyChanges", only: true },
    { type: "showView", view: "table" },
    { type: "search", query: "-is:shared size>1 -path:**/(root)/x /e/ dtype:float32" },
    { type: "setMode", mode: "filter" },
    { type: "stepMatch", by: 1 },
    { type: "focusSelected" },
    { type: "fit" },
    { type: "load", graph },
  ];
  let state = initialState(graph, () => WIDTHS);
  for (const action of actions) {
    state = reduce(state, action);
    tableRows(state);
    const part = partInSight(state);
    if (!isTooMany(part)) {
      toDot(sizesOf(part, 24, { box: WIDTHS.box, name: () => 40 }));
    }
  }
}

function lookAtComparison(graph: Graph): void {
  const { overlay, table } = graph;
  for (let index = 0; index < (overlay?.problemCount ?? 0); index++) {
    if (overlay !== null) {
      const problem = overlay.problem(index);
      problemSign(overlay, problem);
      messageOf(overlay, problem);
    }
  }
  if (table !== null) {
    stripsOf(graph);
    for (let id = 0; id < table.count; id++) {
      const { fixed, plain } = table.line(id);
      expect([cellSign(plain.sign), cellSign((fixed ?? plain).sign)]).not.toContain(undefined);
      table.nodesIn(id, "saved");
      table.nodesIn(id, "live");
    }
  }
}

it("turns every mutant into a readable graph or one clear error", async () => {
  const random = randomFrom(1);
  const kinds = FIXTURES.flatMap(mutations);
  const seen = { graphs: 0, errors: 0, slowest: 0 };
  for (let number = 0; number < MUTANTS; number++) {
    const kind = number < kinds.length ? number : Math.floor(random() * kinds.length);
    const bytes = kinds[kind]?.(random) ?? Buffer.alloc(0);
    const start = performance.now();
    try {
      const graph = makeGraph(await decode(gzipSync(bytes, { level: 1 })));
      seen.graphs += 1;
      lookAt(graph);
    } catch (error) {
      if (!(error instanceof PayloadError)) {
        throw new Error(`mutant ${number}, kind ${kind}: ${String(error)}`, { cause: error });
      }
      expect(error.message).toMatch(/^The graph cannot be shown: the payload .{3,}\.$/s);
      seen.errors += 1;
    }
    seen.slowest = Math.max(seen.slowest, performance.now() - start);
  }
  expect(seen.graphs).toBeGreaterThan(MUTANTS / 20);
  expect(seen.errors).toBeGreaterThan(MUTANTS / 20);
  expect(seen.slowest).toBeLessThan(MAX_MS);
  if (MUTANTS > 1000) {
    console.log(seen);
  }
}, 600_000);
