/** The extras share the widget's Preact: what they import of it, the widget must give them. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const SOURCES = new URL("../", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, SOURCES), "utf8");

/** What the table in the widget gives: names of all modules of Preact, and what elements need. */
function given(): ReadonlySet<string> {
  const [, table = ""] = /const PREACT = \{([\s\S]*?)\n\};/.exec(read("widget/widget.ts")) ?? [];
  return new Set(table.match(/\w+/g));
}

it("import nothing of Preact that the widget does not give them", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (file) => /^(draw|layout|textbook)\/.*\.tsx?$/.test(file) && !file.includes(".test"),
  );
  const imported = [...files, "basics/jsx.ts"].flatMap((file) =>
    [...read(file).matchAll(/(?:im|ex)port \{([^}]*)\} from "preact[^"]*"/g)].flatMap(
      ([, names = ""]) =>
        names
          .split(",")
          .map((name) => name.trim())
          .filter((name) => !name.startsWith("type ")),
    ),
  );
  expect(imported).toEqual(expect.arrayContaining(["useState", "h"]));
  const known = given();
  expect(imported.filter((name) => !known.has(name))).toEqual([]);
});
