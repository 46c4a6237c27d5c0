/**
 * Cuts names that have no space on the page, each in its middle and between words. The whole name
 * stays in the document, where screen readers and searches find it; the style shows the short one.
 */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { MAX_READ, shortened, wholeWords } from "../basics/text";
import { useResized } from "./resizing";
import { textMeasure } from "./text-width";

/** Shows the attribute in place of the text (explorer.css). */
const SHORT = "data-short";

/** An element whose names are cut after each change of it, and of its size. */
export function useCutNames<E extends HTMLElement>(): RefObject<E | null> {
  const element = useRef<E>(null);
  useLayoutEffect(() => cutNames(element.current));
  useResized(() => element.current, cutNames);
  return element;
}

function cutNames(root: HTMLElement | null): void {
  const names = [...(root?.querySelectorAll<HTMLElement>(".ckv-cut") ?? [])];
  for (const name of names) {
    name.removeAttribute(SHORT);
  }
  // All are measured before any changes, so that the page is laid out once.
  const wide = names.filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth);
  const cut = wide.map((name) => shortIn(name, name.clientWidth));
  wide.forEach((name, place) => {
    const { fontSize, short } = cut[place] ?? UNCUT;
    name.style.setProperty("--ckv-cut", fontSize);
    name.setAttribute(SHORT, short);
  });
}

/** Characters of what may be absent, with the sign for the cut. */
const LEAST = 4;
const UNCUT = { fontSize: "", short: "" };

/**
 * As much of a name as fits. Where no word does, it is both ends of a word. What may be absent has
 * words of some letters, or nothing.
 */
function shortIn(element: HTMLElement, width: number): typeof UNCUT {
  const { fontFamily, fontSize, fontWeight } = getComputedStyle(element);
  const measure = textMeasure(fontFamily, Number(fontWeight));
  const size = Number.parseFloat(fontSize);
  const name = element.textContent ?? "";
  const isOptional = element.matches(".ckv-type, .ckv-segment-name");
  const cut = isOptional ? wholeWords : shortened;
  let short = name;
  for (let most = Math.min(name.length, MAX_READ); most > 1 && measure(short, size) > width; ) {
    short = cut(name, most);
    most = Math.min(most, [...short].length) - 1;
  }
  return { fontSize, short: isOptional && [...short].length < LEAST ? " " : short };
}
