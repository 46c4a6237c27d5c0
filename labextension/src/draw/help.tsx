/** The keys, in a panel over the explorer. */

import { useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { type OnRequest, WithExtras } from "./on-request";
import { SignButton } from "./sign-button";

export function Help({ onRequest }: { readonly onRequest: OnRequest }) {
  const panel = useRef<HTMLDialogElement>(null);
  const [isAsked, setAsked] = useState(false);
  // Not modal: if a notebook's outputs share one frame, its middle may be far out of sight.
  const toggle = () => {
    setAsked(true);
    return panel.current?.open ? panel.current.close() : panel.current?.show();
  };
  return (
    <>
      <SignButton words={WORDS.help} look="ckv-help-button" part="help" press={toggle}>
        ?
      </SignButton>
      <dialog
        ref={panel}
        class="ckv-help"
        aria-label={WORDS.help}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            toggle();
          }
          if (event.key !== "?") {
            event.stopPropagation(); // the arrow keys scroll
          }
        }}
      >
        <button type="button" onClick={toggle}>
          {WORDS.close}
        </button>
        {isAsked ? (
          <WithExtras onRequest={onRequest}>{({ HelpLines }) => <HelpLines />}</WithExtras>
        ) : null}
      </dialog>
    </>
  );
}
