import { expect, it } from "vitest";
import { clipStart, sentenceText, visible } from "./text";

it("shows control and direction characters instead of obeying them", () => {
  expect(visible("a\nb\u202ec")).toBe("a\\u000ab\\u202ec");
});

it("keeps the end of a long name", () => {
  expect(clipStart("(root).model.kernel", 10)).toBe("…el.kernel");
  expect(clipStart("kernel", 6)).toBe("kernel");
});

it("cuts sentences that only an attack would be", () => {
  expect(sentenceText("x".repeat(10 ** 6))).toHaveLength(600);
});
