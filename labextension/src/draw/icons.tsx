/** The four shapes, which say a node's kind without its colour. */

import type { Role } from "../contract";

export type Shape = "box" | "pill" | "hexagon" | "chip";

const SHAPES: Readonly<Partial<Record<Role, Shape>>> = {
  variable: "pill",
  optimizer: "hexagon",
  slot: "chip",
};

export function shapeOf(role: Role): Shape {
  return SHAPES[role] ?? "box";
}

/** The outline of a shape of this size, as an SVG path from the left edge's middle at (0, 0). */
export function outline(shape: Shape, width: number, height: number): string {
  const half = height / 2;
  switch (shape) {
    case "hexagon":
      return `M0 0L${half * 0.7} ${-half}H${width - half * 0.7}L${width} 0L${width - half * 0.7} ${half}H${half * 0.7}Z`;
    case "pill":
      return rounded(width, half, half);
    case "box":
      return rounded(width, half, 3);
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

export function RoleIcon({ role }: { readonly role: Role }) {
  return (
    <svg
      class={`ckv-icon ckv-role-${role}`}
      viewBox="-1 -7 18 14"
      width="18"
      height="14"
      aria-hidden="true"
    >
      <path class="ckv-shape" d={outline(shapeOf(role), 16, 10)} />
    </svg>
  );
}
