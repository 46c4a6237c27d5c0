/** The line at the bottom: the roles that occur, as shape, word and number. */

import { oncePer } from "../basics/once";
import * as WORDS from "../basics/strings";
import { ROLES } from "../data/contract";
import type { Graph } from "../data/graph";
import type { State } from "../state/state";
import { RoleIcon } from "./icons";

interface LegendProps {
  readonly state: State;
}

export function Legend({ state }: LegendProps) {
  const counts = roleCounts(state.graph);
  return (
    <ul class="ckv-legend" aria-label={WORDS.legend}>
      {ROLES.filter((role) => counts.has(role)).map((role) => (
        <li key={role}>
          <RoleIcon role={role} /> {role} {counts.get(role)}
        </li>
      ))}
      <Lines state={state} />
    </ul>
  );
}

/** What the lines of the drawing mean; only a model that tells its calls has lines for them. */
function Lines({ state: { drawn, graph } }: Pick<LegendProps, "state">) {
  const hasCalls = graph.objects !== null && graph.calls !== null;
  const shown = drawn === "tree" && hasCalls ? Object.entries(WORDS.lines) : [];
  return shown.map(([look, words]) => (
    <li key={look}>
      <svg width="18" height="8" aria-hidden="true">
        <path class={`ckv-${look}`} d={look === "call" ? "M0 4h17m-4 -3l4 3l-4 3" : "M0 4h18"} />
      </svg>{" "}
      {words}
    </li>
  ));
}

const roleCounts = oncePer((graph: Graph): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (let id = 0; id < graph.size; id++) {
    counts.set(graph.role(id), (counts.get(graph.role(id)) ?? 0) + 1);
  }
  return counts;
});
