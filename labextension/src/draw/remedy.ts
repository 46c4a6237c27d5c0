/** The code in the sentence of a remedy, and TensorFlow's words about the problem. */

import type { Overlay, Problem } from "../overlay";

const CALL = /[A-Za-z_][\w.]*\(/g;
const CONTINUED = /^\.[A-Za-z_]\w*\(/;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * The longest call in a remedy, with the calls on its result; null without one. Names in it come
 * from files, so code with invisible characters does not count.
 */
export function codeIn(remedy: string): string | null {
  const calls = Array.from(remedy.matchAll(CALL), ({ index }) => callAt(remedy, index));
  const longest = calls.reduce((best, call) => (call.length > best.length ? call : best), "");
  return longest === "" || INVISIBLE.test(longest) ? null : longest;
}

function callAt(text: string, start: number): string {
  let end = start;
  let opening = text.indexOf("(", start);
  while (opening >= 0) {
    const close = closingOf(text, opening);
    if (close === null) {
      return "";
    }
    end = close + 1;
    const next = CONTINUED.exec(text.slice(end));
    opening = next === null ? -1 : end + next[0].length - 1;
  }
  return text.slice(start, end);
}

/** The parenthesis that closes the one at a place; those in quotes do not count. */
function closingOf(text: string, opening: number): number | null {
  let depth = 0;
  let quote = "";
  for (let index = opening; index < text.length; index++) {
    const character = text[index] ?? "";
    if (quote !== "") {
      if (character === "\\") {
        index++;
      } else if (character === quote) {
        quote = "";
      }
    } else if (character === "'" || character === '"') {
      quote = character;
    } else if (character === "(") {
      depth++;
    } else if (character === ")" && --depth === 0) {
      return index;
    }
  }
  return null;
}

/** What a restore raises; for other failures the assert that names the problem's node. */
export function messageOf({ verdicts }: Overlay, problem: Problem): string | undefined {
  const messages = verdicts.map(({ message }) => message).filter((message) => message !== "");
  if (problem.severity === "error") {
    return messages[0];
  }
  const names = [problem.saved, problem.live].filter((name) => name !== null);
  return problem.severity === "fail"
    ? messages.find((message) => names.some((name) => message.includes(name)))
    : undefined;
}
