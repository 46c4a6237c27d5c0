/** Reads a query from left to right; ckpt_viz/graphs/search/syntax.py does the same. */

/** The same in both languages. */
export const BLANKS = " \t\n\r\f\v\u00a0\u2028\u2029\ufeff";
export const BLANK_OR_END = `(?=[${BLANKS}]|$)`;
/** A word that a colon or a sign follows; it may be the name of a field. */
export const FIELD_NAME = `[A-Za-z]+(?=:|[${BLANKS}]*[<>=])`;
/** In quotes, in brackets (`[3, 4]`, but not `(root).a (or)`), or up to a blank. */
const VALUE = new RegExp(
  `"(?<quoted>(?:\\\\["\\\\]|\\\\(?!["\\\\])|[^"\\\\])*)(?<closing>"?)` +
    `|(?:\\[[^\\]]*\\]|\\([^)]*\\))${BLANK_OR_END}|[^${BLANKS}]*`,
  "y",
);

/** A text without the signs at its ends. A pattern would look at inner ones again and again. */
export function stripped(text: string, signs = BLANKS): string {
  let [start, end] = [0, text.length];
  while (start < end && signs.includes(text.charAt(start))) {
    start++;
  }
  while (start < end && signs.includes(text.charAt(end - 1))) {
    end--;
  }
  return text.slice(start, end);
}

/** A mistake in a query: its position in characters from the start, and what was expected. */
export class Mistake {
  constructor(
    readonly place: number,
    readonly expected: string,
  ) {}
}

/** A query, the position of the reader, and the start of the term that it reads. */
export class Reader {
  place = 0;
  start = 0;

  constructor(readonly text: string) {}

  /** Reads what a pattern matches. */
  take(pattern: RegExp | string): RegExpExecArray | null {
    const sticky = new RegExp(pattern, "y");
    sticky.lastIndex = this.place;
    const found = sticky.exec(this.text);
    this.place = found === null ? this.place : sticky.lastIndex;
    return found;
  }

  /** Skips blanks; returns whether anything follows. */
  hasMore(): boolean {
    this.take(`[${BLANKS}]*`);
    return this.place < this.text.length;
  }

  /** Reads one value, in lower case. */
  value(): string {
    const start = this.place;
    const { 0: written = "", groups: { quoted, closing } = {} } = this.take(VALUE) ?? {};
    if (closing === "") {
      this.fail(start, 'a closing "');
    }
    const value = quoted?.replaceAll(/\\(["\\])/g, "$1") ?? written;
    return value.toLowerCase() || this.fail(start, "something to look for");
  }

  /** Ends the reading at a mistake. */
  fail(place: number, expected: string): never {
    throw new Mistake([...this.text.slice(0, place)].length, expected);
  }
}
