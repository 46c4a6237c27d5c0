/** A list of which only the part in sight has elements. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useIsPainted } from "./painted";

/** Entries out of sight that exist already, in case the user scrolls. */
const OVERSCAN = 8;
/** The assumed height of the list until the real one is known. */
const USUAL_HEIGHT = 600;

interface Scrolled {
  readonly count: number;
  /** The height of an entry. */
  readonly pitch: number;
  /** The entry to bring into sight when it changes; null without one. */
  readonly selected: number | null;
}

/** The entries to draw: the first, and the one after the last. */
export function useEntriesInSight({ count, pitch, selected }: Scrolled) {
  const body = useRef<HTMLDivElement>(null);
  const overscan = useIsPainted() ? OVERSCAN : 0;
  const scroll = useRef({ top: 0, height: USUAL_HEIGHT });
  const inSight = () => ({
    first: Math.floor(scroll.current.top / pitch),
    last: Math.ceil((scroll.current.top + scroll.current.height) / pitch),
  });
  const [seen, setSeen] = useState(inSight);
  const measure = () => {
    if (body.current !== null) {
      scroll.current = { top: body.current.scrollTop, height: body.current.clientHeight };
      const { first, last } = inSight();
      setSeen((known) => (known.first === first && known.last === last ? known : { first, last }));
    }
  };
  const keepInSight = useRef(() => {});
  keepInSight.current = () => {
    const { top, height } = scroll.current;
    if (body.current === null || selected === null) {
      return;
    }
    const [start, end] = [selected * pitch, (selected + 1) * pitch];
    if (start < top || end > top + height) {
      body.current.scrollTop = start < top ? start : end - height;
    }
  };
  useLayoutEffect(() => {
    const element = body.current;
    if (element === null) {
      return;
    }
    const observer = new ResizeObserver(() => {
      measure();
      keepInSight.current();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => keepInSight.current(), [selected, count]);
  return {
    body,
    measure,
    first: Math.max(0, Math.min(seen.first - overscan, count)),
    last: Math.min(seen.last + overscan, count),
  };
}
