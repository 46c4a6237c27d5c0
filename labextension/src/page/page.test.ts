import { expect, it } from "vitest";
import { readAddress, writeAddress } from "./address";
import { placed, type Side } from "./desk";
import { EXAMPLES } from "./examples";
import { chosenFiles, droppedFiles, MOST_FILES, TooManyFiles, together } from "./files";
import { unpackedSnappy, unpackedZstandard } from "./unpacking";

const file = (path: string) => ({ path, file: new File([], path) });
const side = (path: string): Side => ({ files: [file(path)], series: [], path });
const [a, b, c] = ["a", "b", "c"].map(side) as [Side, Side, Side];

it("puts what is dropped beside an open checkpoint after it", () => {
  expect(placed([], a, "anywhere")).toEqual([a]);
  expect(placed([a], b, "anywhere")).toEqual([a, b]);
  expect(placed([a, b], c, "anywhere")).toEqual([a, c]);
  expect(placed([a], b, "before")).toEqual([b, a]);
  expect(placed([a, b], c, "before")).toEqual([c, b]);
  expect(placed([a, b], c, "one")).toEqual([c]);
});

it("keeps the paths of two sides apart if they are the same", () => {
  const [files, ...sides] = together([file("x/ckpt.index")], [file("x/ckpt.index")]);
  expect(files.map(({ path }) => path)).toEqual(["before/x/ckpt.index", "after/x/ckpt.index"]);
  expect(sides).toEqual(["before/", "after/"]);
  const [others, ...none] = together([file("x/ckpt.index")], [file("y/ckpt.index")]);
  expect(others.map(({ path }) => path)).toEqual(["x/ckpt.index", "y/ckpt.index"]);
  expect(none).toEqual(["", ""]);
});

it("reads all of a folder that a browser gives in pieces", async () => {
  const entry = (name: string) => ({
    isDirectory: false,
    isFile: true,
    fullPath: `/run/${name}`,
    file: (take: (file: File) => void) => take(new File([], name)),
  });
  const pieces = [[entry("a"), entry("b")], [entry("c")], []];
  const folder = {
    isDirectory: true,
    createReader: () => ({ readEntries: (take: (piece: unknown) => void) => take(pieces.shift()) }),
  };
  const items = { items: [{ webkitGetAsEntry: () => folder }], files: [] };
  const files = await droppedFiles(items as unknown as DataTransfer);
  expect(files.map(({ path }) => path)).toEqual(["run/a", "run/b", "run/c"]);
});

it("refuses a folder of too many files", () => {
  const one = new File([], "x");
  expect(chosenFiles(Array(MOST_FILES).fill(one))).toHaveLength(MOST_FILES);
  expect(() => chosenFiles(Array(MOST_FILES + 1).fill(one))).toThrow(TooManyFiles);
});

it.each([
  { example: "renamed", select: "(root).conv2", step: 7 },
  { example: null, select: "(root).ä b&c=d#e", step: null },
  { example: null, select: null, step: null },
])("reads the address that it writes: %o", (address) => {
  expect(readAddress(writeAddress(address))).toEqual(address);
});

it.each(["#step=-1", "#step=1e400", "#step=x", "#=&=", "#%"])("takes nothing from %s", (hash) => {
  expect(readAddress(hash)).toEqual({ example: null, select: null, step: null });
});

it("has an example for each of the keys 1 to 8", () => {
  expect(new Set(EXAMPLES.map(({ id }) => id)).size).toBe(8);
});

it("unpacks Zstandard and Snappy into as many bytes as there may be", () => {
  const zstandard = Uint8Array.from([
    0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x05, 0x29, 0x00, 0x00, 0x68, 0x65, 0x6c, 0x6c, 0x6f,
  ]);
  const snappy = Uint8Array.from([5, 0x10, 0x68, 0x65, 0x6c, 0x6c, 0x6f]);
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  expect(text(unpackedZstandard(zstandard, 9))).toBe("hello");
  expect(text(unpackedSnappy(snappy, 9))).toBe("hello");
  expect(() => unpackedZstandard(zstandard, 4)).toThrow(RangeError);
  expect(() => unpackedSnappy(snappy, 4)).toThrow("too big");
  expect(() => unpackedZstandard(zstandard.subarray(0, 11), 9)).toThrow("unexpected EOF");
});
