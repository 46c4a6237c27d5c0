import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fullTree, loadGraph } from "./graphs.test-data";
import { find } from "./search/evaluate";
import { Mistake } from "./search/syntax";

interface Case {
  readonly graph: string;
  readonly query: string;
  readonly ids?: readonly number[];
  readonly mistake?: { readonly place: number; readonly expected: string };
}

/** Also read by tests/test_search.py. */
const TABLE = JSON.parse(
  readFileSync(new URL("../../tests/data/search.json", import.meta.url), "utf8"),
) as readonly Case[];

describe("a query finds what the table says", () => {
  it.each(TABLE.map((one, index) => ({ ...one, index })))(
    "$index: $query",
    async ({ graph, query, ids, mistake }) => {
      const found = find(await loadGraph(graph), query);
      if (found instanceof Mistake) {
        expect({ place: found.place, expected: found.expected }).toEqual(mistake);
      } else {
        expect(found).toEqual(ids);
      }
    },
  );
});

it("finds in a chain of 100,000 nodes", () => {
  const chain = fullTree(1, 100_000);
  expect(find(chain, "under:edge*99998 /edge \\d+$/ -x")).toEqual([99_999, 100_000]);
  expect(find(chain, '"edge 50000/edge" "edge 4/"')).toEqual([50_001]);
});
