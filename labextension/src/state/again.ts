/** Another graph in place of the one in sight: what was open and selected stays so. */

import { kept } from "../basics/once";
import { type Graph, ROOT } from "../data/graph";
import { layersOf } from "../data/layers";
import type { Table } from "../data/table";
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
  const placed = samePlaces(named(state.graph), named(graph));
  const [table, nextTable] = [state.graph.table, graph.table];
  const lineAgain =
    table === null || nextTable === null
      ? () => null
      : samePlaces(namedLines(table), namedLines(nextTable));
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

/** A tree with names; null is above its top. */
interface Named {
  above(id: number): number | null;
  below(id: number | null): ArrayLike<number>;
  name(id: number): string;
}

const named = ({ label, treeChildren, treeParent }: Graph): Named => ({
  above: treeParent,
  below: (id) => (id === null ? [ROOT] : treeChildren(id)),
  name: label,
});

const namedLines = (table: Table): Named => ({
  above: table.parent,
  below: table.inside,
  name: (id) => `${table.line(id).saved}\n${table.line(id).live}`,
});

/** Finds what is at the same place of another tree, by the names on its path. */
function samePlaces(from: Named, to: Named): (id: number) => number | null {
  const known = new Map<number, number | undefined>();
  const byName = new Map<number | null, ReadonlyMap<string, number>>();
  const namesBelow = (id: number | null) =>
    new Map(Array.from(to.below(id), (child) => [to.name(child), child]));
  return (id) => {
    const way: number[] = [];
    let node: number | null = id;
    while (node !== null && !known.has(node)) {
      way.push(node);
      node = from.above(node);
    }
    let place: number | null | undefined = node === null ? null : known.get(node);
    for (const step of way.reverse()) {
      place = place === undefined ? place : kept(byName, place, namesBelow).get(from.name(step));
      known.set(step, place);
    }
    return place ?? null;
  };
}
