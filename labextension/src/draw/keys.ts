/** Keys of a part of the explorer, wherever the focus is in the explorer. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { rootOf } from "./parts";

/** What an event does now; undefined if it keeps its meaning. */
type Does<E extends Event> = (event: E, target: Element) => (() => void) | undefined;

interface Ways {
  /** Whether Play, for one, answers before; else nothing else hears of the key. */
  readonly isLast?: boolean;
  readonly onDoubleClick?: Does<MouseEvent>;
}

/** Answers keys before the explorer does, except those that a control needs for itself. */
export function useKeys(
  part: { readonly current: Element | null },
  onKey: Does<KeyboardEvent>,
  { isLast = false, onDoubleClick = () => undefined }: Ways = {},
): void {
  const current = useRef({ onKey, onDoubleClick });
  current.current = { onKey, onDoubleClick };
  useLayoutEffect(() => {
    const root = rootOf(part.current);
    const act = (event: MouseEvent | KeyboardEvent) => {
      const { target } = event;
      if (!(target instanceof Element) || root?.contains(target) !== true) {
        return;
      }
      const { onKey, onDoubleClick } = current.current;
      const does =
        event instanceof KeyboardEvent
          ? !isTaken(event.key, target) && onKey(event, target)
          : !isTaken("", target) && onDoubleClick(event, target);
      if (does) {
        event.preventDefault();
        event.stopImmediatePropagation();
        does();
      }
    };
    const listening = new AbortController();
    const options = { capture: !isLast, signal: listening.signal };
    const place = isLast ? (root ?? window) : window;
    place.addEventListener("keydown", act as EventListener, options);
    place.addEventListener("dblclick", act as EventListener, options);
    return () => listening.abort();
  }, []);
}

/** The place of the choice that a key means: 1 is the first. */
export function choiceOf({ altKey, ctrlKey, key, metaKey }: KeyboardEvent): number | undefined {
  return /^[1-9]$/.test(key) && !altKey && !ctrlKey && !metaKey ? Number(key) - 1 : undefined;
}

/** Whether a control needs the key for itself: a text box every key, a button the space bar. */
function isTaken(key: string, target: Element): boolean {
  const isOfText = target.matches("input:not([type=range]), textarea, select, dialog *");
  return isOfText || (key === " " && target.matches("button, summary"));
}
