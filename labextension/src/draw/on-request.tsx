/** Parts of the view that load when a user first asks for them. */

import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { useAsked } from "./asking";

export type Extras = typeof import("./extras");
export type LoadExtras = () => Promise<Extras>;

/** The extras of a view, and its way to them. */
export interface OnRequest {
  /** Null before a user has asked for them. */
  readonly extras: Extras | null;
  load(): Promise<Extras>;
}

/** Loads the extras once; a failed attempt can be repeated. */
export function onRequest(load: LoadExtras): OnRequest {
  let extras: Extras | null = null;
  return {
    get extras() {
      return extras;
    },
    async load() {
      extras ??= await load();
      return extras;
    },
  };
}

interface Props {
  readonly onRequest: OnRequest;
  readonly children: (extras: Extras) => VNode;
}

interface ManyProps extends Omit<Props, "onRequest"> {
  /** Null where nothing can load them: there, nothing is drawn. */
  readonly onRequest: OnRequest | null;
}

export function WithExtras({ onRequest, children }: ManyProps) {
  return onRequest === null ? null : <Loading onRequest={onRequest}>{children}</Loading>;
}

/** Draws with the extras as soon as they are there. */
function Loading({ onRequest, children }: Props) {
  const [asked, ask] = useAsked(() => onRequest.load());
  useEffect(ask, []);
  const extras = onRequest.extras ?? asked?.answer;
  if (extras !== undefined) {
    return children(extras);
  }
  return asked?.problem === undefined ? (
    <p class="ckv-hint">{WORDS.loading}</p>
  ) : (
    <p class="ckv-error">
      {asked.problem}{" "}
      <button type="button" onClick={ask}>
        {WORDS.drawAgain}
      </button>
    </p>
  );
}
