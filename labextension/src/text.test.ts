import { expect, it } from "vitest";
import { clipStart, endsOf, sentenceText, visible, whyWords } from "./text";

it("shows control and direction characters instead of obeying them", () => {
  expect(visible("a\nb\u202ec")).toBe("a\\u000ab\\u202ec");
  expect(visible("\u061c\u00ad\u2063\u{e0041}")).toBe("\\u061c\\u00ad\\u2063\\u{e0041}");
  expect(visible("ü ж 日本 👍")).toBe("ü ж 日本 👍");
});

it("shows lone surrogates, which no encoding can represent", () => {
  expect(visible("\ud800 \udcff 👍 \ude00")).toBe("\\ud800 \\udcff 👍 \\ude00");
  expect(whyWords(new Error("\u001b[2J\udcff"))).toBe("\\u001b[2J\\udcff");
});

it("keeps the end of a long name", () => {
  expect(clipStart("(root).model.kernel", 10)).toBe("…el.kernel");
  expect(clipStart("kernel", 6)).toBe("kernel");
});

it("keeps both ends of a long name", () => {
  expect(endsOf("expanded_conv_project_BN", 10)).toBe("expan…t_BN");
  expect(endsOf("kernel", 6)).toBe("kernel");
});

it("cuts sentences as long as only an attack would write", () => {
  expect(sentenceText("x".repeat(10 ** 6))).toHaveLength(600);
});
