import { describe, expect, test } from "vitest";
import { decoded, readBundle } from "./bundle";

describe("a bundle", () => {
  test("has the model's id, the digest and the payload", () => {
    const data = { version: 2, model_id: "abc", digest: "d1", payload: "AAH/" };
    expect(readBundle(data)).toEqual({
      modelId: "abc",
      digest: "d1",
      payload: "AAH/",
      steps: null,
      step: null,
    });
    expect(decoded("AAH/")).toEqual(Uint8Array.of(0, 1, 255));
  });

  test("may have the steps of a restore", () => {
    expect(readBundle({ version: 2, digest: "d1", payload: "AA==", steps: "BB==" }).steps).toBe(
      "BB==",
    );
    expect(readBundle({ version: 2, digest: "d1", payload: "AA==", steps: 7 }).steps).toBe(null);
  });

  test("with a digest needs no payload", () => {
    expect(readBundle({ version: 2, digest: "d1" })).toEqual({
      modelId: "",
      digest: "d1",
      payload: null,
      steps: null,
      step: null,
    });
  });

  test("needs no model", () => {
    expect(readBundle({ version: 2, model_id: null, digest: "d1", payload: "AA==" }).modelId).toBe(
      "",
    );
    expect(readBundle({ version: 2, digest: "d1", payload: "AA==" }).modelId).toBe("");
  });

  test.each([
    [undefined, "not a JSON object"],
    ["text", "not a JSON object"],
    [[], "not a JSON object"],
    [{ payload: "AA==" }, "format version none"],
    [
      { version: 1, payload: "AA==" },
      "format version 1, but the installed ckpt-viz reads version 2; run the cell again",
    ],
    [{ version: "1", payload: "AA==" }, 'format version "1"'],
    [{ version: 99, payload: "AA==" }, "upgrade ckpt-viz in JupyterLab's environment"],
    [{ version: 2 }, "payload is missing"],
    [{ version: 2, digest: "d1", payload: "" }, "payload is missing"],
    [{ version: 2, digest: "d1", payload: 7 }, "payload is missing"],
    [{ version: 2, digest: "" }, "payload is missing"],
    [{ version: 2, payload: "AA==" }, "payload is missing"],
    [{ version: 2, digest: "d1", payload: null }, "payload is missing"],
  ])("with bad data, %j, causes an error of one sentence", (data, sentence) => {
    expect(() => readBundle(data)).toThrow(sentence);
  });

  test("with a payload that is not base64 causes an error when the page shows it", () => {
    expect(() => decoded("*")).toThrow("not base64");
  });
});
