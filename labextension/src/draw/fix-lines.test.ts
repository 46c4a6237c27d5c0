import { describe, expect, it } from "vitest";
import type { Graph } from "../graph";
import { compared, fixOf, treeGraph } from "../graphs.test-data";
import { endsOfMoves, fatesWithin } from "../layout/fates";
import { visibleRows } from "../layout/rows";
import { shownTree } from "../layout/shown";
import { sidesOf } from "../layout/sides";
import { fixSummary } from "./fix";
import { fixMarkOf } from "./fix-lines";

// The program has 1 and 2 in the root, with variables 3, 4 and 5. The file has 6 with 7 and 8.
// 0 ─┬─ 1 ─┬─ 3
//    │     └─ 4
//    ├─ 2 ─── 5
//    └─ 6 ─┬─ 7
//          └─ 8
const TREE = treeGraph([0, 0, 1, 1, 2, 0, 6, 6]);
const VARIABLES = new Set([3, 4, 5, 7, 8]);
const IN_BOTH = new Set([0]);

function graphOf(tree: Graph, isVariable: (id: number) => boolean, isPaired = IN_BOTH): Graph {
  const attribute = {
    ...{ name: "VALUE", fullName: "", checkpointKey: "", dtype: "float32" },
    ...{ shape: [1], nbytes: null, slices: 0, error: null },
  };
  const valued = { ...tree, attributes: (id: number) => (isVariable(id) ? [attribute] : []) };
  return compared(valued, {
    baseSize: 6,
    isPaired: (id) => isPaired.has(id),
    isValued: isVariable,
  });
}

const GRAPH = graphOf(TREE, (id) => VARIABLES.has(id));

function lines(
  parts: Parameters<typeof fixOf>[0],
  expanded: readonly number[] = [0, 1, 2, 6],
  graph = GRAPH,
) {
  const fix = fixOf(parts);
  const tree = shownTree(graph, false);
  const rows = visibleRows(tree.children, new Set(expanded), 0, tree.chunk);
  const sides = sidesOf(rows, graph.overlay!, fix);
  const idOf = (row: number | null) => (row === null ? null : (rows[row]?.id ?? null));
  return {
    fix,
    pairs: sides.lines.map(({ live, saved }) => [idOf(saved), idOf(live)]),
    marks: sides.lines.map((line) => {
      const { sign, stroke, words } = fixMarkOf(graph, rows, line, fix);
      return [sign?.glyph ?? "", words, stroke].join("|");
    }),
    longer: sides.lines.map((line) => fixMarkOf(graph, rows, line, fix).longer ?? ""),
    reasons: sides.lines.map((line) => fixMarkOf(graph, rows, line, fix).reason ?? ""),
    guesses: sides.lines.map((line) => fixMarkOf(graph, rows, line, fix).guess),
  };
}

const RENAMED = [
  { saved: 6, live: 1 },
  { saved: 7, live: 3 },
  { saved: 8, live: 4 },
];

describe("the lines of a fix", () => {
  it("have a renamed part on one line, and its variables on lines below", () => {
    const { marks, pairs, reasons } = lines({ pairs: RENAMED, kept: [5] });
    expect(pairs).toEqual([
      [0, 0],
      [6, 1],
      [7, 3],
      [8, 4],
      [null, 2],
      [null, 5],
    ]);
    expect(marks).toEqual([
      "||none",
      "✓|certain|restored",
      "✓||restored",
      "✓||restored",
      "||none",
      "+|keeps its value|alone",
    ]);
    expect(reasons.slice(4)).toEqual(["nothing in the checkpoint corresponds", ""]);
  });

  it("say of a folded part what happens to the variables in it", () => {
    const { marks } = lines({ pairs: RENAMED.slice(0, 2), kept: [4, 5], unused: [8] }, [0]);
    expect(marks).toEqual([
      "||none",
      "✓|certain, 1 restored, 1 keeps its value, 1 stays unused|restored",
      "+|keeps its value|alone",
    ]);
  });

  it("name the certainty in a word and by the stroke", () => {
    const bonds = (bond: "likely" | "guess") => ({
      pairs: RENAMED.map((pair) => ({ ...pair, bond })),
      kept: bond === "guess" ? [3, 4] : [],
      unused: bond === "guess" ? [7, 8] : [],
    });
    expect(lines(bonds("likely")).marks.slice(1, 3)).toEqual(["≈|likely|likely", "≈||likely"]);
    expect(lines(bonds("guess")).marks.slice(1, 3)).toEqual(["?|a guess|alone", "?||alone"]);
    expect(lines(bonds("guess"), [0]).marks[1]).toBe("?|a guess|alone");
  });

  it("show a value of another shape where it belongs, and as a misfit", () => {
    const misfit = { saved: 8, live: 4, bond: "misfit" } as const;
    const { marks, pairs } = lines({
      pairs: [...RENAMED.slice(0, 2), misfit],
      kept: [4, 5],
      unused: [8],
    });
    expect(pairs[3]).toEqual([8, 4]);
    expect(marks[3]).toBe("≠|does not fit|differs");
  });

  it("have a part from another parent on the line of its new place, and say so once", () => {
    // 6 with 7 goes into 3 with 4, which is on another level.
    const tree = treeGraph([0, 0, 1, 3, 2, 0, 6]);
    const graph = graphOf(tree, (id) => [4, 5, 7].includes(id));
    const pairs = [
      { saved: 6, live: 3, bond: "likely" as const },
      { saved: 7, live: 4, bond: "likely" as const },
    ];
    const shown = lines({ pairs, kept: [5] }, [0, 1, 2, 3, 6], graph);
    expect(shown.pairs.slice(2, 4)).toEqual([
      [6, 3],
      [7, 4],
    ]);
    expect(shown.marks.slice(2, 4)).toEqual(["≈|likely|likely", "≈||likely"]);
    expect(shown.reasons.slice(2, 4)).toEqual(["why", ""]);
    expect(endsOfMoves(graph, fixOf({ pairs }))).toEqual([6, 3]);
  });

  it("have the guess that a person may tick, ticked or not", () => {
    const guessed = RENAMED.map((pair) => ({ ...pair, bond: "guess" as const }));
    for (const pairs of [guessed, RENAMED]) {
      expect(lines({ pairs, guesses: [9, 6] }).guesses.slice(0, 3)).toEqual([
        undefined,
        1,
        undefined,
      ]);
    }
  });

  it("give the reason of the check for what stays out, once for a whole part", () => {
    const graph = compared(GRAPH, {
      baseSize: 6,
      isPaired: (id) => id === 0,
      isValued: (id) => VARIABLES.has(id),
      problems: [{ nodes: [6], why: "Block 6 is gone." }],
    });
    const { reasons } = lines({ kept: [3, 4, 5], unused: [7, 8] }, [0, 6], graph);
    expect(reasons.slice(3)).toEqual(["Block 6 is gone.", "", ""]);
    const valueless = graphOf(TREE, (id) => VARIABLES.has(id) && id !== 5);
    expect(lines({ pairs: RENAMED }, [0, 1, 2, 6], valueless).reasons.join("")).toBe("");
  });

  it("do not take two variables for a pair that have one name, if their values part", () => {
    // Restore pairs 3 with 3; the fix puts its value into 4, and nothing into 3.
    const inBoth = new Set([0, 1, 3, 4]);
    const graph = graphOf(TREE, (id) => VARIABLES.has(id), inBoth);
    const { marks } = lines(
      { pairs: [{ saved: 3, live: 4 }], kept: [3], unused: [4] },
      [0, 1],
      graph,
    );
    expect(marks.slice(1, 4)).toEqual([
      "||none",
      "+|keeps its value|none",
      "✓|from edge 3, certain|none",
    ]);
  });

  it("show what gets a value of which the graph has no node", () => {
    const itself = { saved: 5, live: 5, bond: "likely" } as const;
    const { marks } = lines({ pairs: [itself] }, [0, 2]);
    expect(marks.slice(2, 4)).toEqual(["||none", "≈|likely|likely"]);
    expect(lines({ pairs: [itself] }, [0]).marks[2]).toBe("✓||restored");
  });

  it("name a saved part as the file does, if a restore would give it to another part", () => {
    const graph = {
      ...GRAPH,
      savedLabel: (id: number) => (id === 2 ? "in the file" : `edge ${id}`),
    };
    const { marks } = lines({ pairs: [{ saved: 2, live: 5 }], kept: [3, 4] }, [0, 1, 2, 6], graph);
    expect(marks.join()).toContain("from in the file");
  });

  it("show hostile names as text", () => {
    const label = (id: number) => `\u202e${id}\n`;
    const hostile = { ...GRAPH, label, savedLabel: label };
    const { longer, marks } = lines(
      {
        pairs: [
          { saved: 7, live: 3 },
          { saved: 7, live: 5 },
        ],
      },
      [0, 1, 2, 6],
      hostile,
    );
    expect(marks.join()).toContain("from \\u202e7\\n");
    expect([...marks, ...longer].join()).not.toMatch(/[\n\u202e]/);
  });

  it("are made at once for 50,000 variables, in parts of a long list too", () => {
    const size = 50_000;
    const tree = treeGraph(Array.from({ length: 2 * size }, () => 0));
    const wide = compared(
      { ...tree, attributes: GRAPH.attributes.bind(null, 3) },
      { baseSize: size + 1, isPaired: (id) => id === 0 },
    );
    const pairs = Array.from({ length: size }, (_, i) => ({ saved: size + 1 + i, live: 1 + i }));
    const { fix, marks } = lines({ pairs }, [0], wide);
    expect(marks[1]).toBe("✓||restored");
    expect(fatesWithin(wide, fix, 0).restored).toBe(size + 1);
  }, 10_000);
});

describe("the sentence of a fix", () => {
  it.each([
    [{ restored: 44 }, "Restores all 44 values."],
    [{ restored: 1 }, "Restores all 1 value."],
    [
      { restored: 42, kept: [1, 2], unused: [3] },
      "Restores 42 of 44 values; 2 keep their values, 1 saved value stays unused.",
    ],
    [{ restored: 3, unused: [3, 4] }, "Restores all 3 values; 2 saved values stay unused."],
    [{ restored: 0, kept: [1] }, "Restores 0 of 1 value; 1 keeps its value."],
  ])("counts what %o does", (parts, sentence) => {
    expect(fixSummary(fixOf(parts))).toBe(sentence);
  });
});
