/** Code to read, select and copy. */

import { type ComponentChildren, Fragment } from "preact";
import * as WORDS from "../basics/strings";
import { shortened, visible } from "../basics/text";
import { Alert } from "./alert";
import { useAsked } from "./asking";
import { codeParts } from "./code-parts";
import { Copy } from "./copy";

/** Names in the code of a remedy come from files, and may have any length. */
const MAX_REMEDY = 2000;

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

interface RemedyCodeProps extends ButtonProps {
  /** Other buttons, before those of the code. */
  readonly children?: ComponentChildren;
}

/** The code of a remedy. Only code that is in sight as it is goes elsewhere. */
export function RemedyCode({ code, insert, children }: RemedyCodeProps) {
  const shown = shortened(visible(code), MAX_REMEDY);
  return (
    <>
      <CodeText code={shown} />
      <p class="ckv-buttons">
        {children}
        {shown === code ? <CodeButtons code={code} insert={insert} /> : null}
      </p>
    </>
  );
}
