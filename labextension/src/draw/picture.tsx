/** The drawing of all open nodes as a separate SVG file that looks as on the page. */

import { render } from "preact";
import type { State } from "../state";
import * as WORDS from "../strings";
import { Drawing } from "./drawing";
import type { Typesetter } from "./measure";

const MARGIN = 16;
/** The properties of the page's style that the file needs. */
const PROPERTIES = [
  "display",
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "text-decoration-line",
] as const;

export function pictureOf(root: HTMLElement, state: State, typesetter: Typesetter): string {
  const { layout } = state;
  const [width, height] = [layout.width, layout.height].map((size) => size + 2 * MARGIN);
  const camera = { x: MARGIN, y: MARGIN, scale: 1 };
  const whole = { ...state, camera, width, height, selected: null } as State;
  const stage = document.createElement("div");
  stage.className = "ckv-stage";
  root.append(stage);
  try {
    render(<Drawing state={whole} typesetter={typesetter} dispatch={() => {}} />, stage);
    const svg = stage.querySelector("svg");
    if (svg === null) {
      throw new Error(WORDS.noDrawing);
    }
    for (const element of svg.querySelectorAll<SVGElement>("*")) {
      dress(element);
    }
    for (const hidden of svg.querySelectorAll("[display=none], .ckv-toggle")) {
      hidden.remove();
    }
    for (const element of [svg, ...svg.querySelectorAll("*")]) {
      for (const name of ["class", "role", "aria-label", "tabindex", "data-node", "style"]) {
        element.removeAttribute(name);
      }
    }
    svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    svg.setAttribute("width", String(width));
    svg.setAttribute("height", String(height));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    back.setAttribute("width", "100%");
    back.setAttribute("height", "100%");
    back.setAttribute("fill", getComputedStyle(root).backgroundColor);
    svg.prepend(back);
    return new XMLSerializer().serializeToString(svg);
  } finally {
    render(null, stage);
    stage.remove();
  }
}

/** Copies the page's style of an element into its attributes. */
function dress(element: SVGElement): void {
  const style = getComputedStyle(element);
  for (const property of PROPERTIES) {
    const value = style.getPropertyValue(property);
    if (value !== "" && value !== "normal" && (property !== "display" || value === "none")) {
      element.setAttribute(
        property === "text-decoration-line" ? "text-decoration" : property,
        value,
      );
    }
  }
}
