/** A text field in place of a name, with suggestions: Enter takes the name, Escape leaves the field. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { offeredNames } from "../words/naming";

/** Characters of a name. */
export const MAX_NAME = 200;

interface NameFieldProps {
  readonly id: string;
  readonly label: string;
  /** The name before. */
  readonly usual: string;
  /** The text, which outlives the field: a table draws only the lines in sight. */
  readonly text: { current: string };
  readonly names: readonly string[];
  readonly problem: string | null;
  readonly isWaiting: boolean;
  readonly take: (name: string) => void;
  readonly leave: () => void;
}

export function NameField({ id, label, usual, text, names, problem, ...rest }: NameFieldProps) {
  const { isWaiting, take, leave } = rest;
  const box = useRef<HTMLInputElement>(null);
  const below = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState(text.current);
  const [active, setActive] = useState(-1);
  const offered = offeredNames(names, typed === usual ? "" : typed);
  text.current = offered[active] ?? typed;
  useLayoutEffect(() => {
    box.current?.focus({ preventScroll: true });
    if (typed === usual) {
      box.current?.select();
    }
  }, []);
  useLayoutEffect(() => {
    // If both have no space, the field is in sight.
    below.current?.scrollIntoView({ block: "nearest" });
    box.current?.scrollIntoView({ block: "nearest" });
  }, [problem, offered.length]);
  const press = (event: KeyboardEvent) => {
    const { key, isComposing } = event;
    const by = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
    if (isComposing || (by === 0 && key !== "Enter" && key !== "Escape")) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (key === "Escape") {
      leave();
    } else if (by === 0) {
      isWaiting || take(text.current);
    } else if (offered.length > 0) {
      setActive((Math.max(active, by === 1 ? -1 : 0) + by + offered.length) % offered.length);
    }
  };
  return (
    <>
      <input
        ref={box}
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: without a list attribute it is a searchbox
        role="combobox"
        list={undefined}
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={offered.length > 0}
        aria-controls={`${id}-names`}
        aria-activedescendant={active in offered ? `${id}-${active}` : undefined}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : `${id}-problem`}
        aria-busy={isWaiting}
        maxLength={MAX_NAME}
        autocomplete="off"
        spellcheck={false}
        value={text.current}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setActive(-1);
        }}
        onKeyDown={press}
      />
      <div class="ckv-naming-below" ref={below}>
        {problem === null ? null : (
          <p id={`${id}-problem`} class="ckv-error" role="alert">
            {problem}
          </p>
        )}
        <Names {...{ id, label, offered, active, take }} />
      </div>
    </>
  );
}

interface NamesProps extends Pick<NameFieldProps, "label" | "take"> {
  readonly id: string;
  readonly offered: readonly string[];
  /** The place of the chosen one; -1 for none. */
  readonly active: number;
}

function Names({ id, label, offered, active, take }: NamesProps) {
  return (
    <div id={`${id}-names`} role="listbox" aria-label={label} hidden={offered.length === 0}>
      {offered.map((name, place) => (
        <div
          key={name}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === active}
          onMouseDown={(event) => {
            event.preventDefault(); // the field keeps the focus
            take(name);
          }}
        >
          {name}
        </div>
      ))}
    </div>
  );
}
