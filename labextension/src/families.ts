/** The sign of a layer's family, by its class. TypeScript and Python share the table families.json. */

import { classes, signs } from "../../ckpt_viz/render/families.json";

type Family = keyof typeof signs;

const CLASSES = classes.map(([pattern = "", family]) => ({
  pattern: new RegExp(pattern),
  family: family as Family,
}));

/** The path of the sign, in a square of 12; null for a class of no known family. */
export function familySign(typeName: string): string | null {
  const found = CLASSES.find(({ pattern }) => pattern.test(typeName));
  return found === undefined ? null : signs[found.family];
}
