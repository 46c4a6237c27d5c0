/** A list of which only the part in sight has elements. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useIsPainted } from "./painted";

/** Entries out of sight that exist already, in case the user scrolls. */
const OVERSCAN = 8;

interface Scrolled {
  /** The entries; new ones bring the selected entry into sight again. */
  readonly entries: readonly unknown[];
  /** The height of an entry. */
  readonly pitch: number;
  /** The entry to bring into sight when it changes; null without one. */
  readonly selected: number | null;
  /** The assumed height of the list until the real one is known. */
  readonly usualHeight: number;
  /** The first scroll position. */
  readonly start?: number;
}

/** The entries to draw: the first, and the one after the last; and what scrolls the list. */
export function useEntriesInSight({ entries, pitch, selected, usualHeight, start = 0 }: Scrolled) {
  const body = useRef<HTMLDivElement>(null);
  const overscan = useIsPainted() ? OVERSCAN : 0;
  const scroll = useRef({ top: start, height: usualHeight });
  const inSight = () => ({
    first: Math.floor(scroll.current.top / pitch),
    last: Math.ceil((scroll.current.top + scroll.current.height) / pitch),
  });
  const [seen, setSeen] = useState(inSight);
  const measure = () => {
    if (body.current !== null) {
      scroll.current = { top: body.current.scrollTop, height: body.current.clientHeight };
      const { first, last } = inSight();
      setSeen((known) => (known.first <= first && last <= known.last ? known : { first, last }));
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
    const [above, below] = [entry * pitch, (entry + 1) * pitch];
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
  useLayoutEffect(() => {
    const element = body.current;
    if (element === null) {
      return;
    }
    // Selecting a node may open its details, which then take space from the list.
    const observer = new ResizeObserver(() => {
      measure();
      keepInSight.current();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => keepInSight.current(), [selected, entries]);
  const { length } = entries;
  return {
    ...{ body, measure, scrollTo, bringInSight },
    first: Math.max(0, Math.min(seen.first - overscan, length)),
    last: Math.min(seen.last + overscan, length),
  };
}
