/** The extras share the widget's Preact: what they import of it, the widget must give them. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const SOURCES = new URL("./", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, SOURCES), "utf8");

it("import nothing of Preact that the widget does not give them", () => {
  const [, given = ""] = /PREACT: [^=]*= \{([\s\S]*?)\n\};/.exec(read("widget.ts")) ?? [];
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (file) => /^(draw|layout|textbook)\/.*\.tsx?$/.test(file) && !file.includes(".test"),
  );
  const imported = files.flatMap((file) =>
    [...read(file).matchAll(/import \{([^}]*)\} from "preact[^"]*"/g)].flatMap(([, names = ""]) =>
      names.split(",").map((name) => name.trim()),
    ),
  );
  const missing = imported.filter((name) => !name.startsWith("type ") && !given.includes(name));
  expect(imported).toContain("useState");
  expect(missing).toEqual([]);
});
