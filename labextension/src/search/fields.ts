/**
 * The fields of a query: each reads its value, and returns the nodes that match. A new field is one
 * entry of FIELDS; ckpt_viz/graphs/search/fields.py has the same table.
 */

import { ROLES } from "../data/contract";
import { type Attribute, type Graph, isUnreadable } from "../data/graph";
import {
  isOfComparison,
  isSo,
  type MeasureName,
  measureOf,
  type NumberOf,
  PROPERTIES as OF_VALUES,
} from "../data/measures";
import { comparison, likeOf } from "./amounts";
import { makeGlob } from "./glob";
import { type Kind, MEASURE_KINDS, STATES } from "./grammar";
import {
  either,
  type Index,
  type Marks,
  ofProblems,
  ROOT_NAME,
  where,
  whereNameFits,
  wherePathFits,
  whereValue,
} from "./index";
import { type Reader, stripped } from "./syntax";

type Field = (reader: Reader, index: Index) => Marks;

// The values of `is:`

const OF_GRAPH: ReadonlyMap<string, (graph: Graph, id: number) => boolean> = new Map(
  Object.entries({
    empty: isEmpty,
    error: isUnreadable,
    frozen: (graph: Graph, id: number) => graph.training(id) === "frozen",
    inferred: (graph: Graph, id: number) => (graph.slot(id)?.rule ?? "declared") !== "declared",
    problem: isUnreadable,
    shared: (graph: Graph, id: number) => graph.edgesTo(id).length > 1,
    sliced: (graph: Graph, id: number) => graph.attributes(id).some(({ slices }) => slices > 0),
    trained: (graph: Graph, id: number) => graph.training(id) === "trained",
    unsaved: (graph: Graph, id: number) => graph.notSaved(id).some(({ isLost }) => isLost),
  }),
);
const PROPERTIES = [...OF_GRAPH.keys(), ...STATES.keys(), ...OF_VALUES, "unbuilt"].sort();
/** What a search expects that asks for values before they were read. */
export const UNREAD = "values, which were not read";

function isEmpty(graph: Graph, id: number): boolean {
  const holds = graph.children(id).length > 0 || graph.attributes(id).length > 0;
  return !holds && !graph.registeredSaver(id) && graph.slot(id) === null;
}

function ofProperty(value: string, reader: Reader, index: Index): Marks {
  const { graph } = index;
  const holds = OF_GRAPH.get(value);
  if (holds !== undefined) {
    const marks = where(index, (id) => holds(graph, id));
    return value === "problem" ? either(marks, ofProblems(index)) : marks;
  }
  const { overlay } = graph;
  const ofValues = OF_VALUES.find((one) => one === value);
  if (ofValues !== undefined && !isOfComparison(ofValues)) {
    return whereMeasured(reader, index, (at) => isSo(ofValues, at));
  }
  if (overlay === null) {
    reader.fail(reader.start, `a comparison: only of two graphs a node is ${value}`);
  }
  if (ofValues !== undefined) {
    // Counters, seeds and slot variables may rest.
    const isParameter = (id: number) => graph.layerColumns?.layer_parameters[id] === 1;
    return whereMeasured(reader, index, (at, id) => isParameter(id) && isSo(ofValues, at));
  }
  const states = STATES.get(value) ?? [];
  return value === "unbuilt"
    ? ofProblems(index, "not_built")
    : where(index, (id) => states.includes(overlay.state(id)));
}

/** The nodes whose values are so. */
function whereMeasured(
  reader: Reader,
  index: Index,
  holds: (at: NumberOf, id: number) => boolean,
): Marks {
  const measures = index.graph.measures ?? reader.fail(reader.start, UNREAD);
  return where(index, (id) => holds(measures.of(id), id));
}

function byProperty(reader: Reader, index: Index): Marks {
  const values = choices(reader, PROPERTIES);
  return values.map((value) => ofProperty(value, reader, index)).reduce(either);
}

/** Known words between bars; with a suffix for mistakes, their beginnings are enough. */
function choices(reader: Reader, known: readonly string[], suffix = ""): readonly string[] {
  let { place } = reader;
  return reader
    .value()
    .split("|")
    .flatMap((word) => {
      const found = known.filter((one) => one === word || (suffix && one.startsWith(word)));
      if (found.length !== 1) {
        reader.fail(place, `one of ${known.join(", ")}${suffix}`);
      }
      place += word.length + 1;
      return found;
    });
}

// The fields

function byRole(reader: Reader, index: Index): Marks {
  const roles = choices(reader, ROLES, ", or the beginning of one");
  return where(index, (id) => roles.includes(index.graph.role(id)));
}

function byPath(reader: Reader, index: Index): Marks {
  return wherePathFits(index, makeGlob(reader.value(), "/"));
}

function byKey(reader: Reader, index: Index): Marks {
  const glob = makeGlob(`${reader.value()}/**`, "/"); // the whole key, or its beginning up to a slash
  return whereValue(index, ({ checkpointKey }) => glob.fits(`${checkpointKey.toLowerCase()}/`));
}

function byName(reader: Reader, index: Index): Marks {
  const wanted = reader.value();
  if (wanted.startsWith(ROOT_NAME)) {
    return whereNameFits(index, makeGlob(wanted, "."));
  }
  const glob = makeGlob(wanted, "/");
  return where(index, (id) => {
    const edges = index.graph.edgesTo(id).map(({ localName }) => localName);
    const names = [...(index.ownNames[id] ?? []), ...edges];
    return names.some((name) => glob.fits(name.toLowerCase()));
  });
}

function byDtype(reader: Reader, index: Index): Marks {
  const globs = reader
    .value()
    .split("|")
    .map((one) => makeGlob(one, ""));
  return whereValue(index, ({ dtype }) =>
    globs.some((glob) => glob.fits((dtype ?? "").toLowerCase())),
  );
}

/** Shapes by a glob over their sizes, each with a comma behind it: `7,2,`. */
function byShape(reader: Reader, index: Index): Marks {
  const { place } = reader;
  const value = reader.value();
  const bare = value.replace(/^\((.*)\)$|^\[(.*)\]$|^scalar$/s, "$1$2");
  const sizes = bare.split(/[,x×]/).map((size) => stripped(size));
  if (sizes.at(-1) === "" && (sizes.length > 1 || bare !== value)) {
    sizes.pop(); // as Python writes: (), (5,)
  }
  if (!sizes.every((size) => /^(?:\*|\.\.\.|[0-9]{1,15})$/.test(size))) {
    reader.fail(place, "a shape like [3,*], with * or ... or numbers");
  }
  const parts = sizes.map((size) => (size === "..." ? "**" : size.replace(/^0+(?=.)/, "")));
  const glob = makeGlob(parts.map((part) => `${part},`).join(""), ",");
  return whereValue(
    index,
    ({ shape }) => shape !== null && glob.fits(shape.map((size) => `${size},`).join("")),
  );
}

/** The field that compares a sum over the values of a node. */
function byAmount(
  kind: Kind,
  like: string,
  amount: (attribute: Attribute) => number | null,
): Field {
  return (reader, index) => {
    const fits = comparison(reader, kind, kind, like);
    return where(index, (id) => {
      const amounts = index.graph.attributes(id).map(amount);
      const known = amounts.filter((one) => one !== null);
      return known.length > 0 && fits(known.reduce((a, b) => a + b, 0));
    });
  };
}

/** The field that compares what the values of a node measure. */
function byMeasure(name: MeasureName, kind: Kind): Field {
  return (reader, index) => {
    const fits = comparison(reader, name, kind, likeOf(kind));
    if (isOfComparison(name) && index.graph.overlay === null) {
      reader.fail(reader.start, `a comparison: a single graph has no ${name}`);
    }
    return whereMeasured(reader, index, (at) => fits(measureOf(name, at)));
  };
}

/** The values of a field that has a list of them; only a comparison has its states. */
export function valuesOf(field: string, { overlay }: Graph): readonly string[] {
  const isOfTwo = (name: string) => STATES.has(name) || isOfComparison(name) || name === "unbuilt";
  const properties = PROPERTIES.filter((name) => overlay !== null || !isOfTwo(name));
  return { role: ROLES, is: properties }[field] ?? [];
}

/** The fields of a graph, each with its sign; some compare two graphs. */
export function fieldsOf({ overlay }: Graph): readonly string[] {
  return [...FIELDS.keys()].filter(
    (name) => overlay !== null || !isOfComparison(name.slice(0, -1)),
  );
}

/** By name and sign; behind `>`, other comparisons are also possible. */
export const FIELDS: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["role:", byRole],
  ["path:", byPath],
  ["key:", byKey],
  ["name:", byName],
  ["dtype:", byDtype],
  ["shape:", byShape],
  ["is:", byProperty],
  ["size>", byAmount("size", "1MB or 64KiB", ({ nbytes }) => nbytes)],
  [
    "params>",
    byAmount("params", "1e6 or 5M", ({ shape }) => shape?.reduce((a, b) => a * b, 1) ?? null),
  ],
  ...MEASURE_KINDS.map(([name, kind]): [string, Field] => [`${name}>`, byMeasure(name, kind)]),
]);
