/** A list of which only the part in sight has elements. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { starts } from "../basics/columns";
import { useResized } from "./resizing";

/** Entries out of sight that exist already, in case the user scrolls. */
const OVERSCAN = 8;

/** Where the entries of a list begin, and which one is at a place. */
export interface Heights {
  top(entry: number): number;
  at(y: number): number;
}

/** Entries of one height. */
export function evenly(pitch: number): Heights {
  return { top: (entry) => entry * pitch, at: (y) => Math.floor(y / pitch) };
}

/** Entries of these heights, however many there are. */
export function unevenly(heights: ArrayLike<number>): Heights {
  const tops = starts(heights);
  const at = (y: number) => {
    let [low, high] = [0, heights.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      [low, high] = (tops[middle] ?? 0) <= y ? [middle, high] : [low, middle];
    }
    return low;
  };
  return { top: (entry) => tops[Math.min(entry, heights.length)] ?? 0, at };
}

interface Scrolled {
  /** The entries; new ones bring the selected entry into sight again. */
  readonly entries: readonly unknown[];
  readonly heights: Heights;
  /** The entry to bring into sight when it changes; null without one. */
  readonly selected: number | null;
  /** The assumed height of the list until the real one is known. */
  readonly usualHeight: number;
  /** The first scroll position. */
  readonly start?: number;
}

/** The entries to draw: the first, and the one after the last; and what scrolls the list. */
export function useEntriesInSight(scrolled: Scrolled) {
  const { entries, heights, selected, usualHeight, start = 0 } = scrolled;
  const body = useRef<HTMLDivElement>(null);
  const scroll = useRef({ top: start, height: usualHeight });
  const inSight = () => ({
    first: heights.at(scroll.current.top),
    last: heights.at(scroll.current.top + scroll.current.height) + 1,
  });
  const [seen, setSeen] = useState(inSight);
  const look = () => {
    const { first, last } = inSight();
    setSeen((known) => (known.first <= first && last <= known.last ? known : { first, last }));
  };
  const measure = () => {
    if (body.current !== null) {
      scroll.current = { top: body.current.scrollTop, height: body.current.clientHeight };
      look();
    }
  };
  const scrollTo = (top: number) => {
    if (body.current !== null) {
      body.current.scrollTop = top;
    }
  };
  // Uses the known scroll position: reading it from the scroller would force another layout.
  const bringInSight = (entry: number) => {
    const { top, height } = scroll.current;
    const [above, below] = [heights.top(entry), heights.top(entry + 1)];
    if (above < top || below > top + height) {
      scrollTo(above < top ? above : below - height);
    }
  };
  const keepInSight = useRef(() => {});
  keepInSight.current = () => {
    if (selected !== null) {
      bringInSight(selected);
    }
  };
  // Selecting a node may open its details, which then take space from the list.
  const fit = () => {
    measure();
    keepInSight.current();
  };
  useResized(() => body.current, fit);
  useLayoutEffect(look, [heights]);
  useLayoutEffect(() => keepInSight.current(), [selected, entries, heights]);
  const { length } = entries;
  return {
    ...{ body, measure, scrollTo, bringInSight },
    first: Math.max(0, Math.min(seen.first - OVERSCAN, length)),
    last: Math.min(seen.last + OVERSCAN, length),
  };
}
