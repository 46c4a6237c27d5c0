import { expect, it } from "vitest";
import { sentenceText, visible } from "./text";

it("shows control and direction characters instead of obeying them", () => {
  expect(visible("a\nb\u202ec")).toBe("a\\u000ab\\u202ec");
});

it("cuts sentences that only an attack would be", () => {
  expect(sentenceText("x".repeat(10 ** 6))).toHaveLength(600);
});
