/** The line at the bottom: the roles that occur, as shape, word and number. */

import { ROLES } from "../contract";
import type { Graph } from "../graph";
import type { State } from "../state";
import * as WORDS from "../strings";
import { roleWord } from "../words";
import { RoleIcon } from "./icons";
import type { Dispatch } from "./props";

const counted = new WeakMap<Graph, ReadonlyMap<string, number>>();

interface LegendProps {
  readonly state: State;
  readonly dispatch: Dispatch;
}

export function Legend({ state, dispatch }: LegendProps) {
  const counts = roleCounts(state.graph);
  const shows = state.showsBookkeeping;
  return (
    <ul class="ckv-legend" aria-label={WORDS.legend}>
      {ROLES.filter((role) => counts.has(role)).map((role) => (
        <li key={role}>
          {role === "bookkeeping" ? (
            <label title={WORDS.bookkeeping}>
              <input
                type="checkbox"
                checked={shows}
                onChange={() => dispatch({ type: "showBookkeeping", shows: !shows })}
              />
              <RoleIcon role={role} /> {roleWord(role)} {counts.get(role)}
            </label>
          ) : (
            <>
              <RoleIcon role={role} /> {roleWord(role)} {counts.get(role)}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function roleCounts(graph: Graph): ReadonlyMap<string, number> {
  const known = counted.get(graph);
  if (known !== undefined) {
    return known;
  }
  const counts = new Map<string, number>();
  for (let id = 0; id < graph.size; id++) {
    counts.set(graph.role(id), (counts.get(graph.role(id)) ?? 0) + 1);
  }
  counted.set(graph, counts);
  return counts;
}
