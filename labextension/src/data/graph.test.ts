import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { sizeOf } from "../layout/totals";
import { expected, FIXTURES, loadGraph } from "../tests/graphs.test-data";
import { joined, parted } from "../tests/payloads.test-data";
import { placeName } from "../words/words";
import { decode } from "./contract";
import { makeGraph } from "./graph";
import { MEASURES, type MeasureName, measureOf } from "./measures";
import type { Overlay } from "./overlay";
import type { Table } from "./table";

const factsOf = (overlay: Overlay, size: number) => ({
  comparison: overlay.comparison,
  baseSize: overlay.baseSize,
  verdicts: overlay.verdicts,
  marks: Array.from({ length: size }, (_, id) => ({
    state: overlay.state(id),
    detail: overlay.detail(id),
    partner: overlay.partner(id),
    goesTo: overlay.goesTo(id),
  })),
  problems: Array.from({ length: overlay.problemCount }, (_, index) => overlay.problem(index)),
  isOther: Array.from({ length: size }, (_, id) => overlay.isOther(id)),
  savedElements: Object.fromEntries(
    Array.from({ length: size }, (_, id) => [id, overlay.savedElements(id)]).filter(
      ([, count]) => count !== null,
    ),
  ),
  guesses: overlay.guesses,
});

/** The table as Python's dataclasses name its parts. */
const linesOf = (table: Table) => ({
  ...{ sentence: table.sentence, verdict: table.verdict, heads: table.heads },
  ...{ notes: table.notes, is_one_column: table.is_one_column, worst: table.worst },
  lines: Array.from({ length: table.count }, (_, id) => {
    const { guess, live, liveFacts, liveNode, saved, savedFacts, savedNode, ...line } =
      table.line(id);
    return {
      ...{ parent: table.parent(id) ?? -1, saved, live },
      ...{ saved_facts: savedFacts, live_facts: liveFacts },
      ...{ saved_node: savedNode, live_node: liveNode },
      ...{ plain: line.plain, fixed: line.fixed, values: line.values, guess },
    };
  }),
  ...{ totals: table.totals, guessed: table.guessed },
});

describe.each(FIXTURES)("the fixture %s, written by Python,", (name) => {
  it("holds the same graph as in Python", async () => {
    const graph = await loadGraph(name);
    const nodes = Array.from({ length: graph.size }, (_, id) => ({
      name: graph.name(id),
      place: placeName(graph, id),
      role: graph.role(id),
      typeName: graph.typeName(id),
      error: graph.error(id),
      registeredSaver: graph.registeredSaver(id),
      collections: graph.collections(id),
      training: graph.training(id),
      facts: graph.facts(id),
      gives: graph.gives(id),
      gets: graph.gets(id),
      notSaved: graph.notSaved(id),
      label: graph.label(id),
      savedLabel: graph.savedLabel(id),
      treeParent: graph.treeParent(id),
      treeChildren: [...graph.treeChildren(id)],
      children: graph.children(id),
      edgesTo: graph.edgesTo(id),
      attributes: graph.attributes(id),
      size: sizeOf(graph, id),
      slot: graph.slot(id),
    }));
    const { calls, title, origin, notes, measures, overlay, table } = graph;
    const told = (number: number) =>
      Number.isFinite(number) ? number : Number.isNaN(number) ? "nan" : "inf";
    const measuredBy = (measure: MeasureName) =>
      nodes.map((_, id) => told(measureOf(measure, measures?.of(id) ?? (() => Number.NaN))));
    expect({
      title,
      origin,
      notes,
      nodes,
      calls: calls && Array.from(calls.from, (from, call) => [from, calls.to[call]]),
      layers: undefined, // layer-tree.test.ts compares them
      overlay: overlay && factsOf(overlay, graph.size),
      table: table && linesOf(table),
      measures: measures && {
        unread: measures.unread,
        ...Object.fromEntries(MEASURES.map((measure) => [measure, measuredBy(measure)])),
      },
    }).toEqual({ ...(expected(name) as object), layers: undefined });
  });
});

it("cuts off a first path that runs in a circle", async () => {
  const parts = parted("keras3_adam");
  for (const { data, name } of parts.sections) {
    if (name === "first_parent") {
      data.writeInt32LE(1, 4);
    }
  }
  const graph = makeGraph(await decode(gzipSync(joined(parts))));
  expect(graph.name(1)).toBe(`(root)${`.${graph.firstEdge(1)?.localName}`.repeat(graph.size + 1)}`);
});
