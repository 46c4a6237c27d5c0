/** The drawing of all open nodes as a separate SVG file that looks as on the page. */

import { render } from "preact";
import { LEVELS } from "../basics/scale";
import * as WORDS from "../basics/strings";
import type { Graph } from "../data/graph";
import type { MeasureName } from "../data/measures";
import { scaleOfMeasure } from "../layout/measured";
import type { State } from "../state/state";
import { Drawing } from "./drawing";
import type { Typesetter } from "./measure";
import { measureWords } from "./measuring";

const MARGIN = 16;
const SCALE_HEIGHT = 24;
const SWATCH = { width: 14, height: 12 } as const;
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
  const { graph, layout, measure } = state;
  let width = layout.width + 2 * MARGIN;
  let height = layout.height + 2 * MARGIN;
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
    if (graph.measures !== null && measure !== null) {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "g");
      svg.append(line);
      render(<Scale {...{ graph, measure }} />, line);
      width = Math.max(width, spread(line, height) + MARGIN);
      height += SCALE_HEIGHT;
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

/** The colours of a measure with their numbers, as a line of the picture. */
function Scale({ graph, measure }: { readonly graph: Graph; readonly measure: MeasureName }) {
  const { low, high, isCut } = scaleOfMeasure(graph, measure);
  return (
    <>
      <text class="ckv-box-name">{WORDS.measures[measure]}</text>
      <text>{measureWords(measure, low)}</text>
      <g>
        {Array.from({ length: LEVELS }, (_, level) => (
          <Swatch key={level} level={level + 1} x={level * SWATCH.width} />
        ))}
      </g>
      <text>
        {measureWords(measure, high)}
        {isCut ? ` ${WORDS.andMore}` : ""} {WORDS.logScale}
      </text>
      <Swatch level={0} x={0} />
      <text>{WORDS.zero}</text>
    </>
  );
}

function Swatch({ level, x }: { readonly level: number; readonly x: number }) {
  return <rect class={`ckv-picture-swatch ckv-level-${level}`} {...SWATCH} {...{ x }} y={-10} />;
}

/** Places the parts of a line one after the other; returns where it ends. */
function spread(line: SVGGElement, y: number): number {
  let x = MARGIN;
  for (const part of line.querySelectorAll<SVGGraphicsElement>(":scope > *")) {
    part.setAttribute("transform", `translate(${x} ${y})`);
    x += part.getBBox().width + 8;
  }
  return x;
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
