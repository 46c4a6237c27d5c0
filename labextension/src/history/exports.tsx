/** The menu that saves the history as a file: the kernel's, or what the view has. */

import { useRef, useState } from "preact/hooks";
import { whyWords } from "../text";
import { csvOf } from "./csv";
import { paintOf, pictureOf } from "./picture";
import type { List, State } from "./state";
import * as WORDS from "./strings";

export interface Written {
  readonly name: string;
  readonly blob: Blob;
}

/** Writes a file of the format json, csv or html. */
export type Write = (format: string) => Promise<Written>;

interface ExportsProps {
  readonly state: State;
  readonly list: List;
  /** Undefined without a kernel. */
  readonly write: Write | undefined;
}

/** An object URL must stay valid until the browser has started to save the file, in ms. */
const LIFE = 60_000;

export function Exports({ state, list, write }: ExportsProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const own = (name: string, type: string, text: () => string) => ({
    name,
    make: async () => ({ name: `history.${name}`, blob: new Blob([text()], { type }) }),
  });
  const asked = (name: string) => ({ name, make: () => write?.(name) });
  const offered = [
    ...(write === undefined
      ? [
          own("json", "application/json", () => JSON.stringify(state.history)),
          own("csv", "text/csv", () => csvOf(state.history)),
        ]
      : ["json", "csv", "html"].map(asked)),
    own("svg", "image/svg+xml", () => pictureOf(state, list, paintOf(menu.current))),
  ];
  const save = async (make: () => Promise<Written> | undefined) => {
    setProblem(null);
    try {
      const file = await make();
      if (file !== undefined) {
        download(file);
      }
      menu.current?.removeAttribute("open");
    } catch (error) {
      setProblem(whyWords(error));
    }
  };
  return (
    <details
      ref={menu}
      class="ckh-menu"
      onKeyDown={(event) => {
        if (event.key === "Escape" && menu.current?.open === true) {
          event.stopPropagation();
          menu.current.open = false;
          menu.current.querySelector("summary")?.focus();
        }
      }}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) {
          currentTarget.open = false;
        }
      }}
    >
      <summary title={WORDS.exportHint}>{WORDS.exportWord}</summary>
      <div>
        {offered.map(({ name, make }) => (
          <button key={name} type="button" onClick={() => void save(make)}>
            {WORDS.exports[name as keyof typeof WORDS.exports]}
          </button>
        ))}
        {problem === null ? null : (
          <p class="ckh-alarm" role="alert">
            {problem}
          </p>
        )}
      </div>
    </details>
  );
}

function download({ name, blob }: Written): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), LIFE);
}
