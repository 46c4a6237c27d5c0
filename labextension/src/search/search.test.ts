import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { fullTree, loadGraph } from "../tests/graphs.test-data";
import { find } from "./evaluate";
import { makeGlob } from "./glob";
import { named } from "./pasted";
import { Mistake } from "./syntax";

interface Case {
  readonly graph: string;
  readonly query: string;
  readonly ids?: readonly number[];
  readonly mistake?: { readonly place: number; readonly expected: string };
}

/** tests/test_search.py reads the same table. */
const TABLE = JSON.parse(
  readFileSync(new URL("../../../tests/data/search.json", import.meta.url), "utf8"),
) as readonly Case[];

function answer(graph: Graph, query: string): readonly number[] | Mistake {
  try {
    return find(graph, query);
  } catch (error) {
    expect(error).toBeInstanceOf(Mistake);
    return { ...(error as Mistake) };
  }
}

describe("a query finds what the table says", () => {
  it.each(TABLE.map((one, index) => ({ ...one, index })))(
    "$index: $query",
    async ({ graph, query, ids, mistake }) => {
      expect(answer(await loadGraph(graph), query)).toEqual(mistake ?? ids);
    },
  );
});

it.each([
  ["shape (3, 2) and shape=(7,)", ["3,2", "7"]],
  ["shape 3×2, the program's shape 7", ["3,2", "7"]],
  ["shape () or shape scalar", [""]],
  ["shape 3×? or shape ?×2, of scalars", []],
])("reads the shapes in %j as TensorFlow and ckpt-viz spell them", (text, shapes) => {
  expect([...named(text).shapes]).toEqual(shapes);
});

it("searches a chain of 100,000 nodes", () => {
  const chain = fullTree(1, 100_000);
  expect(find(chain, "path:**/edge*9999/** /edge \\d+$/ -x")).toHaveLength(90_001);
  expect(find(chain, '"edge 50000/edge" "edge 4/"')).toEqual([50_001]);
});

/** The rules of docs/search.md for a glob, written the simple, slow way. */
function fits(glob: string, text: string): boolean {
  if (glob === "") {
    return text === "";
  }
  const rests = Array.from({ length: text.length + 1 }, (_, start) => text.slice(start));
  if (glob.startsWith("**/")) {
    const behind = rests.filter((rest) => rest.startsWith("/")).map((rest) => rest.slice(1));
    return [text, ...behind].some((rest) => fits(glob.slice(3), rest));
  }
  const stars = glob.length - glob.replace(/^\*+/, "").length;
  const passed = (rest: string) => text.slice(0, text.length - rest.length);
  return stars === 0
    ? text.startsWith(glob[0] ?? "") && fits(glob.slice(1), text.slice(1))
    : rests
        .filter((rest) => stars > 1 || !passed(rest).includes("/"))
        .some((rest) => fits(glob.slice(stars), rest));
}

describe("a glob", () => {
  it("agrees with its definition", () => {
    const random = (signs: string, most: number) =>
      Array.from(
        { length: Math.random() * most },
        () => signs[Math.floor(Math.random() * signs.length)],
      ).join("");
    for (let i = 0; i < 2_000; i++) {
      const [glob, text] = [random("aab//***", 8), random("ab/", 8)];
      expect([glob, text, makeGlob(glob, "/").fits(text)]).toEqual([glob, text, fits(glob, text)]);
    }
  });

  it.each([`${"*a".repeat(400)}*b`, `${"**a".repeat(300)}b`, `${"**/".repeat(300)}b`])(
    "is matched in one pass: %.9s…",
    (glob) => {
      expect(makeGlob(glob, "/").fits("a".repeat(20_000))).toBe(false);
      expect(makeGlob(glob, "/").fits(`${"a".repeat(999)}b`)).toBe(!glob.includes("/"));
    },
  );
});

it("applies a regular expression to the last 1,000 characters of a path", () => {
  const deep = fullTree(1, 200);
  expect(find(deep, "/^edge 1$/")).toEqual([1]);
  expect(find(deep, "/^edge 1\\/(.*\\/)?edge 90$/")).toEqual([90]);
  expect(find(deep, "/^edge 1\\/(.*\\/)?edge 199$/")).toEqual([]); // its path is cut
  expect(find(deep, "/^.{1000}$/")).toEqual([]); // `^` does not match at the cut
  expect(find(deep, "/^edge 199$/")).toEqual([199]); // a local name begins here
});
