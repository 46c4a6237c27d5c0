/**
 * Finds the nodes in a text of TensorFlow that the user pastes into the search box; as in
 * ckpt_viz/graphs/search/pasted.py.
 */

import { type Attribute, type Graph, ROOT } from "../data/graph";
import { both, firstChildren, type Index, type Marks, ROOT_NAME, whereValue } from "./index";
import { BLANKS, stripped } from "./syntax";

const MAX_NAMES = 100;
const BEFORE = `(?:^|[${BLANKS}]|['"\`\\[({<])`;
const SENTENCES: readonly RegExp[] = [
  /\bKey ([^\n]{1,1000}?) not found in checkpoint/g,
  /\bTensor name "([^"]{1,1000})" not found/g,
  /\bvariable with shape \([0-9, ]{0,200}\) and name ([^ ]{1,1000})/g,
  /\btensor_name = ([^ ;]{1,1000}); expected dtype/g,
  /\bVariable '([^']{1,1000})'/g,
  /\bVariable path=([^ ,>]{1,1000})/g,
];
/** A name or a key by itself, not behind a field: `(root).model`, not `under:(root)`. */
const NAME = new RegExp(`${BEFORE}\\(root\\)`);
const WORD = new RegExp(`(:?)([^:${BLANKS}]+)`, "g");
const OF_KEY = "/.ATTRIBUTES/";
/** As TensorFlow prints it, `(3, 2)` or `()`, and as ckpt-viz does, `3×2` or `scalar`. */
const SHAPE = /\bshape[ =](\([0-9, ]{0,200}\)|[0-9×]{1,200}(?![0-9×?])|scalar\b)/g;
const ENDS = new RegExp(`$|[${BLANKS}:,;'"\`\\])}>]|\\.(?:$|[${BLANKS}])`, "y");
const AROUND = "'\"`,;()[]{}<>";

/** Whether a text is TensorFlow's, not a query. */
export function isPasted(text: string): boolean {
  const hasSign = [NAME, ...SENTENCES].some((sign) => text.search(sign) >= 0);
  return hasSign || [...text.matchAll(WORD)].some(hasKey);
}

function hasKey([, colon, word = ""]: RegExpMatchArray): boolean {
  const at = word.lastIndexOf(OF_KEY);
  return at >= 0 && (colon === "" || /['"`[({<]/.test(word.slice(0, at)));
}

/** The parts of a text that may name a node: positions of `(root)`, words, full names, shapes. */
export interface Named {
  readonly roots: readonly number[];
  readonly words: ReadonlySet<string>;
  readonly fullNames: ReadonlySet<string>;
  readonly shapes: ReadonlySet<string>;
}

export function named(text: string): Named {
  const sentences = SENTENCES.flatMap((sentence) =>
    Array.from(text.matchAll(sentence), ([, name = ""]) => name),
  );
  return {
    roots: Array.from(text.matchAll(/\(root\)/g), ({ index }) => index).slice(0, MAX_NAMES),
    words: new Set(text.split(new RegExp(`[${BLANKS}]+`)).map((word) => stripped(word, AROUND))),
    fullNames: new Set(sentences.map((name) => withoutOutput(name.replace(/\.$/, "")))),
    shapes: new Set(
      Array.from(text.matchAll(SHAPE), ([, sizes = ""]) =>
        Array.from(sizes.matchAll(/[0-9]+/g), Number).join(),
      ),
    ),
  };
}

/** Whether a name can end at a place: `(root).a` is not a name in `(root).a.b`. */
function endsAt(text: string, place: number): boolean {
  ENDS.lastIndex = place;
  return ENDS.test(text);
}

/** The name of a variable without the output of its tensor: `dense/kernel:0`. */
export function withoutOutput(name: string): string {
  return name.replace(/:[0-9]+$/, "");
}

/** The nodes that a text names; if none, those of its keys; if none, those of its full names. */
export function findNamed(text: string, index: Index): Marks {
  const parts = named(text);
  const byNames = ofNames(text, parts.roots, index.graph);
  if (byNames.includes(1)) {
    return byNames;
  }
  const byKeys = whereValue(
    index,
    ({ checkpointKey: key }) => parts.words.has(key) || parts.fullNames.has(key),
  );
  if (byKeys.includes(1)) {
    return byKeys;
  }
  const byFullNames = whereValue(index, ({ fullName }) =>
    parts.fullNames.has(withoutOutput(fullName)),
  );
  const isOfShape = ({ shape }: Attribute) => shape !== null && parts.shapes.has(shape.join());
  const ofShape = both(byFullNames, whereValue(index, isOfShape));
  return ofShape.includes(1) ? ofShape : byFullNames;
}

/** A place where names begin, and the nodes of the longest of them, which ends at `end`. */
interface Start {
  readonly root: number;
  end: number;
  ids: number[];
}

function ofNames(text: string, roots: readonly number[], graph: Graph): Marks {
  const starts: Start[] = roots.map((root) => ({ root, end: -1, ids: [] }));
  const add = (start: Start, end: number, id: number) => {
    if (end >= start.end && endsAt(text, end)) {
      start.ids = end === start.end ? [...start.ids, id] : [id];
      start.end = end;
    }
  };
  if (starts.length > 0) {
    addNames(text, starts, graph, add);
  }
  for (const { id, name } of starts.length > 0 ? otherNames(graph) : []) {
    for (const start of starts.filter(({ root }) => text.startsWith(name, root))) {
      add(start, start.root + name.length, id);
    }
  }
  const slots = slotsOf(text, starts, graph);
  const marks = new Uint8Array(graph.size);
  starts.forEach(({ ids }, at) => {
    const own = slots[at] ?? [];
    const isOfSlot = (slots[at - 1] ?? []).length > 0;
    for (const id of own.length > 0 ? own : isOfSlot ? [] : ids) {
      marks[id] = 1;
    }
  });
  return marks;
}

/**
 * Adds the names in a text. A name may follow every edge, not only the edges in TensorFlow's own
 * names.
 */
function addNames(
  text: string,
  starts: readonly Start[],
  graph: Graph,
  add: (start: Start, end: number, id: number) => void,
): void {
  const below = firstChildren(graph);
  const stack = starts.map((start) => ({ id: ROOT, start, end: start.root + ROOT_NAME.length }));
  const seen = new Set<string>();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { id, start, end } = next;
    const key = `${id} ${start.root} ${end}`;
    if (seen.has(key)) {
      continue;
    }
    seen.add(key);
    add(start, end, id);
    const edges = graph
      .children(id)
      .map(({ localName, node }) => ({ id: node, step: `.${localName}` }));
    for (const { id: child, step } of [...edges, ...(below.get(id) ?? [])]) {
      if (text.startsWith(step, end)) {
        stack.push({ id: child, start, end: end + step.length });
      }
    }
  }
}

/** For each start, the slots in the form `(root).optimizer's state 'm' for (root).kernel`. */
function slotsOf(text: string, starts: readonly Start[], graph: Graph): readonly number[][] {
  return starts.map(({ end, ids }, at) => {
    const following = starts[at + 1];
    const between = text.slice(end, following?.root ?? end);
    const name = /^'s state '(.*)' for $/s.exec(between)?.[1];
    return end < 0 || following === undefined || name === undefined
      ? []
      : [...graph.order].filter((id) => {
          const slot = graph.slot(id);
          const isOfVariable = slot?.name === name && following.ids.includes(slot.variable);
          return isOfVariable && slot.optimizer !== null && ids.includes(slot.optimizer);
        });
  });
}

/** The names on the other side of a comparison, and their nodes. */
function otherNames({ overlay, size }: Graph) {
  const names: { name: string; id: number }[] = [];
  const add = (name: string | null, id: number | undefined) => {
    if (name?.startsWith(ROOT_NAME) && id !== undefined) {
      names.push({ name, id });
    }
  };
  for (let id = 0; overlay !== null && id < size; id++) {
    add(overlay.partner(id), id);
  }
  for (let at = 0; overlay !== null && at < overlay.problemCount; at++) {
    const { saved, live, nodes } = overlay.problem(at);
    add(saved, nodes[0]);
    add(live, nodes[0]);
  }
  return names;
}
