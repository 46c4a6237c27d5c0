/** What opens at a step of a restore from elsewhere: the address of the page, or code of its notebook. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { whyWords } from "../basics/text";
import type { Answer, Kernel } from "../kernel/kernel";
import { copyText } from "./copy";

export type Link = Answer["link"];

/** What was copied last, or was to be: the text, or why there is none. */
interface Copied {
  readonly words: string;
  readonly text: string;
}

export interface Linking {
  readonly link: Link;
  readonly copied: Copied | null;
  copy(): void;
}

/** Copies what leads to the current step, and keeps it in sight until the step changes. */
export function useLinking(link: Link, at: number, ask: Kernel | null): Linking {
  const [copied, setCopied] = useState<Copied | null>(null);
  // Not after the next frame: it would clear what a key has copied until then.
  useLayoutEffect(() => setCopied(null), [at]);
  const copy = async () => {
    try {
      const text =
        link === "page" ? addressOf(at) : ((await ask?.({ ask: "link", at }))?.text ?? "");
      const words = (await copyText(text)) ? WORDS.plays.linkCopied : WORDS.plays.copyThis;
      setCopied({ words, text });
    } catch (error) {
      setCopied({ words: whyWords(error), text: "" });
    }
  };
  return { link, copied, copy: () => void (link === undefined ? null : copy()) };
}

/** The address of this page at a step; ckpt_viz/graphs/render/html.py follows it. */
function addressOf(at: number): string {
  return `${location.href.replace(/#.*/s, "")}#step=${at + 1}`;
}

export function LinkButton({ link, copy }: Linking) {
  const { plays } = WORDS;
  return link === undefined ? null : (
    <button
      type="button"
      class="ckv-play-copy"
      title={link === "page" ? plays.linkHint : plays.codeHint}
      onClick={copy}
    >
      {link === "page" ? plays.link : plays.code}
    </button>
  );
}

export function CopiedLink({ copied }: Linking) {
  const area = useRef<HTMLTextAreaElement>(null);
  const isDenied = copied?.words === WORDS.plays.copyThis;
  useEffect(() => {
    if (isDenied) {
      area.current?.select();
    }
  }, [copied]);
  return (
    <div class="ckv-play-link" role="status">
      {copied === null ? null : <span>{copied.words}</span>}
      {copied === null || copied.text === "" ? null : (
        <textarea
          readOnly
          ref={area}
          rows={copied.text.split("\n").length}
          aria-label={copied.words}
          value={copied.text}
          onFocus={(event) => event.currentTarget.select()}
        />
      )}
    </div>
  );
}
