/** Asks for a name: Enter takes it, Escape leaves. */

import { useLayoutEffect, useRef } from "preact/hooks";
import * as WORDS from "../basics/strings";

interface NameBoxProps {
  readonly label: string;
  /** The name that the box begins with. */
  readonly usual: string;
  readonly confirm: string;
  readonly submit: (name: string) => void;
  readonly cancel: () => void;
}

export function NameBox({ label, usual, confirm, submit, cancel }: NameBoxProps) {
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => box.current?.select(), []);
  const take = () => submit(box.current?.value.trim() ?? "");
  return (
    <p class="ckv-name-box">
      <label>
        {label}{" "}
        <input
          ref={box}
          type="search"
          size={24}
          maxLength={200}
          autocomplete="off"
          spellcheck={false}
          defaultValue={usual}
          onKeyDown={(event) => {
            // JupyterLab keeps Enter from a form.
            if (event.key === "Escape" || event.key === "Enter") {
              event.preventDefault();
              event.stopPropagation();
              event.key === "Enter" ? take() : cancel();
            }
          }}
        />
      </label>
      <button type="button" onClick={take}>
        {confirm} <kbd>{WORDS.keyLabel("Enter")}</kbd>
      </button>
      <button type="button" onClick={cancel}>
        {WORDS.cancel} <kbd>{WORDS.keyLabel("Escape")}</kbd>
      </button>
    </p>
  );
}
