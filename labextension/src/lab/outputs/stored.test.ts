import { expect, test } from "vitest";
import { MIME_TYPE } from "./bundle";
import { type Output, Stored } from "./stored";

function output(digest: string, payload?: string, html = "see output [1]"): Output {
  let data: Output["data"] = {
    "text/html": html,
    [MIME_TYPE]: { version: 2, model_id: "m", digest, ...(payload && { payload }) },
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

test("find() takes a payload from another output of the notebook", () => {
  const outputs = [output("other", "BBBB"), output("d1", "AAAA"), output("d1")];
  expect(new Stored().find("d1", outputs)).toBe("AAAA");
  expect(new Stored().find("d2", outputs)).toBe(null);
});

test("find() prefers the own notebook to another one", () => {
  const stored = new Stored();
  stored.look([output("d1", "theirs")]);
  expect(stored.find("d1", [output("d1", "ours")])).toBe("ours");
  expect(stored.find("d1", [output("d1")])).toBe("theirs");
});

test("heal() puts payload and picture into the first output that names a lost payload", () => {
  const stored = new Stored();
  const [holder, second, third] = [output("d1", "AAAA", "picture"), output("d1"), output("d1")];
  stored.heal([holder, second, third]);
  expect([second, third].map(payloadOf)).toEqual([undefined, undefined]);
  stored.heal([second, third]);
  expect([second, third].map(payloadOf)).toEqual(["AAAA", undefined]);
  expect(second.data["text/html"]).toBe("picture");
  expect(second.data[MIME_TYPE]).toMatchObject({ version: 2, model_id: "m", digest: "d1" });
});

test("heal() keeps the steps of a restore with their payload", () => {
  const stored = new Stored();
  const holder = output("d1", "AAAA", "picture");
  const steps = { ...(holder.data[MIME_TYPE] as object), steps: "BBBB" };
  holder.setData({ data: { ...holder.data, [MIME_TYPE]: steps } });
  const reference = output("d1");
  expect(stored.steps("d1", [reference])).toBe(null);
  expect(stored.steps("d1", [holder, reference])).toBe("BBBB");
  stored.heal([reference]);
  expect(reference.data[MIME_TYPE]).toMatchObject({ payload: "AAAA", steps: "BBBB" });
});

test("heal() also uses a payload that the live widget showed", () => {
  const stored = new Stored();
  const reference = output("d1");
  stored.add("d1", "AAAA");
  stored.heal([reference]);
  expect(payloadOf(reference)).toBe("AAAA");
  expect(reference.data["text/html"]).toBe("see output [1]");
});

test("heal() leaves lost payloads and other programs' outputs unchanged", () => {
  const others: Output = { data: { "text/plain": "1" }, setData: () => expect.unreachable() };
  const broken: Output = { data: { [MIME_TYPE]: 7 }, setData: () => expect.unreachable() };
  const reference = output("d1");
  new Stored().heal([others, broken, reference]);
  expect(payloadOf(reference)).toBeUndefined();
});
