import { describe, expect, test } from "vitest";
import { readBundle } from "./bundle";

describe("a bundle", () => {
  test("gives the model's id and the payload's bytes", () => {
    expect(readBundle({ version: 1, model_id: "abc", payload: "AAH/" })).toEqual({
      modelId: "abc",
      payload: Uint8Array.of(0, 1, 255),
    });
  });

  test("needs no model", () => {
    expect(readBundle({ version: 1, model_id: null, payload: "AA==" }).modelId).toBe("");
    expect(readBundle({ version: 1, payload: "AA==" }).modelId).toBe("");
  });

  test.each([
    [undefined, "not a JSON object"],
    ["text", "not a JSON object"],
    [[], "not a JSON object"],
    [{ payload: "AA==" }, "format version none"],
    [
      { version: 2, payload: "AA==" },
      "format version 2, but the installed ckpt-viz reads version 1",
    ],
    [{ version: "1", payload: "AA==" }, 'format version "1"'],
    [{ version: 1 }, "payload is missing"],
    [{ version: 1, payload: "" }, "payload is missing"],
    [{ version: 1, payload: 7 }, "payload is missing"],
    [{ version: 1, payload: "*" }, "not base64"],
  ])("that is bad, %j, is refused in one sentence", (data, sentence) => {
    expect(() => readBundle(data)).toThrow(sentence);
  });
});
