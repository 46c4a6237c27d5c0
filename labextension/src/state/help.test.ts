import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as WORDS from "../basics/strings";
import { CELL_SIGNS } from "../data/contract";
import { COPY_KEYS } from "../kernel/copies";
import { cellSign } from "../words/signs";
import { DEEDS, deedOf, SAME_KEYS } from "./deeds";
import { helpGroups, signLines } from "./help";

const press = (key: string, modifiers: Partial<KeyboardEvent> = {}) =>
  deedOf({ key, ...modifiers } as KeyboardEvent);

it("steps through changes with the bracket keys and with F8", () => {
  const next = { type: "stepChange", by: 1 };
  const previous = { type: "stepChange", by: -1 };
  expect([press("]"), press("F8")]).toEqual([next, next]);
  expect([press("["), press("F8", { shiftKey: true })]).toEqual([previous, previous]);
});

it("leaves Ctrl, Alt and Meta combinations and Shift+Enter to the notebook", () => {
  expect(press("]", { ctrlKey: true })).toBe(undefined);
  expect(press("F8", { altKey: true })).toBe(undefined);
  expect(press("Enter", { shiftKey: true })).toBe(undefined);
});

it("does what the table says, and leaves the notebook's keys to the notebook", () => {
  const same = Object.entries(SAME_KEYS).map(([key, as]) => [key, DEEDS[as]] as const);
  for (const [key, does] of [...Object.entries(DEEDS), ...same]) {
    const shiftKey = key.startsWith("Shift+");
    expect(press(key.replace("Shift+", ""), { shiftKey })).toBe(does ?? undefined);
  }
  expect(press("q")).toBe(undefined);
});

it("lists each key of a deed or a copy once in the help, and each line once", () => {
  const lines = helpGroups().flatMap((group) => group.lines);
  expect(lines.slice(0, 3)).toEqual([
    { keys: "↑ ↓ Home End PgUp PgDn", does: "move" },
    { keys: "→ ←", does: "open, enter; close, leave" },
    { keys: "Space *", does: "open or close; open all beside it" },
  ]);
  const all = [...Object.keys(DEEDS), ...COPY_KEYS.flatMap(([, ...keys]) => keys)];
  const withSame = [...all, ...Object.keys(SAME_KEYS)];
  expect(withSame).toEqual([...new Set(withSame)]);
  expect(lines.flatMap(({ keys }) => keys.split(" ")).sort()).toEqual(
    all.map(WORDS.keyLabel).sort(),
  );
  expect(lines.map(({ does }) => does).sort()).toEqual(Object.values(WORDS.keys).sort());
});

it("has each sign of a table once in the help, with its words", () => {
  const glyphs = signLines().map(({ glyph }) => glyph);
  expect(new Set(glyphs).size).toBe(glyphs.length);
  expect(glyphs).toEqual(CELL_SIGNS.map((sign) => cellSign(sign).glyph));
});

it("documents the same keys as the help", () => {
  const docs = readFileSync(new URL("../../../docs/explorer.md", import.meta.url), "utf8");
  const [, table = ""] = docs.split("| keys | what they do |\n| --- | --- |\n");
  const rows = table.slice(0, table.indexOf("\n\n")).split("\n");
  const wanted = helpGroups().flatMap(({ lines }) =>
    lines.map(({ does, keys }) => `| ${keys.replace(/\S+/g, "`$&`")} | ${does} |`),
  );
  expect(rows).toEqual(wanted);
});
