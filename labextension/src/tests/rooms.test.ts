/** Imports point down only, those of types too: the order of the rooms is the architecture. */

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { MODULES } from "./sources.test-data";

/** The rooms, lowest first. README.md says what is in each. */
const ROOMS: readonly (readonly string[])[] = [
  ["basics"],
  ["host"],
  ["data"],
  ["kernel"],
  ["layout", "search"],
  ["words"],
  ["textbook"],
  ["state"],
  ["draw"],
  ["view"],
  ["history"],
  ["widget", "lab", "page", "site", "errors"],
];

const HERE = new URL("../", import.meta.url);
const SUFFIXES = [".ts", ".tsx", "/index.ts"];
const NAMES = new Set(MODULES.map(({ name }) => name));
const height = (room: string): number => ROOMS.findIndex((level) => level.includes(room));
const roomOf = (file: string): string => file.split("/")[0] ?? "";

const modules = MODULES.map(({ name: file, code }) => {
  const named = code.matchAll(/(?:\bfrom |\bimport |\bimport\()"([^"]*)"/g);
  const imported = Array.from(named, ([, name = ""]) => name);
  const own = imported
    .filter((name) => name.startsWith("."))
    .map((name) => new URL(name, new URL(file, HERE)).href)
    .filter((href) => href.startsWith(HERE.href)) // shared tables are data
    .flatMap((href) => SUFFIXES.map((suffix) => href.slice(HERE.href.length) + suffix))
    .filter((name) => NAMES.has(name));
  return { file, room: roomOf(file), imported, own };
});

it("knows every room", () => {
  const unknown = modules.filter(({ room }) => height(room) < 0).map(({ file }) => file);
  expect(unknown).toEqual([]);
  const readme = readFileSync(new URL("README.md", HERE), "utf8");
  const told = Array.from(readme.matchAll(/^\| `(\w+)\/` \|/gm), ([, room]) => room);
  expect(told).toEqual(ROOMS.flat());
});

it("sees no import that points up or sideways", () => {
  const upward = modules.flatMap(({ file, room, own }) =>
    own
      .filter((other) => roomOf(other) !== room && height(roomOf(other)) >= height(room))
      .map((other) => `${file} imports ${other}`),
  );
  expect(upward).toEqual([]);
});

it("sees no modules that import each other", () => {
  const left = new Map(modules.map(({ file, own }) => [file, own]));
  const isFree = ([, own]: readonly [string, readonly string[]]) =>
    own.every((other) => !left.has(other));
  for (let free = [...left].filter(isFree); free.length > 0; free = [...left].filter(isFree)) {
    for (const [file] of free) {
      left.delete(file);
    }
  }
  expect([...left.keys()]).toEqual([]);
});

it("lets only lab/ import JupyterLab", () => {
  const knowing = modules.filter(({ imported }) =>
    imported.some((name) => /^@(jupyterlab|lumino)/.test(name)),
  );
  expect(new Set(knowing.map(({ room }) => room))).toEqual(new Set(["lab"]));
});

it("keeps files and kernels out of the tabs in lab/", () => {
  const inner = (file: string) => file.match(/^lab\/(outputs|tabs|files|live)\//)?.[1];
  const sideways = modules.flatMap(({ file, own }) =>
    own
      .filter((other) => inner(file) !== undefined && inner(other) !== undefined)
      .filter((other) => inner(other) !== inner(file) && inner(other) !== "tabs")
      .map((other) => `${file} imports ${other}`),
  );
  expect(sideways).toEqual([]);
});
