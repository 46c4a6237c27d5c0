/** Colours, signs and columns come from tables; the style sheet has none of its own. */

import { describe, expect, it } from "vitest";
import palette from "../../../ckpt_viz/graphs/render/palette.json";
import signs from "../../../ckpt_viz/graphs/render/signs.json";
import { CELL_SIGNS, NODE_STATES, SEVERITIES } from "../data/contract";
import { COLUMNS, type Column, columnsOf } from "../draw/outline-columns";
import { MIN_FIT_SCALE } from "../state/camera";
import { MODULES, STYLES } from "../tests/sources.test-data";
import { generatedStyle } from "./style";

const HEX = /(?<![\w.&#])#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b(?!\s*[(=])/i;
const COLOUR = new RegExp(`${HEX.source}|\\b(?:rgba?|hsla?|oklch|lab)\\(\\s*[\\d.]`, "i");
/** The signs that have no other meaning in a text. */
const SIGN = /[✓✗Δ↷≠]/;

function withoutComments(code: string): string {
  return code.replace(/\/\*.*?\*\//gs, "").replace(/(^|\s)\/\/.*$/gm, "");
}

/** The lines of our sources that contain something which belongs into a table. */
function strays(what: RegExp, code: string): readonly string[] {
  return withoutComments(code)
    .split("\n")
    .filter((line) => what.test(line));
}

const files = [...MODULES, ...STYLES];

it.each([
  ["colour", COLOUR],
  ["sign", SIGN],
])("no %s is outside of the tables", (_, what) => {
  expect(files.length).toBeGreaterThan(60);
  const found = files.flatMap(({ name, code }) =>
    strays(what, code).map((line) => `${name}: ${line}`),
  );
  expect(found).toEqual([]);
});

it.each([
  [COLOUR, "  color: #9b1c1c;"],
  [COLOUR, 'const back = "#fff";'],
  [COLOUR, "  box-shadow: 0 3px 10px rgb(0 0 0 / 25%);"],
  [SIGN, '  content: "✗ ";'],
])("%s finds %s", (what, line) => {
  expect(strays(what, line)).toEqual([line]);
});

it("takes colours of a host only where its theme is as light or dark as the ground", () => {
  expect(STYLES.flatMap(({ code }) => strays(/color-scheme|--vscode/, code))).toEqual([]);
  const style = generatedStyle();
  const heads = style.match(/^.*(?=\{[^}]*(?:--jp|--vscode))/gm) ?? [];
  const hosts = ["jp", "jp", "vscode", "vscode"];
  expect(heads.map((head) => /jp|vscode/.exec(head)?.[0])).toEqual(hosts);
  const schemesOf = ["light", "dark", "light", "dark"];
  expect(heads.map((head) => /(?<=data-ckv-scheme=")\w+/.exec(head)?.[0])).toEqual(schemesOf);
  // Print is light: only screens have a dark version, and colours of hosts.
  const [before, screen = ""] = style.split("@media screen {");
  expect(before).not.toMatch(/--jp|--vscode|color-scheme: dark/);
  expect(screen.split("\n}\n.ckpt-viz {")[0]).toMatch(/color-scheme: dark/);
});

it("has every colour in a light, a dark and a guide version", () => {
  const { classic, dark, light } = palette;
  expect(Object.keys(dark)).toEqual(Object.keys(light));
  expect(Object.keys(classic.dark)).toEqual(Object.keys(classic.light));
  expect(Object.keys(light)).toEqual(expect.arrayContaining(Object.keys(classic.light)));
  const style = generatedStyle();
  for (const [name, colour] of Object.entries(light)) {
    expect(style).toContain(`--ckv-${name}: `);
    expect(style).toContain(colour);
  }
  expect(style).toContain("--ckv-object: light-dark(#1f1f1f, #f2f2f2);");
  for (const variable of ["--jp-ui-font-color1", "--vscode-editor-foreground"]) {
    expect(style).toContain(`--ckv-fore: var(${variable}, light-dark(#1f1f1f, #f2f2f2));`);
  }
});

it("has no letter below 11 px in a drawing that fits the view", () => {
  const css = STYLES.map(({ code }) => code).join("\n");
  const sizes = [...css.matchAll(/^\.ckv-drawing[^{}]*\{[^}]*?font-size: ([\d.]+)px/gm)].map(
    ([, size]) => Number(size),
  );
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.min(...sizes) * MIN_FIT_SCALE).toBeGreaterThanOrEqual(11);
});

it("defines every colour that the style sheet uses", () => {
  const css = STYLES.map(({ code }) => code).join("\n");
  const names = (text: string, pattern: RegExp) =>
    new Set(Array.from(text.matchAll(pattern), ([, name = ""]) => name));
  const used = names(css, /var\(--ckv-([\w-]+)/g);
  const set = names(`${css}${generatedStyle()}`, /--ckv-([\w-]+):/g);
  // draw/panes, draw/table, draw/table-columns, draw/cut and ground set these.
  const ofTables = ["indent", "share", "shared", "need"];
  const ofViews = new Set(["outline", "details", "ground", "cut", ...ofTables]);
  expect([...used].filter((name) => !set.has(name) && !ofViews.has(name))).toEqual([]);
});

it("has a sign for every state, severity, verdict and cell", () => {
  expect(Object.keys(signs.states)).toEqual([...NODE_STATES]);
  expect(Object.keys(signs.severities)).toEqual([...SEVERITIES]);
  expect(Object.keys(signs.verdicts)).toEqual(["check", "diff"]);
  expect(Object.keys(signs.cells)).toEqual([...CELL_SIGNS]);
  const verdicts = Object.values(signs.verdicts).flatMap(({ yes, no }) => [yes, no]);
  const all = [...Object.values(signs.states), ...Object.values(signs.severities), ...verdicts];
  const looks = (of: readonly { readonly look: string }[]) => new Set(of.map(({ look }) => look));
  expect(looks(all)).toEqual(new Set(["quiet", "loud", "hollow"]));
  expect(looks(Object.values(signs.cells))).toEqual(looks([...all, { look: "ring" }]));
});

describe("the columns of the outline", () => {
  const grid = (columns: readonly Column[]) =>
    generatedStyle(columns)
      .split("\n")
      .filter((line) => line.includes("grid-template-columns"))
      .map((line) =>
        line.replace(/:is\(.*?\) \{ grid-template-columns: minmax\(0, 1fr\)|; \}/g, ""),
      );

  it("give each width of the outline its grid", () => {
    const alone = ".ckv-outline:not(.ckv-compared)";
    expect(grid(COLUMNS).map((line) => line.trim())).toEqual([
      `${alone}  26px 46px`,
      `${alone}  78px 72px`,
      `${alone}  78px 116px`,
      `${alone}  78px 56px 116px`,
      `${alone}  78px 56px 116px 58px`,
      `${alone}  78px 56px 116px 58px 62px`,
      ".ckv-compared  52px",
      ".ckv-compared  142px",
      ".ckv-compared  142px 72px",
      ".ckv-compared  150px 80px 56px",
      ".ckv-compared  156px 86px 56px 54px 62px",
    ]);
  });

  it("need one entry for a new column, which appears if there is room", () => {
    const added: Column = {
      name: "norm",
      label: "norm",
      alone: [[700, 40]],
      compared: [],
      cell: () => ({ content: "1.0", title: "1.0" }),
    };
    const style = generatedStyle([...COLUMNS, added]);
    expect(grid([...COLUMNS, added])).toHaveLength(grid(COLUMNS).length + 1);
    expect(style).toContain("minmax(0, 1fr) 78px 56px 116px 58px 62px 40px;");
    expect(style).toContain(".ckv-outline:not(.ckv-compared) .ckv-cell-norm { display: none; }");
  });

  it("differ between a graph and a comparison", () => {
    expect(columnsOf(undefined).map(({ name }) => name)).toEqual([
      "shape",
      "dtype",
      "parameters",
      "size",
      "role",
    ]);
    expect(columnsOf("check").map(({ name }) => name)).toEqual([
      "state",
      "shape",
      "dtype",
      "size",
      "role",
    ]);
  });
});
