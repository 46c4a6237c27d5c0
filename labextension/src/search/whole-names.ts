/** The nodes of which a query is the whole name; ckpt_viz/graphs/search/whole_names.py does the same. */

import { ROOT, type Slot } from "../data/graph";
import { layersOf } from "../data/layers";
import { type Index, type Marks, ROOT_NAME, type Way, where } from "./index";
import { withoutOutput } from "./pasted";

const SEPARATORS = [".", "/", " › "]; // the last is between a block and its layer in the outline

const ATTRIBUTES = "/.attributes/"; // behind the key of an object

/** The nodes with this name or path, in any form in which Python and the view print it. */
export function withWholeName(query: string, index: Index): Marks {
  const { graph, ownNames, ways } = index;
  const text = query.toLowerCase().replace(`${ROOT_NAME}…`, "…");
  const own = [text, text.replaceAll(" › ", "_"), withoutOutput(text) || text];
  const isAt = (path: string, id: number) => ways.some((way) => isPath(path, id, way));
  const isStateOf = ({ name, variable }: Slot) =>
    [`the state '${name.toLowerCase()}' of `, `${name.toLowerCase()} of `].some(
      (words) => text.startsWith(words) && isAt(text.slice(words.length), variable),
    );
  const [isKey, isState] = [text.includes(ATTRIBUTES), text.includes(" of ")];
  const marks = where(index, (id) => {
    if (id === ROOT) {
      return text === ROOT_NAME || text === "the root";
    }
    const slot = isState ? graph.slot(id) : null;
    return (
      ownNames[id]?.some((name) => own.includes(name)) ||
      isAt(text, id) ||
      (slot !== null && isStateOf(slot)) ||
      (isKey &&
        graph
          .attributes(id)
          .some((one) => objectKey(one.checkpointKey.toLowerCase()) === objectKey(text)))
    );
  });
  const layers = marks.includes(1) ? null : layersOf(graph);
  return layers === null
    ? marks
    : where(index, (id) => id !== ROOT && layers.label(id).toLowerCase() === text);
}

/** The key of the object that a key of a tensor begins with: a table has several. */
function objectKey(key: string): string {
  return key.split(ATTRIBUTES)[0] ?? "";
}

/** Whether a text is the path to a node on a way. */
function isPath(text: string, id: number, { above, names }: Way): boolean {
  let rest = text;
  for (let node = id; node !== ROOT; node = above[node] ?? ROOT) {
    const separator = SEPARATORS.find((sign) => node === id || rest.endsWith(sign));
    rest = node === id ? rest : rest.slice(0, rest.length - `${separator}`.length);
    const name = names[node] ?? "";
    if (rest.startsWith("…") && name.endsWith(rest.slice(1))) {
      return true; // the name was too long to print
    }
    if (separator === undefined || !rest.endsWith(name)) {
      return false;
    }
    rest = rest.slice(0, rest.length - name.length);
  }
  return rest === "" || rest === `${ROOT_NAME}.` || rest === `${ROOT_NAME}/`;
}
