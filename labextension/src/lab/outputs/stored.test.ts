import { expect, test } from "vitest";
import { MIME_TYPE } from "./bundle";
import { type Output, Stored } from "./stored";

function output(digest: string, payload?: string, html = "see output [1]"): Output {
  let data: Output["data"] = {
    "text/html": html,
    [MIME_TYPE]: { version: 1, model_id: "m", digest, ...(payload && { payload }) },
  };
  return {
    get data() {
      return data;
    },
    setData(options) {
      data = options.data;
    },
  };
}

const payloadOf = ({ data }: Output) => (data[MIME_TYPE] as { payload?: string }).payload;

test("a payload is found in another output of the notebook", () => {
  const outputs = [output("other", "BBBB"), output("d1", "AAAA"), output("d1")];
  expect(new Stored().find("d1", outputs)).toBe("AAAA");
  expect(new Stored().find("d2", outputs)).toBe(null);
});

test("its own notebook goes before what another one holds", () => {
  const stored = new Stored();
  stored.look([output("d1", "theirs")]);
  expect(stored.find("d1", [output("d1", "ours")])).toBe("ours");
  expect(stored.find("d1", [output("d1")])).toBe("theirs");
});

test("where the holder is gone the first that names it holds payload and picture", () => {
  const stored = new Stored();
  const [holder, second, third] = [output("d1", "AAAA", "picture"), output("d1"), output("d1")];
  stored.heal([holder, second, third]);
  expect([second, third].map(payloadOf)).toEqual([undefined, undefined]);
  stored.heal([second, third]);
  expect([second, third].map(payloadOf)).toEqual(["AAAA", undefined]);
  expect(second.data["text/html"]).toBe("picture");
  expect(second.data[MIME_TYPE]).toMatchObject({ version: 1, model_id: "m", digest: "d1" });
});

test("a payload that the live widget showed is as good", () => {
  const stored = new Stored();
  const reference = output("d1");
  stored.add("d1", "AAAA");
  stored.heal([reference]);
  expect(payloadOf(reference)).toBe("AAAA");
  expect(reference.data["text/html"]).toBe("see output [1]");
});

test("what nobody has is left as it is, and so is what is not ours", () => {
  const others: Output = { data: { "text/plain": "1" }, setData: () => expect.unreachable() };
  const broken: Output = { data: { [MIME_TYPE]: 7 }, setData: () => expect.unreachable() };
  const reference = output("d1");
  new Stored().heal([others, broken, reference]);
  expect(payloadOf(reference)).toBeUndefined();
});
