import { describe, expect, it } from "vitest";
import table from "../../../docs/errors.json";
import { errorsIn } from "./match";

const known = table.errors;
const SHAPE =
  "ValueError: Received incompatible tensor with shape (3, 2) when attempting to restore variable " +
  "with shape (3, 5) and name dense/kernel:0.";

describe("errorsIn", () => {
  it("takes any names, numbers and shapes", () => {
    expect(errorsIn(SHAPE, known)).toEqual(["shape"]);
  });

  it("finds the error in a whole traceback", () => {
    const traceback = `Traceback (most recent call last):\n  File "a.py", line 3, in f\n${SHAPE}\n`;
    expect(errorsIn(traceback, known)).toEqual(["shape"]);
  });

  it.each([
    ["lines of 40 characters", SHAPE.replace(/(.{40})/g, "$1\n")],
    ["pytest's prefix", SHAPE.replace(/(.{60} )/g, "$1\n").replace(/^/gm, "E   ")],
    ["a mail's prefix", SHAPE.replace(/(.{60} )/g, "$1\n").replace(/^/gm, "> ")],
    ["a terminal's colours", SHAPE.replaceAll("shape", "\u001b[31mshape\u001b[0m")],
  ])("reads %s", (_, text) => {
    expect(errorsIn(text, known)).toEqual(["shape"]);
  });

  it("puts the cause before the error that quotes it", () => {
    const text =
      "Restoring from checkpoint failed. This is most likely due to a mismatch between the current " +
      "graph and the graph from the checkpoint. Please ensure that you have not altered the graph " +
      "expected based on the checkpoint. Original error:\n\ntensor_name = v; expected dtype float " +
      "does not equal original dtype double";
    expect(errorsIn(text, known)).toEqual(["dtype", "saver-mismatch"]);
  });

  it("finds nothing where nothing is known", () => {
    expect(errorsIn("", known)).toEqual([]);
    expect(errorsIn("ZeroDivisionError: division by zero", known)).toEqual([]);
    expect(errorsIn("Received incompatible tensor", known)).toEqual([]);
  });

  it("does not join pieces that are far from each other", () => {
    const [first, second] = ["Key v", "not found in checkpoint"];
    expect(errorsIn(`${first} ${second}`, known)).toEqual(["key-missing"]);
    expect(errorsIn(`${first} ${"x".repeat(5000)} ${second}`, known)).toEqual([]);
  });
});

describe("the table", () => {
  it("has no text that finds another error first", () => {
    const wrong = known.flatMap(({ id, texts }) =>
      texts
        .map((text) => ({ id, text, first: errorsIn(text.replaceAll("{}", "net.w"), known)[0] }))
        .filter(({ first }) => first !== id),
    );
    expect(wrong).toEqual([]);
  });
});
