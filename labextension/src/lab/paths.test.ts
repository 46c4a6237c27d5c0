import { expect, test } from "vitest";
import {
  FILE_TYPES,
  FOUND,
  mayBeCheckpoint,
  mayHideCheckpoint,
  patternOf,
  prefixOf,
} from "./paths";

test.each([
  ["ckpt-3.index", "index"],
  ["model.ckpt-1000.index", "index"],
  ["variables.index", "index"],
  ["my_weights.index", "index"],
  ["ckpt-3.data-00000-of-00001", "shard"],
  ["checkpoint", "state"],
  ["model.ckpt-5.meta", "meta"],
  ["saved_model.pb", "saved-model"],
  ["saved_model.pbtxt", "saved-model"],
  ["keras_metadata.pb", "saved-model-metadata"],
  ["_METADATA", "orbax"],
  ["_CHECKPOINT_METADATA", "orbax"],
] as const)("recognizes %s by its name", (name, kind) => {
  const matching = FILE_TYPES.filter(({ pattern }) => new RegExp(pattern).test(name));
  expect(matching.map(({ id }) => id)).toEqual([kind]);
  expect(mayBeCheckpoint(name)).toBe(true);
});

test.each([
  "faiss.index",
  "index",
  "notes.meta",
  "checkpoint.py",
  "saved_model.pb.txt",
  "a.data-1",
])("leaves %s to other programs", (name) => {
  const patterns = FILE_TYPES.map(({ pattern }) => new RegExp(pattern));
  expect(patterns.some((pattern) => pattern.test(name))).toBe(false);
});

test.each(["m.keras", "m.h5", "M.H5", "ckpt.01.weights.h5", "m.hdf5", "m.weights.json"])(
  "%s may be a file of Keras, and keeps its whole name",
  (name) => {
    expect(mayBeCheckpoint(name)).toBe(true);
    expect(prefixOf(name)).toBe(name);
  },
);

test("still offers the explorer for other files with the suffix", () => {
  expect(["faiss.index", "a.meta", "a.txt", "a.json"].map(mayBeCheckpoint)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test.each([
  ["run/ckpt-3.index", "run/ckpt-3"],
  ["run/ckpt-3.data-00000-of-00002", "run/ckpt-3"],
  ["run/model.ckpt-5.meta", "run/model.ckpt-5"],
  ["run/checkpoint", "run/checkpoint"],
  ["run.index/ckpt", "run.index/ckpt"],
])("%s belongs to %s", (path, prefix) => {
  expect(prefixOf(path)).toBe(prefix);
});

test("a pattern takes exactly the names, whatever characters they have", () => {
  const names = ["eff-1.index", "a.b", "c|d", "(x)[0]{1}^$", "back\\slash", "q?*+", "ünï\n"];
  const pattern = new RegExp(patternOf(names));
  expect(names.filter((name) => pattern.test(name))).toEqual(names);
  const others = ["eff-1xindex", "aXb", "c", "d", "a.b ", " a.b", "eff-1.index.txt", "q", ""];
  expect(others.filter((name) => pattern.test(name))).toEqual([]);
});

test("no names have no pattern", () => {
  expect(patternOf([])).toBe("");
});

test.each([
  [[], true],
  [["text"], true],
  [["other-index"], true],
  [[FOUND, "other-index"], true],
  [["tensorflow-checkpoint-index", "other-index"], false],
  [["python"], false],
  [["text", "csv"], false],
])("a file of the types %j may hide a checkpoint: %s", (types, expected) => {
  expect(mayHideCheckpoint(types)).toBe(expected);
});
