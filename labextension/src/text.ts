/** Makes untrusted text and numbers readable. */

const MAX_LABEL = 26;
const MAX_NAME = 60;
/** A sentence of a hostile payload may have any length, but a drawn sentence may not. */
const MAX_SENTENCE = 600;
/** Control and format characters, lone surrogates, ends of lines and of paragraphs. */
export const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const numbers = new Intl.NumberFormat();

/** An untrusted name on one line: control characters are shown, not obeyed. */
export function visible(name: string): string {
  return name.replace(INVISIBLE, (c) => {
    const code = (c.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** Untrusted text of several lines. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

/** The message of an error, which may contain untrusted text from a file. */
export function whyWords(error: unknown): string {
  return visible(error instanceof Error ? error.message : String(error));
}

/** Untrusted sentences on one line, without the end of giant ones. */
export function sentenceText(text: string): string {
  return visible(text.length <= MAX_SENTENCE ? text : `${text.slice(0, MAX_SENTENCE - 1)}…`);
}

export function clip(text: string, length = MAX_LABEL): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}

/** The end of a long name, since the end tells more than the start. */
export function clipStart(text: string, length = MAX_NAME): string {
  const characters = [...text];
  return characters.length <= length ? text : `…${characters.slice(1 - length).join("")}`;
}

/** Both ends of a long name, for names that may differ at either. */
export function endsOf(text: string, length: number): string {
  const characters = [...text];
  const end = Math.floor((length - 1) / 2);
  return characters.length <= length
    ? text
    : `${characters.slice(0, length - 1 - end).join("")}…${characters.slice(-end).join("")}`;
}

export function formatCount(count: number): string {
  return numbers.format(count);
}

export function countWords(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
