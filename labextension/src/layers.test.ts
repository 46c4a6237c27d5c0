/** Imports point down only: the order of the modules is the architecture. */

import { expect, it } from "vitest";
import { MODULES } from "./sources.test-data";

/** The layers, lowest first. A folder means all modules in it. */
const LAYERS: readonly (readonly string[])[] = [
  ["gunzip"],
  [
    "asserts",
    "cells",
    "contract",
    "columns",
    "defaults",
    "families",
    "ground",
    "jsx",
    "messages",
    "once",
    "scale",
    "strings",
    "text",
  ],
  ["changes", "copies", "measures", "numbers", "play", "predict", "shared"],
  ["histogram"],
  ["kernel"],
  ["overlay"],
  ["signs", "table"],
  ["graph"],
  ["layers", "naming"],
  ["layout", "search"],
  ["words"],
  ["textbook"],
  ["state"],
  ["deeds"],
  ["commands"],
  ["help"],
  ["draw"],
  ["extras"],
  ["view", "style", "history", "traits"],
  ["widget", "loader", "lab", "page", "print-style", "site", "errors"],
];

const HERE = new URL("./", import.meta.url);
const height = (room: string): number => LAYERS.findIndex((layer) => layer.includes(room));
const roomOf = (file: string): string => file.split(/[/.]/)[0] ?? "";

const modules = MODULES.map(({ name: file, code }) => {
  const url = new URL(file, HERE);
  const imported = [...code.matchAll(/from "([^"]*)"/g)].map(([, name = ""]) => name);
  const rooms = imported
    .filter((name) => name.startsWith("."))
    .map((name) => new URL(name, url).href)
    .filter((href) => href.startsWith(HERE.href)) // shared tables are data
    .map((href) => roomOf(href.slice(HERE.href.length)));
  return { file, room: roomOf(file), imported, rooms };
});

it("knows every module", () => {
  expect(modules.filter(({ room }) => height(room) < 0).map(({ file }) => file)).toEqual([]);
});

it("sees no import that points up or sideways", () => {
  const upward = modules.flatMap(({ file, room, rooms }) =>
    rooms
      .filter((other) => other !== room && height(other) >= height(room))
      .map((other) => `${file} imports ${other}`),
  );
  expect(upward).toEqual([]);
});

it("lets only lab/ import JupyterLab", () => {
  const knowing = modules.filter(({ imported }) =>
    imported.some((name) => /^@(jupyterlab|lumino)/.test(name)),
  );
  expect(new Set(knowing.map(({ room }) => room))).toEqual(new Set(["lab"]));
});

it("keeps files and kernels out of the tabs in lab/", () => {
  const inner = (url: string) => url.match(/\/lab\/(outputs|tabs|files|live)\//)?.[1];
  const sideways = modules.flatMap(({ file, imported }) => {
    const own = inner(`/${file}`);
    return imported
      .filter((name) => name.startsWith("."))
      .map((name) => inner(new URL(name, new URL(file, HERE)).href))
      .filter((other) => own !== undefined && other !== undefined && other !== own)
      .filter((other) => other !== "tabs")
      .map((other) => `${file} imports ${other}`);
  });
  expect(sideways).toEqual([]);
});
