/** The payloads that Python wrote (tests/payload_fixtures.py), and graphs of any shape. */

import { readdirSync, readFileSync } from "node:fs";
import { decode } from "./contract";
import { type Graph, makeGraph } from "./graph";

const DIRECTORY = new URL("../../tests/data/payloads/", import.meta.url);

export const FIXTURES: readonly string[] = readdirSync(DIRECTORY)
  .filter((file) => file.endsWith(".payload"))
  .map((file) => file.replace(".payload", ""));

export function payload(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.payload`, DIRECTORY)));
}

export function expected(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, DIRECTORY), "utf8"));
}

export async function loadGraph(name: string): Promise<Graph> {
  return makeGraph(await decode(payload(name)));
}

/** A graph that is a tree: the parent of every node but the root, which come before it. */
export function treeGraph(parents: readonly number[]): Graph {
  const children: number[][] = [[], ...parents.map(() => [])];
  parents.forEach((parent, index) => {
    children[parent]?.push(index + 1);
  });
  const ids = children.map((list) => Int32Array.from(list));
  return {
    title: "tree",
    origin: "saved",
    notes: [],
    size: children.length,
    role: () => "object",
    typeName: () => null,
    error: () => null,
    registeredSaver: () => null,
    trainable: () => null,
    collections: () => null,
    notSaved: () => [],
    label: (id) => (id === 0 ? "" : `edge ${id}`),
    treeParent: (id) => parents[id - 1] ?? null,
    treeChildren: (id) => ids[id] ?? new Int32Array(),
    children: (id) => (children[id] ?? []).map((node) => ({ localName: `edge ${node}`, node })),
    edgesTo: () => [],
    attributes: () => [],
    slot: () => null,
    name: (id) => `node ${id}`,
  };
}

/** A tree in which every node has this many children, down to this depth. */
export function fullTree(fanOut: number, depth: number): Graph {
  const parents: number[] = [];
  let layer = [0];
  for (let level = 0; level < depth; level++) {
    const next: number[] = [];
    for (const parent of layer) {
      for (let i = 0; i < fanOut; i++) {
        parents.push(parent);
        next.push(parents.length);
      }
    }
    layer = next;
  }
  return treeGraph(parents);
}
