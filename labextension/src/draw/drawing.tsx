/** The drawing: the visible tree as SVG. Only the part in sight has elements. */

import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { visible } from "../basics/text";
import { type Graph, ROOT } from "../data/graph";
import { type FlowPath, flowPaths } from "../layout/flow-paths";
import { linkPath, linksOf } from "../layout/links";
import { BAD_SIGN } from "../layout/measured";
import type { Row } from "../layout/rows";
import { BOX_HEIGHT, type Box, PITCH, SPINE } from "../layout/tidy";
import { isNode, type State } from "../state/state";
import {
  chunkCount,
  chunkLabel,
  comparedWords,
  givenShape,
  isTrained,
  placeName,
} from "../words/words";
import { Badge, heldAloneClass, lineClass, outline, shapeOf } from "./icons";
import { type Look, lookOf } from "./look";
import {
  type BoxParts,
  besideX,
  placesIn,
  TAB_WIDTH,
  TWISTY_WIDTH,
  type Typesetter,
} from "./measure";
import { rootOf } from "./parts";
import type { Dispatch, Showing } from "./props";
import { zoomOf } from "./zoom";

const WHEEL_ZOOM = 0.002;
const DRAG_THRESHOLD = 3;
/** From the lower edge of a box to the shape that it gives. */
const SHAPE_BASELINE = 14;
/** Below the first scale only names are large enough to read. Below the second, no text is. */
const SCALE_OF_BOXES = 0.55;
const SCALE_OF_BLOCKS = 0.3;

export interface DrawingProps extends Showing {
  readonly typesetter: Typesetter;
}

export function Drawing({ state, typesetter, dispatch }: DrawingProps) {
  const svg = useRef<SVGSVGElement>(null);
  const { camera, rows, layout } = state;
  useGlide(svg, state);
  const seen = rowsInSight(state);
  const detail =
    camera.scale < SCALE_OF_BLOCKS ? "blocks" : camera.scale < SCALE_OF_BOXES ? "boxes" : "all";
  return (
    <Canvas {...{ svg, dispatch }} look={` ckv-shows-${detail}`} label={WORDS.drawing}>
      <g class="ckv-camera" {...placedAt(camera.x, camera.y, camera.scale)}>
        <Panels state={state} />
        <TreeEdges state={state} />
        <Flow state={state} />
        <Links state={state} />
        {seen.map((index) => {
          const row = rows[index];
          const box = layout.boxes[index];
          return row === undefined || box === undefined ? null : (
            <NodeBox
              key={row.id}
              graph={state.graph}
              {...{ row, box }}
              width={box.outline}
              isHead={box.panel !== null}
              isSelected={row.id === state.selected}
              isMatch={state.found.isMatch[row.id] === 1}
              look={lookOf(state, row)}
              {...{ typesetter, dispatch }}
            />
          );
        })}
      </g>
    </Canvas>
  );
}

interface CanvasProps {
  readonly svg: RefObject<SVGSVGElement | null>;
  /** Classes. */
  readonly look?: string;
  readonly label: string;
  readonly dispatch: Dispatch;
  readonly children: ComponentChildren;
}

/** The place of a drawing, which pointers and the wheel move. */
export function Canvas({ svg, look = "", label, dispatch, children }: CanvasProps) {
  useLayoutEffect(() => (svg.current === null ? undefined : listen(svg.current, dispatch)), []);
  return (
    <svg ref={svg} class={`ckv-drawing${look}`} role="application" aria-label={label} tabindex={0}>
      {children}
    </svg>
  );
}

/** In ms; style/explorer.css has the same. */
const GLIDE = 150;

/** Lets boxes and camera glide to a new layout together, so that the box of a click rests. */
function useGlide(svg: RefObject<SVGSVGElement | null>, { graph, layout }: State): void {
  const before = useRef({ graph, layout });
  useLayoutEffect(() => {
    const element = svg.current;
    // Another graph has other nodes at the same ids, so its boxes are at their places at once.
    const isNew = before.current.layout !== layout && before.current.graph === graph;
    before.current = { graph, layout };
    if (element === null || !isNew) {
      return;
    }
    element.classList.add("ckv-gliding");
    const timer = setTimeout(() => element.classList.remove("ckv-gliding"), GLIDE);
    return () => clearTimeout(timer);
  }, [layout]);
}

/** A place as an attribute, which every program reads, and as a style, which can change slowly. */
function placedAt(x: number, y: number, scale = 1) {
  return {
    transform: `translate(${x} ${y}) scale(${scale})`,
    style: { transform: `translate(${x}px, ${y}px) scale(${scale})` },
  };
}

interface NodeBoxProps {
  readonly graph: Graph;
  readonly row: Row;
  readonly box: Pick<Box, "x" | "y">;
  /** The width of the outline. */
  readonly width: number;
  /** Whether it is at the top of a panel around other boxes. */
  readonly isHead?: boolean;
  readonly isSelected: boolean;
  readonly isMatch: boolean;
  readonly look: Look;
  readonly typesetter: Typesetter;
  readonly dispatch: Dispatch;
}

export function NodeBox(props: NodeBoxProps) {
  const { graph, row, box, width, isSelected, isMatch, look, typesetter, dispatch } = props;
  const { chunk, id } = row;
  const parts = typesetter.parts(row);
  const role = chunk === null ? graph.role(id) : null;
  const isLost = (chunk?.group?.lost ?? "") !== "";
  const line =
    chunk === null
      ? lineClass(graph.overlay, id) || heldAloneClass(graph, id)
      : isLost
        ? " ckv-ghost"
        : "";
  const shape = role === null ? "box" : shapeOf(role);
  const trained = role !== null && isTrained(graph, id) ? " ckv-trained" : "";
  return (
    <g
      class={`ckv-node ckv-role-${role ?? "chunk"}${trained}${line}${look.fill}${isSelected ? " ckv-selected" : ""}`}
      {...placedAt(box.x, box.y)}
      data-node={id}
      onClick={() => dispatch({ type: "select", id })}
      onDblClick={() => dispatch({ type: "toggle", id })}
    >
      <title>
        {[boxTitle(graph, row), look.words, look.bad].filter((one) => one !== "").join(", ")}
      </title>
      {isMatch ? frame("ckv-found", width, 3) : null}
      {isSelected ? frame("ckv-halo", width, 4) : null}
      {role === null && !row.isExpanded && !isLost ? (
        <path class="ckv-shape" d={outline("box", width, BOX_HEIGHT)} transform="translate(3 3)" />
      ) : null}
      <path
        class={props.isHead ? "ckv-shape ckv-panel-head" : "ckv-shape"}
        d={outline(shape, width, BOX_HEIGHT)}
      />
      {look.isLined ? (
        <rect class="ckv-measure-line" x={8} y={7} width={width - 16} height={3} />
      ) : null}
      {parts.tab === null ? null : layerTab(parts.tab)}
      {boxWords(parts, width)}
      {row.childCount > 0 ? toggleButton(row, width, dispatch) : null}
      {parts.beside === "" ? null : (
        <text class={`ckv-beside ckv-${parts.besideLook}`} x={besideX(width, row)} y={4}>
          {parts.beside}
        </text>
      )}
      {look.bad === "" ? null : badSign(look.bad, besideX(width, row) + parts.besideWidth)}
    </g>
  );
}

// The parts of a box are functions, not components, since a drawing has many boxes at once.

/** The frame around a box that marks it, for example as selected. */
function frame(look: string, width: number, margin: number) {
  return (
    <rect
      class={look}
      x={-margin}
      y={-BOX_HEIGHT / 2 - margin}
      width={width + 2 * margin}
      height={BOX_HEIGHT + 2 * margin}
      rx={margin + 2}
    />
  );
}

/** The word for NaN or infinities in a row, beside its box. */
function badSign(word: string, x: number) {
  return (
    <g class="ckv-bad-sign" transform={`translate(${x + BAD_SIGN.width / 2} 0)`}>
      <rect x={-BAD_SIGN.width / 2} y={-7.5} width={BAD_SIGN.width} height={15} rx={3} />
      <text y={4}>{word}</text>
    </g>
  );
}

/** The solid end of a layer's box, with the sign of its family. */
function layerTab(sign: string) {
  return (
    <g class="ckv-tab">
      <path d={outline("tab", TAB_WIDTH, BOX_HEIGHT)} />
      <path class="ckv-family" d={sign} transform={`translate(${TAB_WIDTH / 2 - 6} -6)`} />
    </g>
  );
}

/** The content of a box: the sign of its state, name and kind, the chips of slots. */
function boxWords(parts: BoxParts, width: number) {
  const { badge, chips, kind, name, nameX, shared } = parts;
  const { chipsX, kindX, sharedX } = placesIn(parts, width);
  return (
    <>
      {badge === null ? null : (
        <g transform={`translate(${badge.x} 0)`}>
          <Badge sign={badge.sign} />
        </g>
      )}
      {name === "" ? null : (
        <text class="ckv-box-name" x={nameX} y={4}>
          {name}
        </text>
      )}
      <text class="ckv-box-text" x={kindX} y={4}>
        {kind}
      </text>
      {chips.map(({ letters, width: chip }, place) => (
        <g key={place} class="ckv-role-slot" transform={`translate(${chipsX[place]} 0)`}>
          <path class="ckv-shape" d={outline("chip", chip, 16)} />
          <text class="ckv-chip-text" x={chip / 2} y={4}>
            {letters}
          </text>
        </g>
      ))}
      {shared === "" ? null : (
        <text class="ckv-shared-text" x={sharedX} y={4}>
          {shared}
        </text>
      )}
    </>
  );
}

function toggleButton({ id, isExpanded }: Row, x: number, dispatch: Dispatch) {
  return (
    <g
      class="ckv-toggle"
      transform={`translate(${x} 0)`}
      onClick={(event) => {
        event.stopPropagation();
        dispatch({ type: "toggle", id });
      }}
      onDblClick={(event) => event.stopPropagation()}
    >
      <rect x={0} y={-BOX_HEIGHT / 2} width={TWISTY_WIDTH} height={BOX_HEIGHT} />
      <circle cx={TWISTY_WIDTH / 2 + 2} cy={0} r={6.5} />
      <path d={`M${TWISTY_WIDTH / 2 - 1} 0h6${isExpanded ? "" : "m-3 -3v6"}`} />
    </g>
  );
}

function boxTitle(graph: Graph, { chunk, id }: Row): string {
  if (chunk !== null) {
    return `${chunkLabel(graph, chunk)} (${chunkCount(chunk)})`;
  }
  const comparison = comparedWords(graph, id);
  return [`${visible(placeName(graph, id))} (${graph.role(id)})`, ...comparison].join(", ");
}

/** Open groups and parts of long lists, around their rows. */
function Panels({ state }: { readonly state: State }) {
  const { top, bottom } = sight(state);
  return (
    <g aria-hidden="true">
      {state.layout.boxes.map(({ panel }, index) =>
        panel === null || panel.bottom < top || panel.top > bottom ? null : (
          <rect
            key={state.rows[index]?.id}
            class="ckv-panel"
            x={panel.left}
            y={panel.top}
            width={panel.right - panel.left}
            height={panel.bottom - panel.top}
            rx={5}
          />
        ),
      )}
    </g>
  );
}

/** The edges of the tree: per open node one path, another for slots, a third for ghosts. */
function TreeEdges({ state }: { readonly state: State }) {
  const { top, bottom } = sight(state);
  const solid: string[] = [];
  const dashed: string[] = [];
  const dotted: string[] = [];
  const { graph } = state;
  const isSpanDrawn = new Set<number>();
  state.rows.forEach((row, index) => {
    const parent = state.layout.boxes[row.parentRow];
    const box = state.layout.boxes[index];
    if (parent === undefined || box === undefined || parent.panel !== null) {
      return;
    }
    const isGhost = row.chunk === null && graph.overlay?.isOther(row.id) === true;
    const lines = isGhost ? dotted : graph.role(row.id) === "slot" ? dashed : solid;
    if (box.y > top && box.y < bottom) {
      lines.push(`M${parent.bus} ${box.y}H${box.x}`);
    }
    if (!isSpanDrawn.has(row.parentRow) && parent.lastChildY > top && parent.firstChildY < bottom) {
      isSpanDrawn.add(row.parentRow);
      const isOfGhost = graph.overlay?.isOther(state.rows[row.parentRow]?.id ?? ROOT) === true;
      const spans = isOfGhost ? dotted : graph.role(row.id) === "slot" ? dashed : solid;
      const from = Math.max(parent.firstChildY, top);
      const to = Math.min(parent.lastChildY, bottom);
      spans.push(
        `M${parent.x + parent.width} ${parent.y}H${parent.bus}M${parent.bus} ${from}V${to}`,
      );
    }
  });
  return (
    <g class="ckv-edges" aria-hidden="true">
      <path class="ckv-edge" d={solid.join("")} />
      <path class="ckv-edge ckv-slot-edge" d={dashed.join("")} />
      <path class="ckv-edge ckv-ghost-edge" d={dotted.join("")} />
    </g>
  );
}

/** The calls between layers, where the source knows them. Those of the selected row are on top. */
function Flow({ state }: { readonly state: State }) {
  const { flows, graph, layout, rowOf, rows, selected } = state;
  const paths = useMemo(() => flowPaths(flows, layout), [flows, layout]);
  const row = rowOf.get(selected ?? -1);
  const sightOf = sight(state);
  const seen = paths.filter(({ top, bottom }) => bottom > sightOf.top && top < sightOf.bottom);
  const isLit = ({ source, takers }: FlowPath) =>
    row !== undefined && (source === row || takers.includes(row));
  const drawn = (lit: boolean) =>
    seen
      .filter((path) => isLit(path) === lit)
      .map(({ path }) => path)
      .join("");
  return seen.length === 0 ? null : (
    <g class="ckv-calls" aria-hidden="true">
      <path class="ckv-call" d={drawn(false)} />
      <path class="ckv-call ckv-lit" d={drawn(true)} />
      {shapesOf(graph, rows, seen).map(([from, shape]) => {
        const { x = 0, y = 0, panel = null } = layout.boxes[from] ?? {};
        return (
          <text
            key={from}
            class="ckv-call-shape"
            x={x + SPINE + 7}
            y={(panel?.bottom ?? y + BOX_HEIGHT / 2) + SHAPE_BASELINE}
          >
            {shape}
          </text>
        );
      })}
    </g>
  );
}

/** The shape that each row gives, unless the first row that feeds it gives the same. */
function shapesOf(
  graph: Graph,
  rows: readonly Row[],
  paths: readonly FlowPath[],
): readonly (readonly [row: number, shape: string])[] {
  const gives = (row: number): string => givenShape(graph, rows[row]?.id ?? ROOT);
  const fed = new Map<number, number>();
  for (const { source, takers } of paths) {
    for (const taker of takers) {
      fed.set(taker, fed.get(taker) ?? source);
    }
  }
  return [...new Set(paths.map(({ source }) => source))].flatMap((row) => {
    const before = fed.get(row);
    const shape = gives(row);
    return shape === "" || (before !== undefined && gives(before) === shape)
      ? []
      : [[row, shape] as const];
  });
}

/** The selected node's other links, as far as their ends are not folded away. */
function Links({ state }: { readonly state: State }) {
  const { graph, layout, rowOf, selected } = state;
  const links = selected === null || !isNode(state, selected) ? [] : linksOf(graph, selected);
  const boxOf = (id: number): Box | undefined => {
    const box = layout.boxes[rowOf.get(id) ?? -1];
    return box === undefined ? undefined : nearSight(box, state);
  };
  return (
    <g class="ckv-links" aria-hidden="true">
      {links.map(({ from, to, kind }) => {
        const [a, b] = [boxOf(from), boxOf(to)];
        return a === undefined || b === undefined ? null : (
          <path
            key={`${from} ${to} ${kind}`}
            class={`ckv-link ckv-${kind}-link`}
            d={linkPath(a, b, kind)}
          />
        );
      })}
    </g>
  );
}

/**
 * The box or, if it is far out of sight, a point just out of sight in its direction. Dots to the
 * other end of a large drawing would take longer to paint than everything else.
 */
function nearSight(box: Box, state: State): Box {
  const { left, top, right, bottom } = sight(state);
  const within = (low: number, value: number, high: number) => Math.min(Math.max(value, low), high);
  return {
    ...box,
    x: within(left - box.width - PITCH, box.x, right + PITCH),
    y: within(top - PITCH, box.y, bottom + PITCH),
  };
}

/** The part of the drawing in sight, in the drawing's coordinates, and a margin. */
function sight({ camera, width, height }: State) {
  const left = -camera.x / camera.scale;
  const top = -camera.y / camera.scale - PITCH;
  return {
    left,
    top,
    right: left + width / camera.scale,
    bottom: top + height / camera.scale + 2 * PITCH,
  };
}

/** The rows with anything in sight: the box, or the edge before it. */
function rowsInSight(state: State): readonly number[] {
  const { left, top, right, bottom } = sight(state);
  const seen: number[] = [];
  state.layout.boxes.forEach((box, index) => {
    const start = state.layout.boxes[state.rows[index]?.parentRow ?? ROOT]?.bus ?? box.x;
    if (
      box.y > top &&
      box.y < bottom &&
      box.x + box.width > left &&
      Math.min(start, box.x) < right
    ) {
      seen.push(index);
    }
  });
  return seen;
}

/** Dragging pans. The wheel pans once the explorer has the focus; with Ctrl it zooms. */
function listen(svg: SVGSVGElement, dispatch: Dispatch): () => void {
  let drag: { x: number; y: number; moved: boolean } | null = null;
  svg.addEventListener(
    "wheel",
    (event) => {
      const bounds = svg.getBoundingClientRect();
      const zoom = zoomOf(svg);
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const factor = Math.exp(-event.deltaY * WHEEL_ZOOM);
        const [x, y] = [(event.clientX - bounds.left) / zoom, (event.clientY - bounds.top) / zoom];
        dispatch({ type: "zoom", factor, x, y });
      } else if (rootOf(svg)?.contains(document.activeElement) === true) {
        event.preventDefault();
        const [dx, dy] = event.shiftKey ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
        dispatch({ type: "pan", dx: -dx / zoom, dy: -dy / zoom });
      }
    },
    { passive: false },
  );
  svg.addEventListener("pointerdown", (event) => {
    if (event.button === 0) {
      drag = { x: event.clientX, y: event.clientY, moved: false };
    }
  });
  svg.addEventListener("pointermove", (event) => {
    if (drag === null || (event.buttons & 1) === 0) {
      drag = null;
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < DRAG_THRESHOLD) {
      return;
    }
    if (!drag.moved) {
      svg.setPointerCapture(event.pointerId);
    }
    drag = { x: event.clientX, y: event.clientY, moved: true };
    const zoom = zoomOf(svg);
    dispatch({ type: "pan", dx: dx / zoom, dy: dy / zoom });
  });
  const observer = new ResizeObserver(() =>
    dispatch({ type: "resize", width: svg.clientWidth, height: svg.clientHeight }),
  );
  observer.observe(svg);
  return () => observer.disconnect();
}
