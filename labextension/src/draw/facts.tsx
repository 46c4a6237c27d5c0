/** A term and what it means for a node, in a list of facts. */

import type { ComponentChildren } from "preact";
import type { Graph } from "../graph";
import { visible } from "../text";

interface FactProps {
  readonly term: string;
  readonly children: ComponentChildren;
}

export function Fact({ term, children }: FactProps) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** How the source's path was understood, what else its directory holds, what hangs on what. */
export function Notes({ graph }: { readonly graph: Graph }) {
  return (
    <>
      {graph.notes.map((note) => (
        <p key={note} class="ckv-faint">
          {visible(note)}
        </p>
      ))}
    </>
  );
}
