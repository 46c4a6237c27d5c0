/** The menu that saves the history as a file: the kernel's, or what the view has. */

import { useState } from "preact/hooks";
import { whyWords } from "../basics/text";
import { Menu } from "../draw/menu";
import { save } from "../draw/save";
import { csvOf } from "./csv";
import type { State } from "./state";
import * as WORDS from "./strings";

export interface Written {
  readonly name: string;
  readonly blob: Blob;
}

/** Writes a file of the format json, csv or html. */
export type Write = (format: string) => Promise<Written>;

interface ExportsProps {
  readonly state: State;
  /** Undefined without a kernel. */
  readonly write: Write | undefined;
}

export function Exports({ state, write }: ExportsProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const own = (name: string, type: string, text: () => string) => ({
    name,
    make: async () => ({ name: `history.${name}`, blob: new Blob([text()], { type }) }),
  });
  const asked = (name: string) => ({ name, make: () => write?.(name) });
  const offered =
    write === undefined
      ? [
          own("json", "application/json", () => JSON.stringify(state.history)),
          own("csv", "text/csv", () => csvOf(state.history)),
        ]
      : ["json", "csv", "html"].map(asked);
  return (
    <Menu label={WORDS.exportWord} hint={WORDS.exportHint}>
      {(close) => (
        <>
          {offered.map(({ name, make }) => (
            <button
              key={name}
              type="button"
              onClick={async () => {
                setProblem(null);
                try {
                  const file = await make();
                  if (file !== undefined) {
                    save(file.name, file.blob);
                  }
                  close();
                } catch (error) {
                  setProblem(whyWords(error));
                }
              }}
            >
              {WORDS.exports[name as keyof typeof WORDS.exports]}
            </button>
          ))}
          {problem === null ? null : (
            <p class="ckh-alarm" role="alert">
              {problem}
            </p>
          )}
        </>
      )}
    </Menu>
  );
}
