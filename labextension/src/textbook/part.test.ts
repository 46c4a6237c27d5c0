import { describe, expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { type Row, visibleRows } from "../layout/rows";
import { type ShownTree, shownTree } from "../layout/shown";
import { fullTree, loadGraph, treeGraph } from "../tests/graphs.test-data";
import { toDot } from "./dot";
import { isTooMany, MAX_EDGES, MAX_NODES, type Part, partInSight, sizesOf } from "./part";

const WIDTHS = { box: () => 72, name: () => 20.5 };

interface Shown {
  readonly graph: Graph;
  readonly rows: readonly Row[];
  readonly tree: ShownTree;
}

/** A graph with all nodes open, or only these. */
function shown(graph: Graph, open = [...Array(graph.size).keys()]): Shown {
  const tree = shownTree(graph, true);
  const rows = visibleRows(tree.children, new Set(open), 0, tree.chunk);
  return { graph, rows, tree };
}

function drawn(shown: Shown): Part {
  const part = partInSight(shown);
  if (isTooMany(part)) {
    throw new Error("too many");
  }
  return part;
}

const dotOf = (part: Part): string => toDot(sizesOf(part, 24, WIDTHS));
const written = ({ edges }: Part) =>
  edges.map(({ from, to, name, isSlot }) => `${from} ${isSlot ? "~" : "-"}${name}> ${to}`);

describe("the part in sight", () => {
  it("has every edge between two visible nodes, not only those of the tree", async () => {
    const graph = await loadGraph("circles_and_lost_nodes");
    const part = drawn(shown(graph));
    const visible = new Set(part.nodes.map(({ id }) => id));
    const all = [...visible].flatMap((id) =>
      graph
        .children(id)
        .filter(({ node }) => visible.has(node))
        .map(({ localName, node }) => `${id} -${localName}> ${node}`),
    );
    expect(written(part)).toEqual(all);
    expect(all).toContain("1 -up> 0");
  });

  it("has no edge to a folded-away node", async () => {
    const graph = await loadGraph("keras3_adam");
    expect(written(drawn(shown(graph, [0])))).toEqual(
      graph.children(0).map(({ localName, node }) => `0 -${localName}> ${node}`),
    );
  });

  it("has the slots of a closed variable as nodes with their own edges", async () => {
    const graph = await loadGraph("keras3_adam");
    const closed = shown(
      graph,
      [...Array(graph.size).keys()].filter((id) => graph.role(id) !== "variable"),
    );
    const part = drawn(closed);
    expect(closed.rows.map(({ id }) => id)).not.toContain(9);
    expect(written(part)).toEqual(expect.arrayContaining(["1 ~> 9", "7 ~momentum> 9"]));
    expect(part.nodes.find(({ id }) => id === 7)).toMatchObject({ isExpanded: true });
    expect(new Set(written(part))).toEqual(new Set(written(drawn(shown(graph)))));
  });

  it("leaves slots in their variables if there is no space for them", () => {
    const variables = MAX_NODES - 1;
    const graph: Graph = {
      ...treeGraph([
        ...Array.from({ length: variables }, () => 0),
        ...Array.from({ length: variables }, (_, index) => index + 1),
      ]),
      role: (id) => (id === 0 ? "object" : id <= variables ? "variable" : "slot"),
      slot: (id) =>
        id > variables ? { name: "m", variable: id - variables, optimizer: null, rule: "" } : null,
    };
    const tree: ShownTree = { ...shownTree(graph, true), children: graph.treeChildren };
    const rows = visibleRows(tree.children, new Set([0]));
    expect(drawn({ graph, rows, tree }).nodes).toEqual(rows);
  });

  it("has one node for a closed chunk of a long list, and the nodes of an open one", () => {
    const graph = fullTree(250, 1);
    const chunks = shown(graph, [0]);
    const ids = chunks.rows.map(({ id }) => id);
    expect(written(drawn(chunks))).toEqual([
      `0 -edge 1 … edge 100> ${ids[1]}`,
      `0 -edge 101 … edge 200> ${ids[2]}`,
      `0 -edge 201 … edge 250> ${ids[3]}`,
    ]);
    const open = drawn(shown(graph, [0, ids[3]!]));
    expect(open.nodes).toHaveLength(1 + 2 + 50);
    expect(written(open)).toContain("0 -edge 250> 250");
  });

  it("gives the number of nodes or edges if there are too many", () => {
    const graph = fullTree(18, 2);
    expect(partInSight(shown(graph))).toEqual({ nodes: 343, edges: null });
    const names = Array.from({ length: MAX_EDGES + 1 }, (_, i) => ({ localName: `${i}`, node: 1 }));
    const twice: Graph = { ...treeGraph([0]), children: (id) => (id === 0 ? names : []) };
    expect(partInSight(shown(twice))).toEqual({ nodes: 2, edges: MAX_EDGES + 1 });
  });
});

describe("DOT", () => {
  it("has only sizes and numbers", async () => {
    const graph = await loadGraph("declared_slots");
    const dot = dotOf(drawn(shown(graph)));
    expect(dot.split("\n")).toContain("0 [width=1.0000]");
    expect(dot).toMatch(/^0 -> 1 \[id=0 label=<<TABLE .* WIDTH="27" HEIGHT="13">.*>>\]$/m);
    expect(dot).toMatch(/^2 -> 4 \[id=\d+.*\]$/m);
  });

  it.each([
    '"];evil [label="',
    "\\N\\G\\E\\",
    "<b>bold</b>",
    "<",
    "a\nb;}",
    "\u0000",
    "日本\u202e",
    "<script>alert(1)</script>",
  ])("contains no part of a name (%j)", async (name) => {
    const graph = await loadGraph("declared_slots");
    const hostile: Graph = {
      ...graph,
      name: () => name,
      label: () => name,
      typeName: () => name,
      children: (id) => graph.children(id).map((edge) => ({ ...edge, localName: name })),
      slot: (id) => {
        const slot = graph.slot(id);
        return slot === null ? null : { ...slot, name };
      },
    };
    expect(dotOf(drawn(shown(hostile)))).toBe(dotOf(drawn(shown(graph))));
  });
});
