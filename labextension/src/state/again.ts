/** Another graph in place of the one in sight: what was open and selected stays so. */

import { type Graph, ROOT } from "../data/graph";
import { layersOf } from "../data/layers";
import { linesAbove, type Table } from "../data/table";
import { initialExpansion } from "../layout/rows";
import { ancestors, shownTree } from "../layout/shown";
import { searched, WAITING } from "../search/found";
import { box, firstRowInSight, moved } from "./camera";
import { keptBySearch } from "./opening";
import { hasDifferences } from "./problems";
import { arrange, type State, usualDrawing } from "./state";

/**
 * Replaces the graph by another one, or by a later version of it. Open, selected and visible nodes
 * stay so if the new graph has a node at the same place in the tree.
 */
export function load(state: State, loaded: Graph): State {
  const graph = (state.graph.objects === null ? null : layersOf(loaded)) ?? loaded;
  const placed = placesIn(state.graph, graph);
  const lineAgain = linesIn(state.graph.table, graph.table);
  const found = state.found.isWaiting ? WAITING : searched(graph, state.query);
  const { isDefaultExpansion, mode, showsBookkeeping } = state;
  // Once no problem is left, a view of problems alone would be empty, so it shows everything.
  const onlyChanges = state.onlyChanges && hasDifferences(graph);
  const tree = shownTree(
    graph,
    showsBookkeeping,
    onlyChanges,
    keptBySearch({ found, mode }),
    state.sort,
  );
  const again = (id: number): number | null => {
    const chunk = state.tree.chunk(id);
    const place = placed(chunk?.firstChild ?? id);
    return chunk === null || place === null
      ? place
      : (ancestors(tree, place).find((above) => tree.chunk(above)?.level === chunk.level) ?? null);
  };
  const focus = again(state.focus) ?? ROOT;
  const selected = state.selected === null ? null : again(state.selected);
  const kept = [...state.expanded].map(again).filter((id) => id !== null);
  const expanded = isDefaultExpansion
    ? new Set([...initialExpansion({ ...state, graph, tree, onlyChanges }), ...kept])
    : new Set(kept);
  const next = arrange({
    ...state,
    ...{ graph, onlyChanges, tree, focus, found, selected, expanded },
    drawn: isOfOneKind(state.graph, graph) ? state.drawn : usualDrawing(graph),
    openedBefore: null,
    openLines: new Set([...state.openLines].map(lineAgain).filter((line) => line !== null)),
    line: state.line === null ? null : lineAgain(state.line),
    around: null,
    picture: null,
    // A file that was read again comes without what its values measure.
    measure: graph.measures === null ? null : state.measure,
  });
  const anchor = state.selected ?? state.rows[firstRowInSight(state)]?.id ?? ROOT;
  const before = box(state, anchor);
  const after = box(next, again(anchor) ?? ROOT);
  const { scale } = state.camera;
  return before === undefined || after === undefined
    ? next
    : moved(next, (before.x - after.x) * scale, (before.y - after.y) * scale);
}

/** Whether both are comparisons, or neither. */
function isOfOneKind(a: Graph, b: Graph): boolean {
  return (a.table === null) === (b.table === null);
}

/** Finds the line of another table with the same names, inside of lines with the same names. */
function linesIn(from: Table | null, to: Table | null): (id: number) => number | null {
  const inside = new Map<number | null, ReadonlyMap<string, number>>();
  const nameOf = (table: Table, id: number) => {
    const { live, saved } = table.line(id);
    return `${saved}\n${live}`;
  };
  const namesIn = (table: Table, parent: number | null) => {
    const names =
      inside.get(parent) ?? new Map(table.inside(parent).map((id) => [nameOf(table, id), id]));
    inside.set(parent, names);
    return names;
  };
  return (id) => {
    let place: number | null = null;
    for (const line of from === null ? [] : [id, ...linesAbove(from, id)].reverse()) {
      const next: number | undefined =
        from === null || to === null ? undefined : namesIn(to, place).get(nameOf(from, line));
      if (next === undefined) {
        return null;
      }
      place = next;
    }
    return place;
  };
}

/** Finds the node at the same place of another graph, by the names on its path in the tree. */
function placesIn(from: Graph, to: Graph): (id: number) => number | null {
  const known = new Map<number, number | null>([[ROOT, ROOT]]);
  const byName = new Map<number, ReadonlyMap<string, number>>();
  const namesOf = (id: number): ReadonlyMap<string, number> => {
    const names =
      byName.get(id) ??
      new Map(Array.from(to.treeChildren(id), (child) => [to.label(child), child]));
    byName.set(id, names);
    return names;
  };
  return (id) => {
    const way: number[] = [];
    let node: number | null = id;
    while (node !== null && !known.has(node)) {
      way.push(node);
      node = from.treeParent(node);
    }
    let place = node === null ? null : (known.get(node) ?? null);
    for (const step of way.reverse()) {
      place = place === null ? null : (namesOf(place).get(from.label(step)) ?? null);
      known.set(step, place);
    }
    return place;
  };
}
