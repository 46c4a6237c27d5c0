/** The extras share the widget's Preact: what they import of it, the widget must give them. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const SOURCES = new URL("./", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, SOURCES), "utf8");

/** By module of Preact, what the table in the widget gives. */
function given(): ReadonlyMap<string, readonly string[]> {
  const [, table = ""] = /PREACT: [^=]*= \{([\s\S]*?)\n\};/.exec(read("widget.ts")) ?? [];
  const modules = table.matchAll(/"?(preact[^":]*)"?: \{([^}]*)\}/g);
  return new Map(
    Array.from(modules, ([, module = "", names = ""]) => [module, names.match(/\w+/g) ?? []]),
  );
}

it("import nothing of Preact that the widget does not give them", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (file) => /^(draw|layout|textbook)\/.*\.tsx?$/.test(file) && !file.includes(".test"),
  );
  const imported = files.flatMap((file) =>
    [...read(file).matchAll(/import \{([^}]*)\} from "(preact[^"]*)"/g)].flatMap(
      ([, names = "", module = ""]) =>
        names
          .split(",")
          .map((name) => name.trim())
          .filter((name) => !name.startsWith("type "))
          .map((name) => ({ module, name })),
    ),
  );
  const modules = given();
  expect(imported).toContainEqual({ module: "preact/hooks", name: "useState" });
  expect(
    imported.filter(({ module, name }) => modules.get(module)?.includes(name) !== true),
  ).toEqual([]);
});
