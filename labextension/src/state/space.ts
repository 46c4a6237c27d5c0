/** What fits into the view: how much boxes say, and which nodes are open at first. */

import { ROOT } from "../data/graph";
import { initialExpansion } from "../layout/rows";
import { fitted, LEAST_MARGIN, MARGIN, MIN_FIT_SCALE, sameCamera, shown } from "./camera";
import { arrange, BREVITIES, type State } from "./state";

/** A view of fewer rows says too little, even if a larger drawing does not fit. */
const LEAST_ROWS = 6;

/** Whether the drawing has no space, even at the scale of the smallest letters. */
function isTooWide({ layout, width }: State): boolean {
  return layout.width > widthInSight(width);
}

function isTooHigh({ layout, height }: State): boolean {
  return layout.height * MIN_FIT_SCALE > height - 2 * MARGIN;
}

/** How wide a drawing can be at most. The button of its last box may be near the edge. */
function widthInSight(width: number): number {
  return (width - MARGIN - LEAST_MARGIN) / MIN_FIT_SCALE;
}

/** The open nodes, on the deepest level only, with children that are partly out of sight. */
function tooFarRight({ layout, rows, width }: State): ReadonlySet<number> {
  const limit = widthInSight(width);
  const parents = rows.flatMap(({ parentRow }, index) => {
    const { x = 0, width: own = 0 } = layout.boxes[index] ?? {};
    const parent = rows[parentRow];
    return parent !== undefined && parent.level > 1 && x + own > limit ? [parent] : [];
  });
  const deepest = parents.reduce((most, { level }) => Math.max(most, level), 0);
  return new Set(parents.filter(({ level }) => level === deepest).map(({ id }) => id));
}

/** The open nodes of the deepest level. */
function deepestOpen({ rows }: State): ReadonlySet<number> {
  const open = rows.filter((row) => row.isExpanded);
  const deepest = open.reduce((most, { level }) => Math.max(most, level), 0);
  return new Set(open.filter(({ level }) => level === deepest).map(({ id }) => id));
}

/**
 * Makes space for the first view: boxes say less, then nodes close that the view itself
 * opened.
 */
export function withinSight(state: State): State {
  if (state.graph.objects === null || state.width === 0) {
    return state;
  }
  const isChosen = state.isDefaultExpansion && state.depth === 0;
  let next = saidInSight(state);
  while (isChosen && (isTooWide(next) || isTooHigh(next))) {
    const closed = isTooWide(next) ? tooFarRight(next) : deepestOpen(next);
    const expanded = new Set([...next.expanded].filter((id) => !closed.has(id)));
    const fewer = arrange({ ...next, expanded });
    if (closed.size === 0 || fewer.rows.length < LEAST_ROWS) {
      break;
    }
    next = fewer;
  }
  return saidInSight(next);
}

/** Whether the view shows what it chose to show first, and the user has not acted yet. */
function isFirstView({ focus, isDefaultExpansion, query, selected, width }: State): boolean {
  return isDefaultExpansion && focus === ROOT && query === "" && selected === null && width > 0;
}

/** Opens what a view of any size opens first. */
function openedFirst(state: State): State {
  return state.graph.objects === null
    ? state
    : arrange({ ...state, expanded: initialExpansion(state) });
}

/** The same rows in boxes that say as much as there is space for. */
function saidInSight(state: State): State {
  let next = state;
  for (const says of BREVITIES) {
    next = next.says === says ? next : arrange({ ...next, says });
    if (!isTooWide(next) && !(says === "stacked" && isTooHigh(next))) {
      break;
    }
  }
  return next;
}

/** Fits a drawing again that the user has not moved; otherwise keeps the selected node in sight. */
export function resize(state: State, width: number, height: number): State {
  if (width === state.width && height === state.height) {
    return state;
  }
  const next = { ...state, width, height };
  if (state.width === 0) {
    return shown(fitted(withinSight(next)));
  }
  if (sameCamera(state, shown(fitted(state)))) {
    return shown(fitted(isFirstView(state) ? withinSight(openedFirst(next)) : next));
  }
  return sameCamera(state, shown(state)) ? shown(next) : next;
}
