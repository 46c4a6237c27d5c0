/** The Python expression for a live object; the view asks the kernel for it on demand. */

import * as WORDS from "../basics/strings";
import { visible } from "../basics/text";
import type { Kernel } from "../kernel/kernel";
import { useAsked } from "./asking";
import { Copy } from "./copy";

export function Accessor({ id, kernel }: { readonly id: number; readonly kernel: Kernel }) {
  const [asked, ask] = useAsked(
    async () => (await kernel({ ask: "accessor", node: id })).text ?? "",
  );
  return (
    <p aria-live="polite">
      {asked?.answer !== undefined ? (
        <>
          <code>{visible(asked.answer)}</code> <Copy what={WORDS.expression} text={asked.answer} />
        </>
      ) : asked?.problem !== undefined ? (
        <span class="ckv-error">{visible(asked.problem)}</span>
      ) : (
        <button type="button" class="ckv-jump" onClick={ask}>
          {WORDS.accessor}
        </button>
      )}
    </p>
  );
}
