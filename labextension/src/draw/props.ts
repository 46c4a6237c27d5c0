import type { Action } from "../state";

export type Dispatch = (action: Action) => void;
