import { expect, it } from "vitest";
import { randomFrom } from "../tests/graphs.test-data";
import { onOneLine, sentenceText, shortened, visible, wholeWords, whyWords } from "./text";

it("shows control and direction characters instead of obeying them", () => {
  expect(visible("a\n\r\tb\u202ec")).toBe("a\\n\\r\\tb\\u202ec");
  expect(visible("\u061c\u00ad\u2063\u{e0041}")).toBe("\\u061c\\u00ad\\u2063\\u{e0041}");
  expect(visible("ü ж 日本 👍")).toBe("ü ж 日本 👍");
});

it("shows lone surrogates, which no encoding can represent", () => {
  expect(visible("\ud800 \udcff 👍 \ude00")).toBe("\\ud800 \\udcff 👍 \\ude00");
  expect(whyWords(new Error("\u001b[2J\udcff"))).toBe("\\u001b[2J\\udcff");
});

it("cuts a name in its middle and between words, with its end first", () => {
  const cut: readonly (readonly [string, number, string])[] = [
    ["kernel", 6, "kernel"],
    ["(root).model.kernel", 14, "(root)…kernel"],
    ["(root).model.kernel", 10, "…kernel"],
    ["expanded_conv_project_BN", 16, "expanded_conv…BN"],
    ["conv5 › block1 › 2_conv", 14, "conv5…2_conv"],
    ["batch_normalization_12", 16, "batch…12"],
    ["LayerNormalization", 16, "…Normalization"],
    ["MultiHeadAttention", 16, "Multi…Attention"],
    ["block0 … block11", 12, "… block11"],
    ["conv2_block0 … conv2_block11", 18, "conv2…block11"],
  ];
  expect(cut.map(([name, most]) => shortened(name, most))).toEqual(cut.map(([, , to]) => to));
});

it("cuts a word only if no word fits, and a giant name in time", () => {
  expect(wholeWords("normalization", 6)).toBe("");
  expect(shortened("normalization", 6)).toBe("nor…on");
  expect(shortened("a👍".repeat(10), 4)).toBe("a👍…👍");
  expect([...shortened("x".repeat(10 ** 6), 26)]).toHaveLength(26);
  expect([...shortened("x_".repeat(10 ** 6), 26)].length).toBeLessThanOrEqual(26);
});

it("has names that fit, whatever the name", () => {
  const next = randomFrom(3);
  for (let i = 0; i < 500; i++) {
    const name = Array.from(
      { length: 40 * next() },
      () => "ab_./ A9👍"[Math.floor(9 * next())],
    ).join("");
    const most = 1 + Math.floor(30 * next());
    expect([...shortened(name, most)].length).toBeLessThanOrEqual(Math.max(most, 1));
  }
});

it("has messages on one line, and names with their ends of lines as in Python", () => {
  expect(onOneLine("Lines:\n  one\r\n\ttwo\u202e ")).toBe("Lines: one two\\u202e");
  expect(whyWords(new Error("a\nb"))).toBe("a b");
});

it("cuts sentences as long as only an attack would write", () => {
  expect(sentenceText("x".repeat(10 ** 6))).toHaveLength(600);
});
