/** The whole drawing as a strip: the part in sight, the problems and the matches. */

import { useMemo } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { callingForALook, nearestRow } from "../layout/rows";
import { onArrows } from "./arrows";
import type { Showing } from "./props";
import { zoomOf } from "./zoom";

const WIDTH = 14;
const LEAST_SIGHT = 12;

interface MinimapProps extends Showing {
  readonly id: string;
}

/** Empty while the whole drawing is in sight. */
export function Minimap({ state, id, dispatch }: MinimapProps) {
  const { camera, found, graph, height, layout, onlyChanges, rowOf, tree } = state;
  const scale = height / Math.max(layout.height, 1);
  const ticks = useMemo(() => {
    const places = (ids: Iterable<number>): readonly number[] => {
      const seen = new Set<number>();
      for (const id of ids) {
        const box = layout.boxes[rowOf.get(nearestRow(tree, rowOf, id) ?? -1) ?? -1];
        if (box !== undefined) {
          seen.add(Math.round(box.y * scale));
        }
      }
      return [...seen];
    };
    return {
      problems: places(callingForALook(graph, onlyChanges)),
      matches: places(found.matches),
    };
  }, [graph, onlyChanges, layout, found, scale]);
  const inSight = height / camera.scale;
  if (height === 0 || inSight >= layout.height) {
    return null;
  }
  const sightHeight = Math.max(inSight * scale, LEAST_SIGHT);
  const top = (-camera.y / camera.scale) * scale;
  const bounded = Math.min(Math.max(top, 0), Math.max(height - sightHeight, 0));
  const percent = Math.round((bounded / Math.max(height - sightHeight, 1)) * 100);
  const goTo = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const y = event.clientY - event.currentTarget.getBoundingClientRect().top;
    dispatch({ type: "centre", y: y / scale / zoomOf(event.currentTarget) });
  };
  return (
    <div
      class="ckv-minimap"
      role="scrollbar"
      aria-controls={`${id}-drawing`}
      aria-label={WORDS.overview}
      aria-orientation="vertical"
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      tabIndex={0}
      onKeyDown={onArrows({ ArrowUp: 1, ArrowDown: -1 }, (by) =>
        dispatch({ type: "pan", dx: 0, dy: (by * height) / 2 }),
      )}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        goTo(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) {
          goTo(event);
        }
      }}
      title={WORDS.overview}
    >
      <svg width={WIDTH} height={height} aria-hidden="true">
        <path class="ckv-match-ticks" d={ticks.matches.map((y) => `M0 ${y}h5`).join("")} />
        <path class="ckv-problem-ticks" d={ticks.problems.map((y) => `M5 ${y}h9`).join("")} />
        <rect class="ckv-sight" x={0.5} y={bounded} width={WIDTH - 1} height={sightHeight} rx={2} />
      </svg>
    </div>
  );
}
