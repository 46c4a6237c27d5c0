/** The traits of an Explorer, as its model in a page has them. */

import type { AnyModel } from "@anywidget/types";
import type { MeasureName } from "../data/measures";
import type { PayloadTraits } from "../host/shared";
import type { Mode, View } from "../state/state";

/** Node ids with the number of the graph that they belong to. */
export interface OfGraph<Ids> {
  readonly of: number;
  readonly ids: Ids;
}

/** The traits that tell what the view shows; its user sets them, too. */
export interface Shown {
  selected: OfGraph<number> | null;
  expanded: OfGraph<readonly number[]> | null;
  query: string;
  mode: Mode;
  view: View | null;
  measure: MeasureName | null;
  step: number | null;
}

/** A host that restores a widget may leave out traits. */
export interface Traits extends PayloadTraits, Partial<Shown> {
  /** The number of the graph in the payload. */
  readonly _edition?: number;
}

/** The traits of a new Explorer, in place of those that a model lacks. */
const NEW: Shown = {
  selected: null,
  expanded: null,
  query: "",
  mode: "highlight",
  view: null,
  measure: null,
  step: null,
};
export const STATE = Object.keys(NEW) as readonly (keyof Shown)[];

/** What the model tells of the state, whole. */
export function stateOf(model: Pick<AnyModel<Traits>, "get">): Shown {
  const known = STATE.map((name) => [name, model.get(name) ?? NEW[name]]);
  return Object.fromEntries(known);
}
