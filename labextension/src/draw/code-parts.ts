/** Where lines of code may break: between its parts, never within a name. */

/** After a space or comma, before a method of a result, after a bracket around several parts. */
const BETWEEN_PARTS = /[ ,](?=\S)|[)\]}](?=\.[A-Za-z_])|[([{](?=[^()[\]{},]*[([{,])/g;
/** Before a dot, and after a slash or a bracket. */
const WITHIN_PARTS = /[^\s.](?=\.[A-Za-z_])|[/([{](?=[^\s/)\]}])/g;
/** Characters of a part that a narrow pane shows on one line. */
const LONGEST = 30;

/** The parts of a line of code, in their order; a long one is in pieces. */
export function codeParts(line: string): readonly (readonly string[])[] {
  return split(line, BETWEEN_PARTS).map((part) =>
    part.length <= LONGEST ? [part] : split(part, WITHIN_PARTS),
  );
}

/** A text cut after each match, which is one character. */
function split(text: string, after: RegExp): readonly string[] {
  const ends = [...text.matchAll(after)].map(({ index }) => index + 1);
  return [...ends, text.length].map((end, place) => text.slice(ends[place - 1] ?? 0, end));
}
