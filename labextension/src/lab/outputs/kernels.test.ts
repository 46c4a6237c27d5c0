import { expect, test } from "vitest";
import { knowsModel, type Session } from "./kernels";

const NO_KERNEL: Session = { session: null };

function session(id: string, comms: readonly string[], status: "idle" | "dead" = "idle"): Session {
  return { session: { kernel: { id, status, hasComm: (commId) => comms.includes(commId) } } };
}

test("a kernel knows the widgets whose comms it holds", () => {
  const own = session("k", ["a"]);
  expect(knowsModel(own, "a", [NO_KERNEL, own])).toBe(true);
  expect(knowsModel(own, "b", [own])).toBe(false);
});

test("a kernel does not know another kernel's widgets", () => {
  const own = session("k", []);
  expect(knowsModel(own, "a", [own, session("other", ["a"])])).toBe(false);
  expect(knowsModel(NO_KERNEL, "a", [NO_KERNEL, session("other", ["a"])])).toBe(false);
});

test("a second connection to a kernel finds the comms of the first", () => {
  const second = session("k", []);
  expect(knowsModel(second, "a", [second, session("k", ["a"])])).toBe(true);
});

test("a dead kernel knows nothing", () => {
  const own = session("k", ["a"], "dead");
  expect(knowsModel(own, "a", [own])).toBe(false);
});
