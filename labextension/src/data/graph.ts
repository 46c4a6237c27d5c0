/** The object graph as the view asks for it: nodes by id, read from the columns on demand. */

import { groupedBy, ownersOf, starts } from "../basics/columns";
import { kept } from "../basics/once";
import * as WORDS from "../basics/strings";
import {
  ABSENT,
  type Column,
  type NameOf,
  type Origin,
  type Payload,
  ROLES,
  type Role,
  SLOT_RULES,
  TRAININGS,
  type Training,
} from "./contract";
import { type Measures, makeMeasures } from "./measures";
import { makeOverlay, type Overlay } from "./overlay";
import { makeTable, type Table } from "./table";

export const ROOT = 0;

export interface Edge {
  readonly localName: string;
  readonly node: number;
}

export interface Attribute {
  readonly name: string;
  readonly fullName: string;
  readonly checkpointKey: string;
  readonly dtype: string | null;
  readonly shape: readonly number[] | null;
  readonly nbytes: number | null;
  /** The number of slices that hold the tensor; 0 for a tensor saved in one piece. */
  readonly slices: number;
  /** Why the value cannot be read. */
  readonly error: string | null;
}

/** An attribute of a live object that holds values which a save leaves out. */
export interface NotSaved {
  readonly name: string;
  readonly type: string;
  readonly values: number;
  /** Whether a save loses a trained value; else these are seeds, metrics or counters. */
  readonly isLost: boolean;
}

/** Something that the configuration of a layer says: its units are 128. Text of a file is hostile. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

export interface Slot {
  readonly name: string;
  readonly variable: number;
  /** Null in a name-based checkpoint, which has no node for the optimizer. */
  readonly optimizer: number | null;
  readonly rule: string;
}

/** The calls between layers, as ids of nodes: `to` is called on what `from` makes. */
export interface Calls {
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** A row of layers for several rows: a block, or parts that are alike. */
export interface Group {
  readonly isAlike: boolean;
  /** The number of rows in it. */
  readonly size: number;
}

/**
 * One object graph. The tree gives every node one place; the other edges are aliases. The tree of
 * layers leaves nodes out, and has groups: their ids come after those of the nodes.
 */
export interface Graph {
  readonly title: string;
  readonly origin: Origin;
  readonly kind: string | null;
  /** Sentences about the source: how its path was understood, what else its directory holds. */
  readonly notes: readonly string[];
  readonly size: number;
  /** The result of a comparison; null for a single graph. */
  readonly overlay: Overlay | null;
  /** The table of a comparison; null without one. */
  readonly table: Table | null;
  /** What the values measure; null if these were not read. */
  readonly measures: Measures | null;
  role(id: number): Role;
  typeName(id: number): string | null;
  error(id: number): string | null;
  registeredSaver(id: number): string | null;
  collections(id: number): string | null;
  /** What the configuration of a layer says, the most telling first. */
  facts(id: number): readonly Fact[];
  /**
   * The shapes of a layer's results, without the batch: sizes with commas, "?" for an unknown one,
   * semicolons between tensors. Null if they are not known.
   */
  gives(id: number): string | null;
  /** The same of what the layer is called on. */
  gets(id: number): string | null;
  /** What a training does to a variable; "frozen" of a layer that freezes all below it. */
  training(id: number): Training;
  notSaved(id: number): readonly NotSaved[];
  /** Which layers call which; null if that is not known. */
  readonly calls: Calls | null;
  /** The graph whose layers these are; null for a graph of objects. */
  readonly objects: Graph | null;
  readonly layerColumns: Payload["layers"] | null;
  /** The number of nodes and groups. */
  readonly treeSize: number;
  /** The node in the tree that shows a node: itself, another one, or none. */
  shownAs(id: number): number | null;
  group(id: number): Group | null;
  /** The text at a place of the payload's table. */
  text(place: number): string;
  /** The local name on the tree's edge to the node, or what people call it; "" for the root. */
  label(id: number): string;
  /** The same on the saved side of a comparison (in a). */
  savedLabel(id: number): string;
  /** What people call a node, in any tree. */
  called(id: number): string;
  /** The same on the saved side of a comparison (in a). */
  savedCalled(id: number): string;
  treeParent(id: number): number | null;
  /** All nodes in the order of the tree, parents before children. */
  readonly order: Int32Array;
  treeChildren(id: number): Int32Array;
  children(id: number): readonly Edge[];
  /** Every edge that leads to the node, as parent and local name. */
  edgesTo(id: number): readonly Edge[];
  /** The last step of TensorFlow's path to the node; null for the root. */
  firstEdge(id: number): Edge | null;
  attributes(id: number): readonly Attribute[];
  /** The bytes of the node's own values; null if it has no value of known size. */
  bytes(id: number): number | null;
  slot(id: number): Slot | null;
  /** The node's name as TensorFlow prints it. */
  name(id: number): string;
}

/** Reads a column's value for a node, an edge or an attribute. */
type NumberAt = (column: NameOf<"graph">, index: number) => number;
type TextAt = (column: NameOf<"graph">, index: number) => string | null;

/** The graph of a payload; `canAsk` tells whether the view has a kernel. */
export function makeGraph(payload: Payload, canAsk = false): Graph {
  const { columns, nodeCount: size, strings } = payload;
  const at: NumberAt = (column, index) => columns[column][index] ?? ABSENT;
  const text: TextAt = (column, index) => strings[at(column, index)] ?? null;

  const childStart = starts(columns.child_count);
  const attributeStart = starts(columns.attribute_count);
  const unsavedStart = starts(columns.unsaved_count);
  const slots = slotsByNode(payload, text);
  const parents = ownersOf(childStart);
  const incoming = groupedBy(columns.child_node, size, Int32Array.from(parents.keys()));

  const range = (offsets: Int32Array, id: number): readonly number[] => {
    const first = offsets[id] ?? 0;
    return Array.from({ length: (offsets[id + 1] ?? first) - first }, (_, i) => first + i);
  };
  const dotted = (id: number) => dottedName(id, size, at, text);

  return {
    title: payload.title,
    origin: payload.origin,
    kind: payload.kind,
    notes: payload.notes,
    size,
    overlay: makeOverlay(payload, canAsk && payload.origin !== "saved"),
    table: makeTable(payload),
    measures: makeMeasures(payload.measures),
    ...treeOf(payload, at, text),
    calls: callsOf(payload),
    layerColumns: payload.layers,
    text: (place) => strings[place] ?? "",
    role: (id) => ROLES[at("role", id)] ?? "object",
    typeName: (id) => text("type_name", id),
    error: (id) => text("error", id),
    registeredSaver: (id) => text("registered_saver", id),
    collections: (id) => text("collections", id),
    ...ofLayers(payload),
    notSaved: (id) => range(unsavedStart, id).map((index) => notSavedAt(index, at, text)),
    children: (id) =>
      range(childStart, id).map((edge) => ({
        localName: text("child_label", edge) ?? "",
        node: at("child_node", edge),
      })),
    edgesTo: (id) =>
      Array.from(incoming(id), (edge) => ({
        localName: text("child_label", edge) ?? "",
        node: parents[edge] ?? ROOT,
      })),
    firstEdge: (id) => {
      const parent = at("first_parent", id);
      return id === ROOT || parent === ABSENT
        ? null
        : { localName: text("first_label", id) ?? "", node: parent };
    },
    attributes: (id) => range(attributeStart, id).map((index) => attributeAt(index, at, text)),
    bytes: (id) => {
      let sum: number | null = null;
      const end = attributeStart[id + 1] ?? 0;
      for (let index = attributeStart[id] ?? 0; index < end; index++) {
        const bytes = at("attribute_nbytes", index);
        sum = bytes < 0 ? sum : (sum ?? 0) + bytes;
      }
      return sum;
    },
    slot: (id) => slots.get(id) ?? null,
    name: (id) => {
      const slot = slots.get(id);
      return slot?.rule === "declared" && slot.optimizer !== null
        ? `${dotted(slot.optimizer)}'s state '${slot.name}' for ${dotted(slot.variable)}`
        : dotted(id);
    },
  };
}

function callsOf({ calls: { call_from, call_to } }: Payload): Calls | null {
  return call_from.length === 0
    ? null
    : { from: Int32Array.from(call_from), to: Int32Array.from(call_to) };
}

function notSavedAt(index: number, at: NumberAt, text: TextAt): NotSaved {
  return {
    name: text("unsaved_name", index) ?? "",
    type: text("unsaved_type", index) ?? "",
    values: at("unsaved_values", index),
    isLost: at("unsaved_is_lost", index) === 1,
  };
}

/** The tree of all nodes, each in its own row. */
function treeOf(payload: Payload, at: NumberAt, text: TextAt) {
  const { columns, nodeCount, overlay, strings } = payload;
  const label = (id: number): string => text("tree_label", id) ?? "";
  const saved = overlay?.columns.overlay_saved_label;
  const savedNames = overlay?.columns.overlay_saved_name;
  const called = (id: number) => text("node_name", id) ?? label(id);
  return {
    objects: null,
    treeSize: nodeCount,
    shownAs: (id: number) => id,
    group: () => null,
    order: Int32Array.from(columns.tree_order),
    label,
    savedLabel: (id: number) => strings[saved?.[id] ?? ABSENT] ?? label(id),
    called,
    savedCalled: (id: number) => strings[savedNames?.[id] ?? ABSENT] ?? called(id),
    treeParent: (id: number) => (at("tree_parent", id) === ABSENT ? null : at("tree_parent", id)),
    treeChildren: childLists(columns.tree_order, columns.tree_parent),
  };
}

/** A node's first path, in the form of TensorFlow's warnings: (root).layer.kernel. */
function dottedName(id: number, size: number, at: NumberAt, text: TextAt): string {
  const names: string[] = [];
  let node = id;
  // A first path with more steps than there are nodes is a circle: hostile, so we cut it off.
  while (node !== ROOT && names.length <= size) {
    const parent = at("first_parent", node);
    if (parent === ABSENT) {
      return WORDS.unreachable(id);
    }
    names.push(text("first_label", node) ?? "");
    node = parent;
  }
  return [WORDS.root, ...names.reverse()].join(".");
}

function attributeAt(index: number, at: NumberAt, text: TextAt): Attribute {
  return {
    name: text("attribute_name", index) ?? "",
    fullName: text("attribute_full_name", index) ?? "",
    checkpointKey: text("attribute_key", index) ?? "",
    dtype: text("attribute_dtype", index),
    shape: parseShape(text("attribute_shape", index)),
    nbytes: at("attribute_nbytes", index) < 0 ? null : at("attribute_nbytes", index),
    slices: at("attribute_slices", index),
    error: text("attribute_error", index),
  };
}

function parseShape(text: string | null): readonly number[] | null {
  if (text === null) {
    return null;
  }
  return text === "" ? [] : text.split(",").map(Number);
}

/** Whether a node is no part of the paths that people give: it only holds others, for itself. */
export function isHolder(graph: Graph, id: number): boolean {
  const label = (graph.objects ?? graph).label(id);
  return label.startsWith("_") && graph.attributes(id).length === 0;
}

/** Whether a node or one of its values could not be read. */
export function isUnreadable(graph: Graph, id: number): boolean {
  return graph.error(id) !== null || graph.attributes(id).some(({ error }) => error !== null);
}

/** The children of every node, in the order of a tree. */
export function childLists(order: Column, parents: Column): (id: number) => Int32Array {
  const parentOf = Int32Array.from(order, (id) => parents[id] ?? ABSENT);
  return groupedBy(parentOf, parents.length, order);
}

function slotsByNode({ columns }: Payload, text: TextAt): ReadonlyMap<number, Slot> {
  const slots = new Map<number, Slot>();
  columns.slot_node.forEach((node: number, index: number) => {
    const optimizer = columns.slot_optimizer[index] ?? ABSENT;
    slots.set(node, {
      name: text("slot_name", index) ?? "",
      variable: columns.slot_variable[index] ?? ROOT,
      optimizer: optimizer === ABSENT ? null : optimizer,
      rule: SLOT_RULES[columns.slot_rule[index] ?? 0] ?? "",
    });
  });
  return slots;
}

/** What is known of layers and of training. */
function ofLayers(payload: Payload): Pick<Graph, "facts" | "gets" | "gives" | "training"> {
  const { facts, strings } = payload;
  const known = factsByNode(payload);
  return {
    facts: (id) => known.get(id) ?? [],
    gives: (id) => strings[facts.layer_gives[id] ?? ABSENT] ?? null,
    gets: (id) => strings[facts.layer_gets[id] ?? ABSENT] ?? null,
    training: (id) => TRAININGS[(facts.training[id] ?? 0) - 1] ?? null,
  };
}

function factsByNode({ facts, strings }: Payload): ReadonlyMap<number, readonly Fact[]> {
  const { fact_name, fact_node, fact_value } = facts;
  const all = new Map<number, Fact[]>();
  fact_node.forEach((node: number, index: number) => {
    const name = strings[fact_name[index] ?? ABSENT] ?? "";
    const value = strings[fact_value[index] ?? ABSENT] ?? "";
    kept(all, node, () => []).push({ name, value });
  });
  return all;
}
