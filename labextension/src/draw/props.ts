import type { Action, State } from "../state/state";

export type Dispatch = (action: Action) => void;

/** What most parts of the page have: what the view shows, and what changes it. */
export interface Showing {
  readonly state: State;
  readonly dispatch: Dispatch;
}

/** `about` goes along with all questions, null: nothing answers. Without bytes, shows the own check. */
export type ShowOther = (
  bytes: Uint8Array | null,
  about: object | null,
  node?: number | null,
) => Promise<void>;
