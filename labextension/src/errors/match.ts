/** Which known errors a pasted text contains: names, numbers and shapes may be any. */

export interface KnownError {
  readonly id: string;
  /** What TensorFlow or Keras writes, with `{}` for what differs from case to case. */
  readonly texts: readonly string[];
  /** Whether the texts begin an error that quotes the one that caused it. */
  readonly wraps?: boolean;
}

const WILDCARD = "{}";
const FARTHEST = 4000; // characters that a wildcard may cover
const LONGEST = 200_000; // characters of a text; the error is at its end

/**
 * The ids of the errors in a text. The error of which the text has most comes first, and an error
 * that quotes its cause comes after the cause.
 *
 * Terminals, notebooks and mails break lines anywhere, so white space does not count.
 */
export function errorsIn(text: string, known: readonly KnownError[]): readonly string[] {
  const pasted = squeezed(text.slice(-LONGEST));
  return known
    .map(({ id, texts, wraps = false }) => {
      return { id, wraps, length: Math.max(...texts.map((text) => lengthIn(pasted, text))) };
    })
    .filter(({ length }) => length > 0)
    .sort((a, b) => Number(a.wraps) - Number(b.wraps) || b.length - a.length)
    .map(({ id }) => id);
}

/** How many characters of a template a text has in its order; 0 if one of its pieces is missing. */
function lengthIn(pasted: string, template: string): number {
  const [first = "", ...rest] = template.split(WILDCARD).map(squeezed).filter(Boolean);
  if (first === "") {
    return 0;
  }
  for (let at = pasted.indexOf(first); at >= 0; at = pasted.indexOf(first, at + 1)) {
    if (follow(pasted, at + first.length, rest)) {
      return [first, ...rest].join("").length;
    }
  }
  return 0;
}

function follow(pasted: string, from: number, pieces: readonly string[]): boolean {
  let end = from;
  for (const piece of pieces) {
    const at = pasted.slice(end, end + FARTHEST + piece.length).indexOf(piece);
    if (at < 0) {
      return false;
    }
    end += at + piece.length;
  }
  return true;
}

// The codes of colours in a terminal, and what pytest and mails put before each line.
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
const PREFIXES = /^(?:E {3}|(?:> ?)+|[│|] )/gm;

function squeezed(text: string): string {
  return text.replace(COLOURS, "").replace(PREFIXES, "").replace(/\s+/g, "");
}
