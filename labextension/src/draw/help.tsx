/** The keys, in a panel over the explorer. */

import { useRef } from "preact/hooks";
import { helpLines } from "../commands";
import * as WORDS from "../strings";
import { useIsPainted } from "./painted";
import type { Part } from "./parts";

export function Help() {
  const panel = useRef<HTMLDialogElement>(null);
  const isPainted = useIsPainted();
  // Not modal: if a notebook's outputs share one frame, its middle may be far out of sight.
  const toggle = () => (panel.current?.open ? panel.current.close() : panel.current?.show());
  return (
    <>
      <button
        type="button"
        class="ckv-help-button"
        data-part={"help" satisfies Part}
        title={WORDS.help}
        aria-label={WORDS.help}
        onClick={toggle}
      >
        ?
      </button>
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
        <dl class="ckv-value">
          {isPainted
            ? helpLines().flatMap(({ keys, does }) => [
                <dt key={keys}>{keys}</dt>,
                <dd key={does}>{does}</dd>,
              ])
            : null}
        </dl>
      </dialog>
    </>
  );
}
