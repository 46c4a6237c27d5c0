/** Which part of the drawing is in sight. */

import { PITCH } from "../layout/tidy";
import type { Picture } from "../textbook/picture";
import { firstProblemNode } from "./problems";
import type { State } from "./state";

export const MARGIN = 24;
export const LEAST_MARGIN = 6;
export const MIN_SCALE = 0.1;
const MAX_SCALE = 3;
/** Fitting stops where letters would be smaller than 11 px, or needlessly large. */
export const MIN_FIT_SCALE = 0.92;
const MAX_FIT_SCALE = 1.25;

export function firstRowInSight({ camera, layout }: State): number {
  return Math.max(
    layout.boxes.findIndex((one) => one.y * camera.scale + camera.y >= 0),
    0,
  );
}

export function box(state: State, id: number) {
  return state.drawn === "textbook"
    ? state.picture?.boxes.get(id)
    : state.layout.boxes[state.rowOf.get(id) ?? -1];
}

export function moved(state: State, dx: number, dy: number): State {
  const { x, y, scale } = state.camera;
  return dx === 0 && dy === 0 ? state : { ...state, camera: { x: x + dx, y: y + dy, scale } };
}

/** Moves the height y of the drawing to the middle of the view. */
export function centred(state: State, y: number): State {
  return moved(state, 0, state.height / 2 - y * state.camera.scale - state.camera.y);
}

/** Moves the drawing just enough to bring the node's box into sight. */
export function inSight(state: State, id: number): State {
  const found = box(state, id);
  if (found === undefined || state.width === 0) {
    return state;
  }
  const { x, y, scale } = state.camera;
  const left = found.x * scale + x;
  const middle = found.y * scale + y;
  const half = (PITCH / 2) * scale;
  return moved(
    state,
    shift(left, left + found.width * scale, state.width),
    shift(middle - half, middle + half, state.height),
  );
}

/** How far [low, high] must move to fit into the size; if it cannot, its start must be visible. */
function shift(low: number, high: number, size: number): number {
  if (low < MARGIN) {
    return MARGIN - low;
  }
  return high > size - MARGIN ? Math.max(size - MARGIN - high, MARGIN - low) : 0;
}

export function zoom(state: State, factor: number, atX: number, atY: number): State {
  const { x, y, scale } = state.camera;
  const next = Math.min(Math.max(scale * factor, MIN_SCALE), MAX_SCALE);
  const ratio = next / scale;
  return {
    ...state,
    camera: { x: atX - (atX - x) * ratio, y: atY - (atY - y) * ratio, scale: next },
  };
}

/** Fits the whole drawing; if that would be too small to read, shows its top left. */
export function fitted(state: State): State {
  const { layout, picture, width, height } = state;
  if (picture !== null) {
    return fittedPicture(state, picture);
  }
  const whole = Math.min(
    (width - MARGIN - LEAST_MARGIN) / Math.max(layout.width, 1),
    (height - 2 * MARGIN) / Math.max(layout.height, 1),
  );
  const scale = Math.min(Math.max(whole, MIN_FIT_SCALE), MAX_FIT_SCALE);
  const beyond = height - layout.height * scale;
  const y = beyond >= 2 * MARGIN ? Math.min(beyond / 2, 4 * MARGIN) : MARGIN;
  return { ...state, camera: { x: MARGIN, y, scale } };
}

/** Fits the whole picture, or as much of its width around the selected node as stays readable. */
function fittedPicture(state: State, picture: Picture): State {
  const [width, height] = [state.width - 2 * MARGIN, state.height - 2 * MARGIN];
  const whole = Math.min(width / picture.width, height / picture.height);
  const scale = Math.min(Math.max(whole, MIN_FIT_SCALE), 1);
  const top = picture.boxes.get(state.selected ?? state.focus);
  const middle = top === undefined ? 0 : top.x + top.width / 2;
  const beyond = picture.width * scale - width;
  const x =
    beyond > 0
      ? Math.min(Math.max(state.width / 2 - middle * scale, MARGIN - beyond), MARGIN)
      : MARGIN - beyond / 2;
  const y = Math.max(MARGIN + (height - picture.height * scale) / 2, MARGIN);
  return { ...state, camera: { x, y, scale } };
}

/** Whether a picture that the user has not moved yet shows only a part of itself. */
export function isPartOfPicture(state: State): boolean {
  const { camera, height, picture, width } = state;
  return (
    picture !== null &&
    sameCamera(state, fitted(state)) &&
    (picture.width * camera.scale > width || picture.height * camera.scale > height)
  );
}

/**
 * Fits the first picture, and later ones until the user moves them. After that, the selected node
 * keeps its place on the screen.
 */
export function showPicture(state: State, picture: Picture): State {
  if (state.drawn !== "textbook") {
    return state;
  }
  const anchor = state.selected ?? state.focus;
  const before = box(state, anchor);
  const next = { ...state, picture };
  const after = box(next, anchor);
  if (before === undefined || after === undefined || sameCamera(state, fitted(state))) {
    return shown(fitted(next));
  }
  const { scale } = state.camera;
  const [dx, dy] = [before.x - after.x, before.y - after.y];
  return inSight(moved(next, dx * scale, dy * scale), anchor);
}

export function sameCamera({ camera: a }: State, { camera: b }: State): boolean {
  return a.x === b.x && a.y === b.y && a.scale === b.scale;
}

/** Brings the selected node into sight; without a selection, the first problem. */
export function shown(state: State): State {
  const id = state.selected ?? firstProblemNode(state);
  return id === null ? state : inSight(state, id);
}
