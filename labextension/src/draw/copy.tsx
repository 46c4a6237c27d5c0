/** A button that copies a text and confirms it. */

import { useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { Glyph } from "./icons";
import type { Part } from "./parts";
import { SignButton } from "./sign-button";

/** How long the confirmation lasts, in ms. */
const CONFIRMATION = 1500;

interface CopyProps {
  /** The kind of text that the button copies, for its label: the name. */
  readonly what: string;
  readonly text: string;
  /** The part of the page that this button is, if a key presses it. */
  readonly part?: Part;
  /** What a large button says; without it, the button is a sign. */
  readonly label?: string;
}

export function Copy({ what, text, part, label }: CopyProps) {
  const [isCopied, setIsCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const copy = async () => {
    setIsCopied(await copyText(text));
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setIsCopied(false), CONFIRMATION);
  };
  const words = `${WORDS.copy} ${what}`;
  return (
    <SignButton
      {...{ words, part }}
      look={label === undefined ? "ckv-copy" : "ckv-restore"}
      press={() => void copy()}
    >
      <span aria-live="polite">{isCopied ? WORDS.copied : (label ?? <Glyph name="copy" />)}</span>
    </SignButton>
  );
}

/**
 * Copies a text, even if a page may not use the clipboard directly (no TLS, an old host). Returns
 * whether it could.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }
}
