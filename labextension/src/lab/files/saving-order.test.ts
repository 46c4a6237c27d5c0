import { expect, test } from "vitest";
import { inOrderOfSaving } from "./saving-order";

const DAY = "2026-11-27T08:30";

test.each([
  ["the time, not the name, decides", ["ckpt-2", `${DAY}:31.5Z`], ["ckpt-1", `${DAY}:31.6Z`]],
  ["a whole second has no fraction", ["ckpt-2", `${DAY}:31Z`], ["ckpt-1", `${DAY}:31.25Z`]],
  ["servers write UTC in two ways", ["ckpt-2", `${DAY}:31+00:00`], ["ckpt-1", `${DAY}:31.25Z`]],
  ["of one time, the numbers decide", ["ckpt-9", `${DAY}:31Z`], ["ckpt-10", `${DAY}:31Z`]],
  ["without a time, the numbers decide", ["ckpt-9", ""], ["ckpt-10", ""]],
])("%s", (_, ...saved) => {
  const [older, newer] = saved.map(([name = "", last_modified = ""]) => ({ name, last_modified }));
  if (older === undefined || newer === undefined) {
    throw new Error("expected two");
  }
  expect(inOrderOfSaving(older, newer)).toEqual([older, newer]);
  expect(inOrderOfSaving(newer, older)).toEqual([older, newer]);
});
