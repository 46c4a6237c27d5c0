/**
 * The fields of a query: how to read the value of each, and which nodes match it. A new field is
 * one entry of FIELDS; ckpt_viz/search/fields.py has the same table.
 */

import { type NodeState, ROLES } from "../contract";
import type { Attribute, Graph } from "../graph";
import { makeGlob } from "./glob";
import {
  atOrBelow,
  either,
  type Index,
  type Marks,
  ofProblems,
  ROOT_NAME,
  slotNeighbours,
  where,
  whereNameFits,
  wherePathFits,
  whereValue,
} from "./index";
import { BLANK_OR_END, BLANKS, fail, filled, type Reader } from "./syntax";

/** The nodes that match a part of a query. */
export type Ask = (index: Index) => Marks;
/** A size, any one dimension, or any number of dimensions. */
type Dimension = number | "*" | "...";

const MAX_STEPS = 99;
const NUMBER = `([0-9]{1,20}(?:\\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?)([A-Za-z]*)${BLANK_OR_END}`;
const COMPARE: Readonly<Record<string, (found: number, wanted: number) => boolean>> = {
  ">": (found, wanted) => found > wanted,
  "<": (found, wanted) => found < wanted,
  ">=": (found, wanted) => found >= wanted,
  "<=": (found, wanted) => found <= wanted,
  "=": (found, wanted) => found === wanted,
};
type Units = ReadonlyMap<string, number>;
const COUNTS: Units = new Map(Object.entries({ "": 1, k: 1e3, m: 1e6, g: 1e9 }));
const BYTES: Units = new Map([
  ...Object.entries({ "": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 }),
  ...Object.entries({ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 }),
]);
const AROUND = new RegExp(`^[${BLANKS}]+|[${BLANKS}]+$`, "g");

// The values of `is:`

const OF_GRAPH: ReadonlyMap<string, (graph: Graph, id: number) => boolean> = new Map(
  Object.entries({
    empty: isEmpty,
    error: hasError,
    inferred: (graph: Graph, id: number) => (graph.slot(id)?.rule ?? "declared") !== "declared",
    problem: hasError,
    shared: (graph: Graph, id: number) => graph.edgesTo(id).length > 1,
    sliced: (graph: Graph, id: number) => graph.attributes(id).some(({ slices }) => slices > 0),
    trainable: (graph: Graph, id: number) => graph.trainable(id) === true,
    unsaved: (graph: Graph, id: number) => graph.notSaved(id).length > 0,
  }),
);
const STATES: ReadonlyMap<string, readonly NodeState[]> = new Map(
  Object.entries<readonly NodeState[]>({
    changed: ["shape", "dtype", "role", "value"],
    deferred: ["deferred"],
    dtype: ["dtype"],
    failed: ["failed"],
    live: ["live only", "only in b"],
    matched: ["matched"],
    moved: ["moved"],
    role: ["role"],
    saved: ["saved only", "only in a"],
    shape: ["shape"],
    unmatched: ["live only", "only in b", "saved only", "only in a"],
    value: ["value"],
    warned: ["warned"],
  }),
);
const PROPERTIES = [...OF_GRAPH.keys(), ...STATES.keys(), "unbuilt"].sort();

function isEmpty(graph: Graph, id: number): boolean {
  const holds = graph.children(id).length > 0 || graph.attributes(id).length > 0;
  return !holds && !graph.registeredSaver(id) && graph.slot(id) === null;
}

function hasError(graph: Graph, id: number): boolean {
  return graph.error(id) !== null || graph.attributes(id).some(({ error }) => error !== null);
}

function ofProperty(index: Index, value: string, place: number): Marks {
  const { graph } = index;
  const holds = OF_GRAPH.get(value);
  if (holds !== undefined) {
    const marks = where(index, (id) => holds(graph, id));
    return value === "problem" ? either(marks, ofProblems(index)) : marks;
  }
  const { overlay } = graph;
  if (overlay === null) {
    return fail(place, `a comparison: only of two graphs a node is ${value}`);
  }
  const states = STATES.get(value) ?? [];
  return value === "unbuilt"
    ? ofProblems(index, "not_built")
    : where(index, (id) => states.includes(overlay.state(id)));
}

// How to read values, and which nodes match them

/** The entry of a field whose value is a text. */
function ofText(ask: (index: Index, text: string) => Marks) {
  return (reader: Reader): Ask => {
    const text = textOf(reader);
    return (index) => ask(index, text);
  };
}

function textOf(reader: Reader): string {
  const { place } = reader;
  return filled(reader.value(), place).toLowerCase();
}

/** Words between bars: any words, or only known ones. */
function choices(reader: Reader, known: readonly string[] | null, byBeginning = false) {
  let { place } = reader;
  return textOf(reader)
    .split("|")
    .map((word) => {
      filled(word, place);
      const found = (known ?? [word]).filter((one) =>
        byBeginning ? one.startsWith(word) : one === word,
      );
      const orBeginning = byBeginning ? ", or the beginning of one" : "";
      place += word.length + 1;
      return found.length === 1 && found[0] !== undefined
        ? found[0]
        : fail(place - word.length - 1, `one of ${known?.join(", ")}${orBeginning}`);
    });
}

function readRole(reader: Reader): Ask {
  const roles = choices(reader, ROLES, true);
  return (index) => where(index, (id) => roles.includes(index.graph.role(id)));
}

function readIs(reader: Reader): Ask {
  const { start } = reader;
  const values = choices(reader, PROPERTIES);
  return (index) => values.map((value) => ofProperty(index, value, start)).reduce(either);
}

function readDtype(reader: Reader): Ask {
  const globs = choices(reader, null).map((one) => makeGlob(one, ""));
  return (index) =>
    whereValue(index, ({ dtype }) => {
      const folded = (dtype ?? "").toLowerCase();
      return globs.some((glob) => glob.fits(folded));
    });
}

function readShape(reader: Reader): Ask {
  const wanted = dimensions(reader);
  return (index) => whereValue(index, ({ shape }) => shape !== null && fits(wanted, shape));
}

function dimensions(reader: Reader): readonly Dimension[] {
  const { place } = reader;
  const value = reader.value();
  if (value.toLowerCase() === "scalar") {
    return [];
  }
  const inner = /^(\[[^\n]*\]|\([^\n]*\))$/.test(value) ? value.slice(1, -1) : value;
  const words = inner.split(/[,x×]/).map((word) => word.replaceAll(AROUND, ""));
  if (words.at(-1) === "" && (words.length > 1 || inner !== value)) {
    words.pop(); // a trailing comma, as Python writes: (), (5,)
  }
  if (!words.every((word) => /^(?:\*|\.\.\.|[0-9]{1,15})$/.test(word))) {
    fail(place, "a shape like [3,*], with * or ... or numbers");
  }
  if (words.filter((word) => word === "...").length > 1) {
    fail(place, "... at most once in a shape");
  }
  return words.map((word) => (word === "*" || word === "..." ? word : Number(word)));
}

function fits(wanted: readonly Dimension[], shape: readonly number[]): boolean {
  const split = wanted.indexOf("...");
  if (split >= 0) {
    const last = wanted.length - split - 1;
    return (
      shape.length >= split + last &&
      fits(wanted.slice(split + 1), shape.slice(shape.length - last)) &&
      fits(wanted.slice(0, split), shape.slice(0, split))
    );
  }
  return (
    shape.length === wanted.length &&
    wanted.every((one, place) => one === "*" || one === shape[place])
  );
}

/** The nodes within some number of edges. */
function readNear(reader: Reader): Ask {
  const { place } = reader;
  const value = textOf(reader);
  const tilde = value.lastIndexOf("~");
  const name = tilde < 0 ? value : value.slice(0, tilde);
  const steps = tilde < 0 ? "1" : value.slice(tilde + 1);
  if (!/^[0-9]{1,2}$/.test(steps)) {
    fail(place + name.length + 1, `a number of steps from 0 to ${MAX_STEPS}`);
  }
  filled(name, place);
  return (index) => near(index, places(index, name), Number(steps));
}

function near({ graph }: Index, tops: Marks, steps: number): Marks {
  const marks = tops.slice();
  const slots = slotNeighbours(graph);
  let layer = [...marks.keys()].filter((id) => marks[id] === 1);
  for (let step = 0; step < steps && layer.length > 0; step++) {
    const around = new Set<number>();
    for (const id of layer) {
      const edges = [...graph.children(id), ...graph.edgesTo(id)].map(({ node }) => node);
      for (const neighbour of [...edges, ...(slots.get(id) ?? [])]) {
        around.add(neighbour);
      }
    }
    layer = [...around].filter((id) => marks[id] === 0);
    for (const id of layer) {
      marks[id] = 1;
    }
  }
  return marks;
}

/** A comparison with the sum of an amount over a node's values. */
function ofAmount(units: Units, like: string, amount: (attribute: Attribute) => number | null) {
  return (reader: Reader): Ask => {
    const field = reader.text.slice(reader.start, reader.place).toLowerCase();
    const [sign = ""] =
      reader.take(/[<>]=?|=/) ?? fail(reader.place, `one of > < >= <= = after ${field}`);
    const { place } = reader;
    const [, digits, unit = ""] = reader.take(NUMBER) ?? [];
    const wanted = Number(digits) * (units.get(unit.toLowerCase()) ?? Number.NaN);
    if (Number.isNaN(wanted)) {
      fail(place, `a number like ${like}`);
    }
    return (index) =>
      where(index, (id) => {
        const known = index.graph.attributes(id).map(amount);
        const amounts = known.filter((one) => one !== null);
        const sum = amounts.reduce((a, b) => a + b, 0);
        return amounts.length > 0 && COMPARE[sign]?.(sum, wanted) === true;
      });
  };
}

function byKey(index: Index, wanted: string): Marks {
  const glob = makeGlob(`${wanted}/**`, "/"); // the whole key, or its beginning up to a slash
  return whereValue(index, ({ checkpointKey }) => glob.fits(`${checkpointKey.toLowerCase()}/`));
}

function byEdge(index: Index, wanted: string, separator: "" | "/" = ""): Marks {
  const glob = makeGlob(wanted, separator);
  return where(index, (id) =>
    index.graph.edgesTo(id).some(({ localName }) => glob.fits(localName.toLowerCase())),
  );
}

function byName(index: Index, wanted: string): Marks {
  if (wanted.startsWith(ROOT_NAME)) {
    return whereNameFits(index, makeGlob(wanted, "."));
  }
  const glob = makeGlob(wanted, "/");
  const own = where(
    index,
    (id) =>
      glob.fits(index.labels[id] ?? "") ||
      index.graph.attributes(id).some(({ fullName }) => glob.fits(fullName.toLowerCase())),
  );
  return either(own, byEdge(index, wanted, "/"));
}

/** The nodes that the value of `under` or `near` names: by the end of their path, or by name. */
function places(index: Index, wanted: string): Marks {
  return wanted.startsWith(ROOT_NAME)
    ? whereNameFits(index, makeGlob(wanted, "."))
    : wherePathFits(index, makeGlob(`**/${wanted}`, "/"));
}

/** Everything below in the outline; slot variables also count as below their optimizer. */
function under(index: Index, wanted: string): Marks {
  const holds = atOrBelow(index, places(index, wanted));
  const isBelow = (id: number): boolean =>
    holds[index.parents[id] ?? -1] === 1 || holds[index.graph.slot(id)?.optimizer ?? -1] === 1;
  return atOrBelow(index, where(index, isBelow));
}

// The table

interface Field {
  /** Reads the value, and returns which nodes match it. */
  readonly read: (reader: Reader) => Ask;
  /** The sign between name and value; `>`: any comparison. */
  readonly sign: ":" | ">";
}

const elements = ({ shape }: Attribute) => shape?.reduce((a, b) => a * b, 1) ?? null;
const bytes = ({ nbytes }: Attribute) => nbytes;
const byPath = (index: Index, wanted: string) => wherePathFits(index, makeGlob(wanted, "/"));

export const FIELDS: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["role", { read: readRole, sign: ":" }],
  ["kind", { read: readRole, sign: ":" }],
  ["path", { read: ofText(byPath), sign: ":" }],
  ["key", { read: ofText(byKey), sign: ":" }],
  ["name", { read: ofText(byName), sign: ":" }],
  ["edge", { read: ofText((index, wanted) => byEdge(index, wanted)), sign: ":" }],
  ["under", { read: ofText(under), sign: ":" }],
  ["dtype", { read: readDtype, sign: ":" }],
  ["shape", { read: readShape, sign: ":" }],
  ["is", { read: readIs, sign: ":" }],
  ["near", { read: readNear, sign: ":" }],
  ["size", { read: ofAmount(BYTES, "1MB or 64KiB", bytes), sign: ">" }],
  ["params", { read: ofAmount(COUNTS, "1e6 or 5M", elements), sign: ">" }],
]);
