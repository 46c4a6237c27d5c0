/** The search box: searches while the user types, counts the matches and steps through them. */

import type { RefObject, TargetedClipboardEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { fieldsOf, UNREAD, valuesOf } from "../search/fields";
import { matchWords, mistakeWords } from "../words/words";
import { type Measuring, ReadButton } from "./measuring";
import { ModeButton } from "./mode-button";
import type { OnRequest } from "./on-request";
import { gridOf, type Part } from "./parts";
import type { Dispatch, Showing } from "./props";
import { SignButton } from "./sign-button";

/** How long the user has to pause before the search runs, in ms. */
const PAUSE = 80;

interface SearchProps extends Showing {
  readonly id: string;
  readonly onRequest: OnRequest | null;
}

export function SearchBox({ state, id, onRequest, dispatch }: SearchProps) {
  const { found, graph, query, selected } = state;
  const [extras, setExtras] = useState(onRequest?.extras);
  const box = useRef<HTMLInputElement>(null);
  const lastKey = useRef("");
  const { searchSoon, press } = useSearching(box, query, dispatch);
  const { mistake } = found;
  const isOff = found.matches.length === 0;
  const stepMatch = (by: 1 | -1) => () => dispatch({ type: "stepMatch", by });
  return (
    <search class="ckv-search">
      <input
        ref={box}
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: without a list attribute it is a searchbox
        role="combobox"
        list={undefined}
        aria-autocomplete="list"
        aria-controls={`${id}-suggestions`}
        aria-expanded={false}
        data-part={"search" satisfies Part}
        aria-label={WORDS.search}
        aria-invalid={mistake !== null}
        aria-describedby={mistake === null ? undefined : `${id}-mistake`}
        placeholder={WORDS.search}
        title={WORDS.searchHint}
        spellcheck={false}
        autocomplete="off"
        onFocus={() => void onRequest?.load().then(setExtras, () => {})}
        onInput={searchSoon}
        onKeyDown={(event) => {
          lastKey.current = event.key;
          press(event);
        }}
        onPaste={(event) => {
          if (pastesLines(event)) {
            searchSoon();
          }
        }}
      />
      {extras && (
        <extras.Suggesting
          {...{ box, lastKey, id, graph }}
          vocabulary={{ fields: fieldsOf(graph), values: (field) => valuesOf(field, graph) }}
        />
      )}
      <span class="ckv-matches">{mistake === null ? matchWords(found, selected) : ""}</span>
      {query === "" ? null : (
        <>
          <SignButton words={WORDS.previousMatch} isOff={isOff} press={stepMatch(-1)}>
            ↑
          </SignButton>
          <SignButton words={WORDS.nextMatch} isOff={isOff} press={stepMatch(1)}>
            ↓
          </SignButton>
          <FilterButton state={state} dispatch={dispatch} />
        </>
      )}
    </search>
  );
}

/** Runs the search while the user types, and answers the keys of the box. */
function useSearching(box: RefObject<HTMLInputElement | null>, query: string, dispatch: Dispatch) {
  const pause = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // Text that the user is typing has priority over the query of a moment ago.
  useLayoutEffect(() => {
    if (box.current !== null && pause.current === undefined && box.current.value !== query) {
      box.current.value = query;
    }
  }, [query]);
  useLayoutEffect(() => () => clearTimeout(pause.current), []);

  const searchNow = () => {
    clearTimeout(pause.current);
    pause.current = undefined;
    if (box.current !== null) {
      dispatch({ type: "search", query: box.current.value });
    }
  };
  const searchSoon = () => {
    clearTimeout(pause.current);
    pause.current = setTimeout(searchNow, PAUSE);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.isComposing) {
      searchNow();
      dispatch({ type: "stepMatch", by: event.shiftKey ? -1 : 1 });
    } else if (event.key === "Escape") {
      if (pause.current !== undefined) {
        searchNow(); // a query that came with a file waits for Enter
      }
      gridOf(box.current)?.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return { searchSoon, press };
}

export function FilterButton({ state, dispatch }: Showing) {
  const isFilter = state.mode === "filter";
  return (
    <ModeButton
      isOn={isFilter}
      hint={WORDS.filterHint}
      label={WORDS.filter}
      press={() => dispatch({ type: "setMode", mode: isFilter ? "highlight" : "filter" })}
    />
  );
}

/** Pastes a text of several lines with blanks between them: a single-line box would drop those. */
function pastesLines(event: TargetedClipboardEvent<HTMLInputElement>): boolean {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (!/[\r\n]/.test(text)) {
    return false;
  }
  event.preventDefault();
  const box = event.currentTarget;
  const end = box.value.length;
  const line = text.replace(/[\r\n]+/g, " ");
  box.setRangeText(line, box.selectionStart ?? end, box.selectionEnd ?? end, "end");
  return true;
}

interface MistakeProps extends Pick<SearchProps, "state" | "id"> {
  readonly measuring: Measuring;
}

/** The mistake in the query, in words; a query about unread values offers to read them. */
export function QueryMistake({ state, id, measuring }: MistakeProps) {
  const { mistake } = state.found;
  return mistake === null ? null : (
    <p class="ckv-mistake" id={`${id}-mistake`}>
      {mistake.expected === UNREAD ? (
        <>
          {WORDS.needsValues} <ReadButton measuring={measuring} />
        </>
      ) : (
        mistakeWords(mistake)
      )}
    </p>
  );
}
