/** The shapes, which show a node's kind even without colour, and the signs of its state. */

import type { Role } from "../data/contract";
import type { Graph } from "../data/graph";
import { hangingIn } from "../data/layers";
import type { Overlay } from "../data/overlay";
import type { Sign } from "../words/signs";

export type Shape = "box" | "brackets" | "pill" | "hexagon" | "chip";
/** The left end of a box, solid up to its width. */
type Part = "tab";

const SHAPES: Readonly<Partial<Record<Role, Shape>>> = {
  bookkeeping: "brackets",
  container: "brackets",
  variable: "pill",
  optimizer: "hexagon",
  slot: "chip",
};

export function shapeOf(role: Role): Shape {
  return SHAPES[role] ?? "box";
}

/** The outline of a shape of this size, as an SVG path from its left edge's middle at (0, 0). */
export function outline(shape: Shape | Part, width: number, height: number): string {
  const half = height / 2;
  switch (shape) {
    case "hexagon":
      return `M0 0L${half * 0.7} ${-half}H${width - half * 0.7}L${width} 0L${width - half * 0.7} ${half}H${half * 0.7}Z`;
    case "pill":
      return rounded(width, half, half);
    case "box":
      return rounded(width, half, 3);
    case "brackets":
      return `M5 ${-half}H0V${half}H5M${width - 5} ${-half}H${width}V${half}H${width - 5}`;
    case "tab":
      return `M${width} ${-half}V${half}H3a3 3 0 0 1 -3 -3V${3 - half}a3 3 0 0 1 3 -3Z`;
    case "chip":
      return rounded(width, half, 1);
  }
}

function rounded(width: number, half: number, r: number): string {
  const arc = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
  return (
    `M${r} ${-half}H${width - r}${arc(r, r)}V${half - r}${arc(-r, r)}` +
    `H${r}${arc(-r, -r)}V${-half + r}${arc(r, -r)}Z`
  );
}

interface RoleIconProps {
  readonly role: Role;
  /** Whether the node is a variable that training changes. */
  readonly isTrained?: boolean;
}

export function RoleIcon({ role, isTrained = false }: RoleIconProps) {
  return (
    <svg
      class={`ckv-icon ckv-role-${role}${isTrained ? " ckv-trained" : ""}`}
      viewBox="-1 -7 18 14"
      width="18"
      height="14"
      aria-hidden="true"
    >
      <path class="ckv-shape" d={outline(shapeOf(role), 16, 10)} />
      {role === "layer" ? <path class="ckv-tab" d={outline("tab", 6, 10)} /> : null}
    </svg>
  );
}

/** Signs of buttons that some fonts lack, in a square of 12. */
const GLYPHS = {
  copy: "M4.5 4.5h6v6h-6zM2 8h-.5v-6.5h6.5V2",
  fullWindow: "M1.5 5V1.5H5M10.5 7v3.5H7M1.5 1.5l3.5 3.5M10.5 10.5L7 7",
} as const;

export function Glyph({ name }: { readonly name: keyof typeof GLYPHS }) {
  return (
    <svg class="ckv-glyph-icon" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d={GLYPHS[name]} />
    </svg>
  );
}

export const BADGE_RADIUS = 8;

/** A sign in the drawing, around (0, 0). */
export function Badge({ sign }: { readonly sign: Sign }) {
  return (
    <g class={`ckv-badge ckv-${sign.look}`}>
      <circle class="ckv-disc" r={BADGE_RADIUS - 0.5} />
      <text class="ckv-glyph" y={sign.glyph === "…" ? 1 : 4}>
        {sign.glyph}
      </text>
    </g>
  );
}

/** A sign in a line of text with the same meaning. Not SVG: a page soon holds too many of them. */
export function SignIcon({ sign }: { readonly sign: Sign }) {
  return sign.glyph === "" ? null : (
    <span
      class={`ckv-badge ckv-sign ckv-${sign.look}${sign.glyph === "…" ? " ckv-dots" : ""}`}
      aria-hidden="true"
    >
      {sign.glyph}
    </span>
  );
}

/** The line style of a part of a model that an optimizer alone holds. */
export function heldAloneClass(graph: Graph, row: number): string {
  return hangingIn(graph, row) > 0 ? " ckv-ghost" : "";
}

/** The line style of a node: a ghost is not in the program, a deferred node will be later. */
export function lineClass(overlay: Overlay | null, id: number): string {
  if (overlay === null) {
    return "";
  }
  const sign = overlay.cell(id)?.sign ?? "here";
  if (sign === "waits") {
    return " ckv-waiting";
  }
  return overlay.isOther(id) ? ` ckv-ghost${sign === "here" ? "" : " ckv-struck"}` : "";
}
