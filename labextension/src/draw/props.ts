import type { Action } from "../state/state";

export type Dispatch = (action: Action) => void;

/** `about` goes along with all questions, null: nothing answers. Without bytes, shows the own check. */
export type ShowOther = (
  bytes: Uint8Array | null,
  about: object | null,
  node?: number | null,
) => Promise<void>;
