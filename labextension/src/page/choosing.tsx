/** The buttons that open the browser's dialogs, and what was chosen in words. */

import { useEffect, useRef } from "preact/hooks";
import { bytesWords } from "../words/words";
import { chosenFiles } from "./files";
import type { PageFile } from "./protocol";
import * as WORDS from "./strings";

interface ChooserProps {
  readonly words: string;
  readonly take: (given: () => Promise<readonly PageFile[]>) => Promise<void>;
  readonly isFolder?: boolean;
  readonly isPrimary?: boolean;
}

/** A button that opens the browser's dialog for files, or for a folder. */
export function Chooser({ words, take, isFolder = false, isPrimary = false }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.toggleAttribute("webkitdirectory", isFolder);
  }, []);
  return (
    <>
      <button
        type="button"
        class={isPrimary ? "ckp-primary" : ""}
        onClick={() => input.current?.click()}
      >
        {words}
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={words}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          currentTarget.value = "";
          if (files.length > 0) {
            void take(async () => chosenFiles(files));
          }
        }}
      />
    </>
  );
}

/** Files of a side in words. */
export function filesWords(files: readonly PageFile[]): string {
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  return WORDS.filesOf(files.length, bytesWords(size));
}
