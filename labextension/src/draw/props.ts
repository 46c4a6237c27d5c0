import type { Action, State } from "../state/state";

export type Dispatch = (action: Action) => void;

/** What most parts of the page have: what the view shows, and what changes it. */
export interface Showing {
  readonly state: State;
  readonly dispatch: Dispatch;
}

/** The payload of the check of a changed program, and what goes along with all questions about it. */
export interface ChangedCheck {
  readonly bytes: Uint8Array;
  readonly about: object;
  /** The node to select; null for the selected one. */
  readonly node: number | null;
}

/** Shows the check of a changed program in place of the host's own; null shows that one again. */
export type ShowChanged = (check: ChangedCheck | null) => Promise<void>;
