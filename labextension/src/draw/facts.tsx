/** A term and what it means for a node, in a list of facts. */

import type { ComponentChildren } from "preact";

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
