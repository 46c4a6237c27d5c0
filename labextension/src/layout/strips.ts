/** Both sides of a comparison in proportion to their parameters, in the order of the table. */

import { oncePer } from "../basics/once";
import type { TableCell } from "../data/contract";
import type { Graph } from "../data/graph";
import type { OfSide } from "../data/overlay";
import type { Line, Table } from "../data/table";
import { elements } from "./totals";

export interface StripPart {
  readonly line: Line;
  /** What finally happens to its values: by the fix or, without one, by the call. */
  readonly cell: TableCell;
  /** The number of parameters. */
  readonly share: number;
}

/** More parts are too narrow to tell apart. */
const MAX_PARTS = 120;

/** The outer lines of the saved side and of the live one that have parameters there. */
export const stripsOf = oncePer((graph: Graph): readonly (readonly StripPart[])[] =>
  graph.table === null
    ? []
    : [stripOf(graph, graph.table, "saved"), stripOf(graph, graph.table, "live")],
);

function stripOf(graph: Graph, table: Table, side: OfSide): readonly StripPart[] {
  const lines = table.inside(null).slice(0, MAX_PARTS).map(table.line);
  return lines.flatMap((line): readonly StripPart[] => {
    const nodes = line[side] === "" ? [] : table.nodesIn(line.id, side);
    const share = nodes.reduce((sum, node) => sum + elementsOf(graph, node, side), 0);
    return share === 0 ? [] : [{ line, cell: line.fixed ?? line.plain, share }];
  });
}

/** How many parameters a node has on a side; slot variables have none. */
function elementsOf(graph: Graph, node: number, side: OfSide): number {
  if (graph.slot(node) !== null) {
    return 0;
  }
  const saved = side === "saved" ? graph.overlay?.savedElements(node) : null;
  return saved ?? elements(graph, node);
}
