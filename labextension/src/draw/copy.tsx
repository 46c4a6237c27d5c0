/** A button that copies a text, and says that it did. */

import { useRef, useState } from "preact/hooks";
import * as WORDS from "../strings";
import { Glyph } from "./icons";

/** How long it says so, in ms. */
const SAID = 1500;

interface CopyProps {
  /** What is copied, in words: the name. */
  readonly what: string;
  readonly text: string;
}

export function Copy({ what, text }: CopyProps) {
  const [isCopied, setIsCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const copy = async () => {
    await copyText(text);
    setIsCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setIsCopied(false), SAID);
  };
  const words = `${WORDS.copy} ${what}`;
  return (
    <button
      type="button"
      class="ckv-copy"
      title={words}
      aria-label={words}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{isCopied ? WORDS.copied : <Glyph name="copy" />}</span>
    </button>
  );
}

/** Copies a text, also where a page may not use the clipboard by itself (no TLS, an old host). */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
