/** Makes untrusted text and numbers readable. */

const MAX_LABEL = 26;
/** A sentence of a hostile payload may have any length, but a drawn sentence may not. */
const MAX_SENTENCE = 600;
/** Control and format characters, lone surrogates, ends of lines and of paragraphs. */
export const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** As in Python. */
const USUAL_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const numbers = new Intl.NumberFormat();

/** An untrusted name on one line: control characters are shown, not obeyed. */
export function visible(name: string): string {
  return name.replace(INVISIBLE, (c) => {
    const usual = USUAL_ESCAPES[c];
    if (usual !== undefined) {
      return usual;
    }
    const code = (c.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** Untrusted text of several lines. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

/** Untrusted sentences of any length on one line: there, the end of a line is a space. */
export function onOneLine(text: string): string {
  return visible(text.replace(/\s+/g, (gap) => (/[\r\n]/.test(gap) ? " " : gap)).trim());
}

/** The message of an error, which may contain untrusted text from a file. */
export function whyWords(error: unknown): string {
  return onOneLine(error instanceof Error ? error.message : String(error));
}

/** Untrusted sentences on one line, without the end of giant ones. */
export function sentenceText(text: string): string {
  return onOneLine(text.length <= MAX_SENTENCE ? text : `${text.slice(0, MAX_SENTENCE - 1)}…`);
}

/** What words of a name end with. */
const SEPARATORS = /[\s._/›:-]+$/u;
/** A word with the separators behind it; a class such as LayerNormalization has several. */
const WORD = /[^\s._/›:-]+?(?:[\s._/›:-]+|(?<=\p{Ll})(?=\p{Lu})|$)|[\s._/›:-]+/gu;
/** Longer names are those of an attack: their middle is not read. */
export const MAX_READ = 1000;

/**
 * A name, without the middle of a long one: names differ at either end. It keeps whole words, first
 * the last one; "" if no word fits.
 */
export function wholeWords(text: string, most: number): string {
  const words = endsOf(text).match(WORD) ?? [];
  let [head, tail] = ["", ""];
  for (let [from, to] = [0, words.length]; from < to; ) {
    const before = `${words[to - 1]}${tail}`;
    const room = most - 1 - [...head.replace(SEPARATORS, "")].length;
    if ([...before].length <= room) {
      [tail, to] = [before, to - 1];
    }
    const after = `${head}${words[from]}`;
    const isLonger = [...after.replace(SEPARATORS, "")].length <= most - 1 - [...tail].length;
    if (isLonger && from < to) {
      [head, from] = [after, from + 1];
    } else if (tail !== before) {
      break;
    }
  }
  // A run of names, "block0 … block5", has the sign already.
  return tail === "" ? "" : `${head.replace(SEPARATORS, "")}…${tail}`.replace(/…[\s…]*…/u, "…");
}

/** The ends of a long text, which are what is read of it. */
function endsOf(text: string): string {
  if (text.length <= MAX_READ) {
    return text;
  }
  const characters = [...text];
  return [...characters.slice(0, MAX_READ / 2), ...characters.slice(-MAX_READ / 2)].join("");
}

/** A name of at most some characters, cut in the middle: between words, or else in a giant one. */
export function shortened(text: string, most = MAX_LABEL): string {
  const characters = [...text];
  if (characters.length <= most) {
    return text;
  }
  const end = Math.floor((most - 1) / 2);
  return (
    wholeWords(text, most) ||
    `${characters.slice(0, most - 1 - end).join("")}…${end === 0 ? "" : characters.slice(-end).join("")}`
  );
}

export function formatCount(count: number): string {
  return numbers.format(count);
}

export function countWords(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
