/** The ribbon: where the parameters are, as one strip in the order of the layers. */

import { isWithin, segmentsOf } from "../layout/ribbon";
import type { State } from "../state";
import * as WORDS from "../strings";
import { parametersCell, percentWords, rowLabel } from "../words";
import type { Dispatch } from "./props";

interface RibbonProps {
  readonly state: State;
  readonly dispatch: Dispatch;
}

/** Absent where one part holds all parameters. */
export function Ribbon({ state, dispatch }: RibbonProps) {
  const { graph, selected } = state;
  const segments = graph.overlay === null ? segmentsOf(graph) : [];
  if (segments.length === 0) {
    return null;
  }
  const isLit = (row: number) =>
    selected !== null && selected < graph.treeSize && isWithin(graph, row, selected);
  return (
    <ul class="ckv-ribbon" aria-label={WORDS.ribbon}>
      {segments.map(({ row, share }) => {
        const label = rowLabel(graph, row);
        return (
          <li key={row} style={{ flexGrow: share }}>
            <button
              type="button"
              tabIndex={-1}
              class={isLit(row) ? "ckv-lit" : ""}
              title={`${label}: ${parametersCell(graph, row)} ${WORDS.columns.parameters}, ${percentWords(share)}`}
              onClick={() => dispatch({ type: "select", id: row })}
            >
              <span>{label}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
