import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { decodeHistory, readHistory } from "./data";
import { text } from "./histories.test-data";

const packed = (json: string) => new Uint8Array(gzipSync(json));

test.each(["training", "members"])("the packed JSON of %s is read", async (name) => {
  expect(await decodeHistory(packed(text(name)))).toEqual(JSON.parse(text(name)));
});

test.each([
  [{ rows: [{ place: 7, cells: [] }] }, "rows is missing or malformed"],
  [{ rows: [{ place: "a", cells: [] }] }, "rows is missing or malformed"],
  [{ checkpoints: [], rows: [] }, "checkpoints is missing or malformed"],
  [{ findings: null }, "findings is missing or malformed"],
  [{ version: 2 }, "expected version 1, found 2"],
  [{ version: undefined }, "found none"],
])("data that is no history, %j, causes an error", (change, words) => {
  expect(() => readHistory({ ...JSON.parse(text("training")), ...change })).toThrow(words);
});

test.each(["", "[]", "null", "{"])("%j is no history", async (json) => {
  await expect(decodeHistory(packed(json))).rejects.toThrow("This is no history of ckpt-viz");
});

test("bytes that are not packed are no history", async () => {
  await expect(decodeHistory(Uint8Array.of(1, 2, 3))).rejects.toThrow("no history of ckpt-viz");
});
