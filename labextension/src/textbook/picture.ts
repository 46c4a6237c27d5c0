/** A picture: a part of the graph, with the places from Graphviz. */

import type { Row } from "../layout/rows";
import type { Part, PartEdge } from "./part";
import type { PlacedEdge, Places } from "./places";

export interface Picture extends Places {
  readonly nodes: readonly Row[];
  readonly edges: readonly (PartEdge & PlacedEdge)[];
}

export type PictureEdge = Picture["edges"][number];

export function pictureOf({ nodes, edges }: Part, places: Places): Picture {
  const placed = places.edges.flatMap((place, index) => {
    const edge = edges[index];
    return edge === undefined ? [] : [{ ...edge, ...place }];
  });
  return { ...places, nodes, edges: placed };
}
