/** The extras share what the widget has: what they do not bundle, the widget must give them. */

import { readFileSync } from "node:fs";
import { buildSync } from "esbuild";
import { expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url).pathname;
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
const GIVEN = readFileSync(`${ROOT}src/widget/given.ts`, "utf8");

function built(entry: string, external: string[]) {
  const { metafile, outputFiles } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    external,
    inject: ["src/basics/jsx.ts"],
    tsconfig: "tsconfig.kernel.json",
    ...{ bundle: true, format: "cjs", metafile: true, write: false },
  });
  const [inputs = {}] = Object.values(metafile.outputs).map((output) => output.inputs);
  return { inputs, code: outputFiles[0]?.text ?? "" };
}

const sizeIn = ({ inputs }: ReturnType<typeof built>, module: string) =>
  inputs[module]?.bytesInOutput ?? 0;
const left = Array.from(
  scripts["build:extras"].matchAll(/--external:(\S+)/g) as Iterable<readonly string[]>,
  ([, name = ""]) => name,
);
const extras = built("src/draw/extras.ts", left);

it("take nothing that the widget does not give them", () => {
  const taken = Array.from(extras.code.matchAll(/\bimport_\w+\.(\w+)/g), ([, name]) => name);
  const [, table = ""] = /const GIVEN = \{([\s\S]*?)\n\};/.exec(GIVEN) ?? [];
  expect(new Set(table.match(/\w+/g))).toEqual(new Set(taken));
});

it("have no second copy of searches, layouts and words", () => {
  const widget = built("src/widget/widget.ts", ["preact"]);
  const twice = Object.keys(extras.inputs)
    .filter((module) => /^src\/(layout|search|words)\//.test(module))
    .filter((module) => sizeIn(extras, module) > 1000 && sizeIn(widget, module) > 0);
  expect(twice).toEqual([]);
});
