/** The sign of a layer's family, by its class. TypeScript and Python share the table families.json. */

import { classes, signs } from "../../../ckpt_viz/graphs/render/families.json";

type Family = keyof typeof signs;

const CLASSES = classes.map(([pattern = "", family]) => ({
  pattern: new RegExp(pattern),
  family: family as Family,
}));

/** The sign of a layer of no known family, or of no known class: a ring. */
const ANY_LAYER = "M6 3.5a2.5 2.5 0 1 0 0.01 0z";

/** The path of the sign, in a square of 12. */
export function familySign(typeName: string): string {
  const found = CLASSES.find(({ pattern }) => pattern.test(typeName));
  return found === undefined ? ANY_LAYER : signs[found.family];
}
