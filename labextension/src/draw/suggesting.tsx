/** A list below the search box with what may come next in the query. It adds keys to the box. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import type { Graph } from "../data/graph";
import { dtypesOf, type Suggestions, suggestionsAt, type Vocabulary } from "../search/suggest";

interface SuggestingProps {
  readonly box: RefObject<HTMLInputElement | null>;
  /** The last key that the list did not answer: it may be older than the list. */
  readonly lastKey: RefObject<string>;
  readonly id: string;
  readonly graph: Graph;
  readonly vocabulary: Vocabulary;
}

interface Open extends Suggestions {
  /** The place of the active one; -1 for none. */
  readonly active: number;
}

export function Suggesting({ box, lastKey, id, graph, vocabulary }: SuggestingProps) {
  const [open, setOpen] = useState<Open | null>(null);
  const latest = useRef(open);
  latest.current = open;
  // Not after the next frame: a key in between would be lost.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) {
      return;
    }
    let dtypes: readonly string[] | null = null;
    const values = (field: string): readonly string[] => {
      if (field !== "dtype") {
        return vocabulary.values(field);
      }
      dtypes ??= dtypesOf(graph);
      return dtypes;
    };
    const known = { fields: vocabulary.fields, values };
    const look = (isAsked: boolean) => {
      const caret = element.selectionStart ?? 0;
      const found = suggestionsAt(element.value, caret, known);
      const hasBegun = isAsked || /[\w:|-]$/.test(element.value.slice(0, caret));
      setOpen(found.texts.length === 0 || !hasBegun ? null : { ...found, active: -1 });
      return found.texts.length > 0;
    };
    const onInput = () => look(false);
    const press = (event: KeyboardEvent) => {
      if (isMeant(event) && answered(event, element, latest.current, setOpen, look)) {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
    };
    const close = () => setOpen(null);
    element.addEventListener("input", onInput);
    element.addEventListener("keydown", press, { capture: true });
    element.addEventListener("blur", close);
    if (element.matches(":focus") && lastKey.current !== "Enter") {
      look(lastKey.current === "ArrowDown");
    }
    return () => {
      element.removeEventListener("input", onInput);
      element.removeEventListener("keydown", press, { capture: true });
      element.removeEventListener("blur", close);
    };
  }, [graph]);
  useLayoutEffect(() => tellBox(box.current, id, open), [open]);
  return (
    <div
      id={`${id}-suggestions`}
      class="ckv-suggestions"
      role="listbox"
      aria-label={WORDS.suggestions}
      hidden={open === null}
      style={box.current === null ? {} : placeBelow(box.current)}
    >
      {open?.texts.map((text, place) => (
        <div
          key={text}
          id={`${id}-suggestion-${place}`}
          role="option"
          aria-selected={place === open.active}
          onMouseDown={(event) => {
            event.preventDefault(); // the box keeps the focus
            take(box.current, open, place);
          }}
        >
          {text}{" "}
          <span class="ckv-faint">{WORDS.fieldHints[text as keyof typeof WORDS.fieldHints]}</span>
        </div>
      ))}
    </div>
  );
}

/** Tells assistive technology which suggestion is active, and brings it into sight. */
function tellBox(box: HTMLInputElement | null, id: string, open: Open | null): void {
  const active = open === null || open.active < 0 ? null : `${id}-suggestion-${open.active}`;
  box?.setAttribute("aria-expanded", `${open !== null}`);
  if (active === null) {
    box?.removeAttribute("aria-activedescendant");
  } else {
    box?.setAttribute("aria-activedescendant", active);
    document.getElementById(active)?.scrollIntoView({ block: "nearest" });
  }
}

function isMeant(event: KeyboardEvent): boolean {
  return !(event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
}

/** Does what a key means while the list is open, or opens it; returns whether it means anything. */
function answered(
  { key }: KeyboardEvent,
  box: HTMLInputElement,
  open: Open | null,
  setOpen: (open: Open | null) => void,
  look: (isAsked: boolean) => boolean,
): boolean {
  if (open === null) {
    return key === "ArrowDown" && look(true);
  }
  const { active, texts } = open;
  switch (key) {
    case "ArrowDown":
      setOpen({ ...open, active: (active + 1) % texts.length });
      return true;
    case "ArrowUp":
      setOpen({ ...open, active: (Math.max(active, 0) - 1 + texts.length) % texts.length });
      return true;
    case "Tab":
      take(box, open, Math.max(active, 0));
      return true;
    case "Enter":
      if (active < 0) {
        setOpen(null);
        return false; // searches
      }
      take(box, open, active);
      return true;
    case "Escape":
      setOpen(null);
      return true;
    default:
      return false;
  }
}

/** Puts a suggestion into the query; the box then searches, and may have more suggestions. */
function take(box: HTMLInputElement | null, { start, texts }: Open, place: number): void {
  const text = texts[place];
  if (box !== null && text !== undefined) {
    box.setRangeText(text, start, box.selectionStart ?? box.value.length, "end");
    box.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
}

function placeBelow({ offsetLeft, offsetTop, offsetHeight, offsetWidth }: HTMLElement) {
  return {
    left: `${offsetLeft}px`,
    top: `${offsetTop + offsetHeight + 1}px`,
    "min-width": `${offsetWidth}px`,
  };
}
