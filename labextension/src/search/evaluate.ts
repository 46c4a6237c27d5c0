/**
 * What a query finds in a graph: every term is one pass over the nodes, however deep they lie; as
 * in ckpt_viz/search/evaluate.py.
 */

import type { NodeState } from "../contract";
import { type Graph, ROOT } from "../graph";
import { type Automaton, type AutomatonState, glob, literal, regex, tooComplex } from "./automaton";
import { OF_COMPARISON, parse } from "./parse";
import { endsAt, named, withoutOutput } from "./pasted";
import {
  type Comparison,
  type Dimension,
  Mistake,
  type Query,
  type Term,
  type TermOf,
} from "./syntax";

/** By node id, 1 for what is found. */
type Marks = Uint8Array;
const ROOT_NAME = "(root)";
const STATES: Readonly<Record<string, readonly NodeState[]>> = {
  live: ["live only", "only in b"],
  saved: ["saved only", "only in a"],
  unmatched: ["live only", "only in b", "saved only", "only in a"],
  changed: ["shape", "dtype", "role", "value"],
};
const COMPARISONS: Readonly<Record<Comparison, (found: number, wanted: number) => boolean>> = {
  ">": (found, wanted) => found > wanted,
  "<": (found, wanted) => found < wanted,
  ">=": (found, wanted) => found >= wanted,
  "<=": (found, wanted) => found <= wanted,
  "=": (found, wanted) => found === wanted,
};

/** The nodes that a query finds, in the order of the outline, or what is wrong with it. */
export function find(graph: Graph, query: string): readonly number[] | Mistake {
  const terms = parse(query);
  return terms instanceof Mistake ? terms : evaluate(graph, terms);
}

function evaluate(graph: Graph, query: Query): readonly number[] | Mistake {
  if (query.length === 0) {
    return [];
  }
  const index = indexes.get(graph) ?? makeIndex(graph);
  indexes.set(graph, index);
  try {
    const marks = search(index).allOf(query);
    return Array.from(index.order.filter((id) => marks[id] === 1));
  } catch (error) {
    if (error instanceof Mistake) {
      return error;
    }
    throw error;
  }
}

/** What every search in a graph asks for. */
interface Index {
  readonly graph: Graph;
  /** Every node, parents before children, and the parent of each; -1 of the root. */
  readonly order: Int32Array;
  readonly parents: Int32Array;
  readonly labels: readonly string[];
  /** What stands at each node itself besides its local name: its class, full names of its values. */
  readonly texts: readonly (readonly string[])[];
}

const indexes = new WeakMap<Graph, Index>();

function makeIndex(graph: Graph): Index {
  const order = new Int32Array(graph.size);
  const stack = [ROOT];
  for (let place = 0; place < order.length; place++) {
    const id = stack.pop() ?? ROOT;
    order[place] = id;
    const children = graph.treeChildren(id);
    for (let i = children.length - 1; i >= 0; i--) {
      stack.push(children[i] ?? ROOT);
    }
  }
  const ids = Array.from({ length: graph.size }, (_, id) => id);
  return {
    graph,
    order,
    parents: Int32Array.from(ids, (id) => graph.treeParent(id) ?? -1),
    labels: ids.map((id) => graph.label(id).toLowerCase()),
    texts: ids.map((id) =>
      [graph.typeName(id) ?? "", ...graph.attributes(id).map(({ fullName }) => fullName)]
        .filter((text) => text !== "")
        .map((text) => text.toLowerCase()),
    ),
  };
}

function search({ graph, order, parents, labels, texts }: Index) {
  const { overlay, size } = graph;
  const where = (is: (id: number) => boolean): Marks => {
    const marks = new Uint8Array(size);
    for (let id = 0; id < size; id++) {
      marks[id] = is(id) ? 1 : 0;
    }
    return marks;
  };
  const both = (a: Marks, b: Marks): Marks => a.map((mark, id) => mark & (b[id] ?? 0));
  const either = (a: Marks, b: Marks): Marks => a.map((mark, id) => mark | (b[id] ?? 0));
  const isAny = (marks: Marks): boolean => marks.includes(1);

  /**
   * Where all terms hold. Words also hold below where they are found. Of words alone, or with what
   * is to be left out, at least one must be found at a node itself.
   */
  const allOf = (query: Query): Marks => {
    let marks = where(() => true);
    let found: Marks | null = null;
    for (const term of query) {
      const own = marksOf(term);
      if (isText(term)) {
        found = found === null ? own : either(found, own);
        marks = both(marks, atOrBelow(own));
      } else {
        marks = both(marks, own);
      }
    }
    const areAlone = query.every((term) => isText(term) || term.type === "not");
    return found !== null && areAlone ? both(marks, found) : marks;
  };
  const marksOf = (term: Term): Marks => {
    try {
      return marksOfSimple(term);
    } catch (error) {
      throw error instanceof Mistake ? error : tooComplex(error, term.place);
    }
  };
  const marksOfSimple = (term: Term): Marks => {
    switch (term.type) {
      case "text":
        return foundText(term);
      case "regex":
        return foundBy(compiled(term));
      case "glob":
        return ofGlob(term);
      case "choice":
        return ofChoice(term);
      case "shape":
        return where((id) =>
          graph.attributes(id).some(({ shape }) => shape !== null && fits(shape, term.dimensions)),
        );
      case "amount": {
        const amount = term.field === "size" ? bytesOf : paramsOf;
        const holds = COMPARISONS[term.comparison];
        return where((id) => {
          const value = amount(graph, id);
          return value !== null && holds(value, term.number);
        });
      }
      case "near":
        return near(places(term.glob.toLowerCase()), term.steps);
      case "not": {
        const inner = marksOf(term.term);
        const marks = isText(term.term) ? atOrBelow(inner) : inner;
        return marks.map((mark) => 1 - mark);
      }
      case "chain":
        return childrenOf(term.terms);
      case "pasted":
        return pasted(term.text);
    }
  };

  // Words and patterns

  const foundText = ({ text, isQuoted }: TermOf<"text">): Marks => {
    const folded = text.toLowerCase();
    const bare = isQuoted ? folded : withoutOutput(folded) || folded;
    const spellings = isQuoted ? [bare] : [...new Set([bare, bare.replaceAll(".", "/")])];
    return spellings
      .map((spelling) =>
        spelling.includes("/")
          ? foundBy(literal(spelling))
          : where(
              (id) =>
                labels[id]?.includes(spelling) === true ||
                texts[id]?.some((text) => text.includes(spelling)) === true,
            ),
      )
      .reduce(either);
  };
  const foundBy = (pattern: Automaton): Marks => {
    const marks = alongTree(pattern, false);
    texts.forEach((own, id) => {
      if (own.some((text) => pattern.finds(text))) {
        marks[id] = 1;
      }
    });
    return marks;
  };
  /**
   * Where a pattern is found in a node's own part of its path, or is the whole path. The path of a
   * child goes on where that of its parent ends, and so does the search.
   */
  const alongTree = (pattern: Automaton, isWhole: boolean): Marks => {
    const marks = new Uint8Array(size);
    const states: AutomatonState[] = [];
    for (const id of order) {
      const parent = parents[id] ?? -1;
      const step = parent > ROOT ? `/${labels[id] ?? ""}` : (labels[id] ?? "");
      const state = pattern.run(states[parent] ?? pattern.start, step);
      states[id] = state;
      marks[id] = (isWhole ? id !== ROOT && state.acceptsAtEnd : pattern.found) ? 1 : 0;
    }
    return marks;
  };
  /** Whose first path, as TensorFlow prints it, a pattern fits. */
  const alongNames = (pattern: Automaton): Marks => {
    const marks = new Uint8Array(size);
    const stack = [{ id: ROOT, state: pattern.run(pattern.start, ROOT_NAME) }];
    const below = firstChildren();
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      marks[next.id] = next.state.acceptsAtEnd ? 1 : 0;
      for (const { id, step } of below[next.id] ?? []) {
        stack.push({ id, state: pattern.run(next.state, step.toLowerCase()) });
      }
    }
    return marks;
  };
  /** For each node, what its children append to its name. */
  const firstChildren = (): readonly { readonly id: number; readonly step: string }[][] => {
    const children: { id: number; step: string }[][] = Array.from({ length: size }, () => []);
    for (let id = 1; id < size; id++) {
      const edge = graph.firstEdge(id);
      if (edge !== null) {
        children[edge.node]?.push({ id, step: `.${edge.localName}` });
      }
    }
    return children;
  };
  const atOrBelow = (marks: Marks): Marks => {
    const below = marks.slice();
    for (const id of order) {
      if (below[parents[id] ?? -1] === 1) {
        below[id] = 1;
      }
    }
    return below;
  };

  // Fields

  const ofGlob = ({ field, glob: written }: TermOf<"glob">): Marks => {
    const folded = written.toLowerCase();
    switch (field) {
      case "path":
        return alongTree(glob(folded, "/"), true);
      case "key": {
        const keys = glob(folded, "/", "beginning");
        return where((id) =>
          graph.attributes(id).some(({ checkpointKey }) => keys.fits(checkpointKey.toLowerCase())),
        );
      }
      case "edge":
        return reachedBy(glob(folded, ""));
      case "name":
        return byName(folded);
      case "under":
        return under(places(folded));
    }
  };
  const byName = (folded: string): Marks => {
    if (folded.startsWith(ROOT_NAME)) {
      return alongNames(glob(folded, "."));
    }
    const names = glob(folded, "/");
    const own = where(
      (id) =>
        names.fits(labels[id] ?? "") ||
        graph.attributes(id).some(({ fullName }) => names.fits(fullName.toLowerCase())),
    );
    return either(reachedBy(names), own);
  };
  /** The ends of the edges whose local name a pattern fits. */
  const reachedBy = (pattern: Automaton): Marks => {
    const marks = new Uint8Array(size);
    for (let id = 0; id < size; id++) {
      for (const { localName, node } of graph.children(id)) {
        if (marks[node] === 0 && pattern.fits(localName.toLowerCase())) {
          marks[node] = 1;
        }
      }
    }
    return marks;
  };
  /** The nodes that `under` and `near` mean: by the end of their path, or by name. */
  const places = (folded: string): Marks =>
    folded.startsWith(ROOT_NAME)
      ? alongNames(glob(folded, "."))
      : alongTree(glob(folded, "/", "end"), true);
  /** What is below, in the outline; slot variables are below their optimizer, too. */
  const under = (tops: Marks): Marks => {
    const holds = atOrBelow(tops);
    const marks = new Uint8Array(size);
    for (const id of order) {
      const parent = parents[id] ?? -1;
      const optimizer = graph.slot(id)?.optimizer ?? -1;
      marks[id] = holds[parent] === 1 || marks[parent] === 1 || holds[optimizer] === 1 ? 1 : 0;
    }
    return marks;
  };
  const near = (tops: Marks, steps: number): Marks => {
    const marks = tops.slice();
    const slots = slotNeighbours();
    let layer = Array.from(order.filter((id) => marks[id] === 1));
    for (let step = 0; step < steps && layer.length > 0; step++) {
      const next: number[] = [];
      for (const id of layer) {
        const edges = [...graph.children(id), ...graph.edgesTo(id)].map(({ node }) => node);
        for (const neighbour of [...edges, ...(slots.get(id) ?? [])]) {
          if (marks[neighbour] === 0) {
            marks[neighbour] = 1;
            next.push(neighbour);
          }
        }
      }
      layer = next;
    }
    return marks;
  };
  /** Of slots their variable and optimizer; of these, their slots. */
  const slotNeighbours = (): ReadonlyMap<number, readonly number[]> => {
    const neighbours = new Map<number, number[]>();
    const add = (id: number, other: number) => {
      const known = neighbours.get(id);
      if (known === undefined) {
        neighbours.set(id, [other]);
      } else {
        known.push(other);
      }
    };
    for (let id = 0; id < size; id++) {
      const slot = graph.slot(id);
      for (const other of slot === null ? [] : [slot.variable, slot.optimizer]) {
        if (other !== null) {
          add(id, other);
          add(other, id);
        }
      }
    }
    return neighbours;
  };
  const childrenOf = (terms: readonly Term[]): Marks =>
    terms.map(marksOf).reduce((above, fitting) => {
      const marks = new Uint8Array(size);
      for (let id = 0; id < size; id++) {
        if (above[id] === 1) {
          const edges = graph.children(id).map(({ node }) => node);
          for (const child of [...edges, ...graph.treeChildren(id)]) {
            marks[child] = fitting[child] ?? 0;
          }
        }
      }
      return marks;
    });
  const ofChoice = ({ field, place, values }: TermOf<"choice">): Marks => {
    if (field === "role") {
      return where((id) => values.includes(graph.role(id)));
    }
    if (field === "dtype") {
      const globs = values.map((value) => glob(value, ""));
      return where((id) =>
        graph
          .attributes(id)
          .some(({ dtype }) => globs.some((one) => one.fits((dtype ?? "").toLowerCase()))),
      );
    }
    return values
      .map((value) => {
        if (overlay === null && OF_COMPARISON.includes(value)) {
          throw new Mistake(place, `a comparison: only of two graphs a node is ${value}`);
        }
        return is(value);
      })
      .reduce(either);
  };
  const is = (value: string): Marks => {
    switch (value) {
      case "shared":
        return where((id) => graph.edgesTo(id).length > 1);
      case "empty":
        return where((id) => isEmpty(graph, id));
      case "inferred":
        return where((id) => (graph.slot(id)?.rule ?? "declared") !== "declared");
      case "trainable":
        return where((id) => graph.trainable(id) === true);
      case "sliced":
        return where((id) => graph.attributes(id).some(({ slices }) => slices > 0));
      case "unsaved":
        return where((id) => graph.notSaved(id).length > 0);
      case "error":
        return where((id) => hasError(graph, id));
      case "problem":
      case "unbuilt": {
        const marks = where((id) => value === "problem" && hasError(graph, id));
        for (let index = 0; index < (overlay?.problemCount ?? 0); index++) {
          const problem = overlay?.problem(index);
          if (value === "problem" || problem?.kind === "not_built") {
            for (const id of problem?.nodes ?? []) {
              marks[id] = 1;
            }
          }
        }
        return marks;
      }
      default: {
        const states: readonly string[] = STATES[value] ?? [value];
        return where((id) => overlay !== null && states.includes(overlay.state(id)));
      }
    }
  };

  // Pasted texts

  /** The nodes that a text names; else those of its keys; else of its full names. */
  const pasted = (text: string): Marks => {
    const said = named(text);
    const byNames = namedIn(text, said.roots);
    if (isAny(byNames)) {
      return byNames;
    }
    const byKeys = where((id) =>
      graph
        .attributes(id)
        .some(({ checkpointKey: key }) => said.words.has(key) || said.fullNames.has(key)),
    );
    if (isAny(byKeys)) {
      return byKeys;
    }
    const byFullNames = where((id) =>
      graph.attributes(id).some(({ fullName }) => said.fullNames.has(withoutOutput(fullName))),
    );
    const ofShape = where(
      (id) =>
        byFullNames[id] === 1 &&
        graph.attributes(id).some(({ shape }) => shape !== null && said.shapes.has(shape.join())),
    );
    return isAny(ofShape) ? ofShape : byFullNames;
  };
  /** The nodes of the longest name that begins at each of the places in a text. */
  const namedIn = (text: string, roots: readonly number[]): Marks => {
    const found = roots.map((root) => ({ root, end: -1, ids: [] as number[] }));
    const add = (one: { end: number; ids: number[] }, end: number, id: number) => {
      if (end > one.end) {
        one.end = end;
        one.ids = [];
      }
      if (end === one.end) {
        one.ids.push(id);
      }
    };
    const below = firstChildren();
    const stack = found.map((one) => ({ id: ROOT, one, end: one.root + ROOT_NAME.length }));
    const seen = new Set<string>();
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { one, end } = next;
      const key = `${next.id} ${one.root} ${end}`;
      if (seen.has(key)) {
        continue;
      }
      seen.add(key);
      if (endsAt(text, end)) {
        add(one, end, next.id);
      }
      // By every edge, not those of the node's own name alone.
      const edges = graph
        .children(next.id)
        .map(({ localName, node }) => ({ id: node, step: `.${localName}` }));
      for (const { id, step } of [...edges, ...(below[next.id] ?? [])]) {
        if (text.startsWith(step, end)) {
          stack.push({ id, one, end: end + step.length });
        }
      }
    }
    for (const { id, name } of roots.length > 0 ? otherNames(graph) : []) {
      for (const one of found) {
        const end = one.root + name.length;
        if (text.startsWith(name, one.root) && endsAt(text, end)) {
          add(one, end, id);
        }
      }
    }
    // Slots are spelled `(root).optimizer's state 'm' for (root).kernel`.
    const neighbours = slotNeighbours();
    const slots = found.map((one, index) => {
      const following = found[index + 1];
      const between = text.slice(one.end, following?.root ?? one.end);
      const name = /^'s state '(.*)' for $/s.exec(between)?.[1];
      return one.end < 0 || following === undefined || name === undefined
        ? []
        : following.ids.flatMap((variable) =>
            (neighbours.get(variable) ?? []).filter((id) => {
              const slot = graph.slot(id);
              const isIt = slot?.name === name && slot.variable === variable;
              return isIt && slot.optimizer !== null && one.ids.includes(slot.optimizer);
            }),
          );
    });
    const marks = new Uint8Array(size);
    found.forEach(({ ids }, index) => {
      const own = slots[index] ?? [];
      const isOfSlot = (slots[index - 1] ?? []).length > 0;
      for (const id of own.length > 0 ? own : isOfSlot ? [] : ids) {
        marks[id] = 1;
      }
    });
    return marks;
  };

  return { allOf };
}

function isText({ type }: Term): boolean {
  return type === "text" || type === "regex";
}

function compiled({ pattern, place }: TermOf<"regex">): Automaton {
  const found = regex(pattern, place + 1);
  if (found instanceof Mistake) {
    throw found;
  }
  return found;
}

/** The names on the other side of a comparison, and whose they are. */
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
  for (let index = 0; index < (overlay?.problemCount ?? 0); index++) {
    const problem = overlay?.problem(index);
    add(problem?.saved ?? null, problem?.nodes[0]);
    add(problem?.live ?? null, problem?.nodes[0]);
  }
  return names;
}

function isEmpty(graph: Graph, id: number): boolean {
  const holds = graph.children(id).length > 0 || graph.attributes(id).length > 0;
  return !holds && !graph.registeredSaver(id) && graph.slot(id) === null;
}

function hasError(graph: Graph, id: number): boolean {
  return graph.error(id) !== null || graph.attributes(id).some(({ error }) => error !== null);
}

function fits(shape: readonly number[], wanted: readonly Dimension[]): boolean {
  const split = wanted.indexOf("...");
  if (split >= 0) {
    const last = wanted.length - split - 1;
    return (
      shape.length >= split + last &&
      fits(shape.slice(shape.length - last), wanted.slice(split + 1)) &&
      fits(shape.slice(0, split), wanted.slice(0, split))
    );
  }
  return (
    shape.length === wanted.length &&
    wanted.every((one, place) => one === "*" || one === shape[place])
  );
}

function bytesOf(graph: Graph, id: number): number | null {
  const known = graph.attributes(id).flatMap(({ nbytes }) => (nbytes === null ? [] : [nbytes]));
  return known.length === 0 ? null : known.reduce((a, b) => a + b);
}

function paramsOf(graph: Graph, id: number): number | null {
  const known = graph.attributes(id).flatMap(({ shape }) => (shape === null ? [] : [shape]));
  const counts = known.map((shape) => shape.reduce((a, b) => a * b, 1));
  return counts.length === 0 ? null : counts.reduce((a, b) => a + b);
}
