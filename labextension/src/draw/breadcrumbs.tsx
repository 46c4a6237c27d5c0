/** The path from the root to the node that the view shows alone. */

import * as WORDS from "../basics/strings";
import { visible } from "../basics/text";
import { ROOT } from "../data/graph";
import { ancestors } from "../layout/shown";
import { isNode } from "../state/state";
import type { Showing } from "./props";

export function Breadcrumbs({ state, dispatch }: Showing) {
  const { focus, graph, tree } = state;
  if (focus === ROOT) {
    return null;
  }
  const above = ancestors(tree, focus).filter((id) => isNode(state, id));
  return (
    <nav class="ckv-breadcrumbs" aria-label={WORDS.above}>
      <ol>
        {above.reverse().map((id) => (
          <li key={id}>
            <button
              type="button"
              class="ckv-jump"
              title={id === ROOT ? WORDS.unfocus : WORDS.focus}
              onClick={() => dispatch({ type: "focus", id })}
            >
              {id === ROOT ? WORDS.root : visible(graph.label(id))}
            </button>
          </li>
        ))}
        <li aria-current="true">{visible(graph.label(focus))}</li>
      </ol>
      <button type="button" onClick={() => dispatch({ type: "focus", id: ROOT })}>
        {WORDS.unfocus}
      </button>
    </nav>
  );
}
