import { expect, it } from "vitest";
import { loadGraph } from "../tests/graphs.test-data";
import { messageOf } from "./message";

it("gives the words of the restore, or of the assert that names the node", async () => {
  const { overlay } = await loadGraph("check");
  const verdicts = ["restore() broke", "no (root).model.aux.kernel", ""].map((message) => ({
    ...{ name: "", passes: message === "", message },
  }));
  const said = (index: number) => messageOf({ ...overlay!, verdicts }, overlay!.problem(index));
  expect([0, 1, 2, 5].map(said)).toEqual([
    "restore() broke",
    "no (root).model.aux.kernel",
    undefined,
    undefined,
  ]);
});
