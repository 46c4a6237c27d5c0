/** What a kernel can do with the selected row, or with all matches of the search. */

import { isNode } from "../state/state";
import { Accessor } from "./accessor";
import { Copies, type CopiesProps } from "./copies";

export function Actions(props: CopiesProps) {
  const { state, node, kernel } = props;
  if (node !== null && !isNode(state, node)) {
    return null;
  }
  return (
    <>
      <Copies key={node ?? state.query} {...props} />
      {node === null || state.graph.origin === "saved" ? null : (
        <Accessor id={node} kernel={kernel} />
      )}
    </>
  );
}
