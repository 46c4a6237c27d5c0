import { expect, it } from "vitest";
import { codeParts } from "./code-parts";

it("breaks code between its parts", () => {
  const code =
    "tf.train.Checkpoint(live.net, a=live.net.encoder, **{'layer-0': live.b}).restore(path)";
  expect(codeParts(code).flat()).toEqual([
    "tf.train.Checkpoint(",
    "live.net, ",
    "a=live.net.encoder, ",
    "**{'layer-0': ",
    "live.b})",
    ".restore(path)",
  ]);
});

it("breaks a long part at its dots, brackets and slashes", () => {
  expect(codeParts("tf.train.Checkpoint(aux=live.model.encoder).read(path)")).toEqual([
    ["tf", ".train", ".Checkpoint(", "aux=live", ".model", ".encoder)"],
    [".read(path)"],
  ]);
  expect(codeParts("reader.get_tensor('a/b/.ATTRIBUTES/VARIABLE_VALUE')")).toEqual([
    ["reader", ".get_tensor(", "'a/", "b/", ".ATTRIBUTES/", "VARIABLE_VALUE')"],
  ]);
});
