/** The keys of Play, wherever the focus is in the explorer. */

import { useLayoutEffect, useRef } from "preact/hooks";

/** What a key does now; undefined if it keeps its meaning. */
type DoesKey = (event: KeyboardEvent) => (() => void) | undefined;

/** Answers keys before the explorer does. */
export function useKeys(section: { readonly current: HTMLElement | null }, does: DoesKey): void {
  const current = useRef(does);
  current.current = does;
  useLayoutEffect(() => {
    const root = section.current?.closest<HTMLElement>(".ckpt-viz");
    const act = (event: KeyboardEvent) => {
      const deed = isTaken(event) ? undefined : current.current(event);
      if (deed !== undefined) {
        event.preventDefault();
        event.stopPropagation();
        deed();
      }
    };
    root?.addEventListener("keydown", act, true);
    return () => root?.removeEventListener("keydown", act, true);
  }, []);
}

/** The place of the choice that a key means: 1 is the first. */
export function choiceOf({ altKey, ctrlKey, key, metaKey }: KeyboardEvent): number | undefined {
  return /^[1-9]$/.test(key) && !altKey && !ctrlKey && !metaKey ? Number(key) - 1 : undefined;
}

/** Whether a control needs the key for itself: a text box every key, a button the space bar. */
function isTaken({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) {
    return false;
  }
  const isOfText = target.matches("input:not([type=range]), textarea, select, dialog *");
  return isOfText || (key === " " && target.matches("button, summary"));
}
