/** Code to read, select and copy. */

import { Fragment } from "preact";
import * as WORDS from "../basics/strings";
import { Alert } from "./alert";
import { useAsked } from "./asking";
import { codeParts } from "./code-parts";
import { Copy } from "./copy";

/** Lines break between parts of the code; a part that is too wide scrolls sideways. */
export function CodeText({ code }: { readonly code: string }) {
  return (
    <pre class="ckv-code-text" tabIndex={0}>
      {code.split("\n").map((line, place) => (
        <Fragment key={place}>
          {place === 0 ? null : "\n"}
          {codeParts(line).map((pieces, index) => (
            <Fragment key={index}>
              <wbr />
              <Part pieces={pieces} />
            </Fragment>
          ))}
        </Fragment>
      ))}
    </pre>
  );
}

/** A part of code, which stays on one line if that is wide enough. */
function Part({ pieces }: { readonly pieces: readonly string[] }) {
  return pieces.length === 1 ? (
    <span class="ckv-code-piece">{pieces}</span>
  ) : (
    <span class="ckv-code-part">
      {pieces.map((piece, index) => (
        <Fragment key={index}>
          <wbr />
          <span class="ckv-code-piece">{piece}</span>
        </Fragment>
      ))}
    </span>
  );
}

interface ButtonProps {
  readonly code: string;
  /** Puts code that runs there into a new cell below; null where it cannot. */
  readonly insert: ((code: string) => void | Promise<void>) | null;
}

/** They take code elsewhere. */
export function CodeButtons({ code, insert }: ButtonProps) {
  const [asked, ask] = useAsked(async () => insert?.(code.trimEnd()));
  return (
    <>
      {insert === null ? null : (
        <button type="button" title={WORDS.insertHint} onClick={ask}>
          {WORDS.insertBelow}
        </button>
      )}
      <Copy what={WORDS.code} text={code} />
      <Alert words={asked?.problem} isInline />
    </>
  );
}
