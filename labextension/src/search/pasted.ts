/** Texts of TensorFlow, pasted where a query is expected; as in ckpt_viz/search/pasted.py. */

import { BLANKS } from "./syntax";

const MAX_NAMES = 100;
const BEFORE = `(?:^|[${BLANKS}]|['"\`\\[({<])`;
const SENTENCES: readonly RegExp[] = [
  /\bKey ([^\n]{1,1000}?) not found in checkpoint/g,
  /\bTensor name "([^"]{1,1000})" not found/g,
  /\bvariable with shape \([0-9, ]{0,200}\) and name ([^ ]{1,1000})/g,
  /\btensor_name = ([^ ;]{1,1000}); expected dtype/g,
  /\bVariable '([^']{1,1000})'/g,
  /\bVariable path=([^ ,>]{1,1000})/g,
];
/** A name or a key that stands alone, not behind a field: `(root).model`, not `under:(root)`. */
const SIGNS: readonly RegExp[] = [
  new RegExp(`${BEFORE}\\(root\\)`),
  new RegExp(`${BEFORE}[^:${BLANKS}]*/\\.ATTRIBUTES/`),
];
const SHAPE = /\bshape[ =]\(([0-9, ]{0,200})\)/g;
const ENDS = new RegExp(`$|[${BLANKS}:,;'"\`\\])}>]|\\.(?:$|[${BLANKS}])`, "y");
const AROUND = /^['"`,;()[\]{}<>]+|['"`,;()[\]{}<>]+$/g;

/** Whether a text is TensorFlow's, not a query. */
export function isPasted(text: string): boolean {
  return [...SIGNS, ...SENTENCES].some((sign) => text.search(sign) >= 0);
}

/** What may name a node in a text: where `(root)` stands, words, full names, shapes. */
export interface Named {
  readonly roots: readonly number[];
  readonly words: ReadonlySet<string>;
  readonly fullNames: ReadonlySet<string>;
  readonly shapes: ReadonlySet<string>;
}

export function named(text: string): Named {
  const sentences = SENTENCES.flatMap((sentence) =>
    Array.from(text.matchAll(sentence), ([, name = ""]) => name),
  );
  return {
    roots: Array.from(text.matchAll(/\(root\)/g), ({ index }) => index).slice(0, MAX_NAMES),
    words: new Set(
      text.split(new RegExp(`[${BLANKS}]+`)).map((word) => word.replaceAll(AROUND, "")),
    ),
    fullNames: new Set(sentences.map((name) => withoutOutput(name.replace(/\.$/, "")))),
    shapes: new Set(
      Array.from(text.matchAll(SHAPE), ([, sizes = ""]) =>
        sizes
          .split(",")
          .filter((size) => size.trim() !== "")
          .map(Number)
          .join(),
      ),
    ),
  };
}

/** Whether a name can end at a place: `(root).a` is none in `(root).a.b`. */
export function endsAt(text: string, place: number): boolean {
  ENDS.lastIndex = place;
  return ENDS.test(text);
}

/** The name of a variable without the output of its tensor: `dense/kernel:0`. */
export function withoutOutput(name: string): string {
  return name.replace(/:[0-9]+$/, "");
}
