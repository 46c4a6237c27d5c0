/** A restore that a page plays: its steps, and what TensorFlow holds after each of them. */

import { kept } from "../basics/once";
import * as WORDS from "../basics/strings";

/** The answer of a kernel; ckpt_viz/answers/restore_check/played.py makes it. */
export interface StoryAnswer {
  readonly title: string;
  /** Why there are no steps, in a sentence; "" if there are some. */
  readonly end: string;
  /** The words for actions, and all local names; columns have their places. */
  readonly actions: readonly string[];
  readonly names: readonly string[];
}

/** The words of some steps that follow each other. */
export interface Said {
  readonly first: number;
  /** A sentence for each step, and the places of its reason and of its function. */
  readonly steps: readonly (readonly [string, number, number])[];
  readonly reasons: readonly string[];
  /** The name of each function of TensorFlow, its file and the line. */
  readonly functions: readonly (readonly [string, string, number | null])[];
}

/** What the page says of a step. */
export interface StepWords {
  readonly text: string;
  readonly reason: string;
  /** The name of the function of TensorFlow, its file and the line. */
  readonly place: readonly [string, string, number | null];
}

/** One step. Nodes are those of the picture, null where it has none. */
export interface PlayStep {
  readonly action: string;
  /** The number of the saved node; null for a step without one. */
  readonly node: number | null;
  readonly saved: number | null;
  readonly live: number | null;
  /** The saved node whose child or slot the step looks at. */
  readonly holder: number | null;
  readonly name: string;
  readonly isProblem: boolean;
}

/** What has become of a node up to a step. */
export type Fate = "unseen" | "queued" | "bound" | "waits" | "forgotten" | "restored" | "failed";

/** What waits, and for which name at which object. */
export interface Wait {
  readonly node: number;
  /** The node of the picture that has no such name yet. */
  readonly holder: number | null;
  readonly name: string;
}

export interface Story extends Pick<StoryAnswer, "end"> {
  readonly length: number;
  /** The number of saved nodes. */
  readonly size: number;
  /** The steps at which something goes wrong. */
  readonly problems: readonly number[];
  step(at: number): PlayStep;
  /** Whether a node is taken from the queue at a step. */
  isVisit(at: number): boolean;
  /** The saved nodes in the queue after a step, the next one first, up to a number of them. */
  queue(at: number, most?: number): readonly number[];
  queueLength(at: number): number;
  waiting(at: number): readonly Wait[];
  /** How many nodes have an object, and how many objects their value, after a step. */
  bound(at: number): number;
  assigned(at: number): number;
  /** The node of the picture for a saved node; null without one. */
  place(node: number): number | null;
  /** What has become of a node of the picture; null if no step is about it. */
  fate(id: number, at: number): Fate | null;
  /** The node of the picture for the object that a saved node has; null before, or without one. */
  boundTo(id: number, at: number): number | null;
}

/** The last bit of an action: from this step on, something is wrong. */
const PROBLEM = 128;
const INT = 4;
const NEVER = Number.MAX_SAFE_INTEGER;

/** The story in an answer, for a picture of this many nodes; null for a malformed one. */
export function makeStory(
  answer: StoryAnswer,
  buffers: readonly DataView[],
  size: number,
): Story | null {
  const columns = columnsIn(answer, buffers, size);
  if (columns === null) {
    return null;
  }
  const { kinds, saved, live, holders, names, places } = columns;
  const actionAt = (at: number) => answer.actions[(kinds[at] ?? 0) & ~PROBLEM] ?? "";
  const walk = walked({ saved, live, holders, actionAt }, kinds.length, places.length);
  const { joined, nodes, seen, visits, waits, assigned } = walk;
  const placeOf = (node: number) => noneOr(places[node]);
  const wholesOf = inverse(places, size);
  const queueLength = (at: number) => countUpTo(joined, at) - countUpTo(visits, at);
  return {
    end: answer.end,
    length: kinds.length,
    size: places.length,
    problems: Array.from(kinds.keys()).filter((at) => ((kinds[at] ?? 0) & PROBLEM) !== 0),
    step: (at) => ({
      action: actionAt(at),
      node: noneOr(saved[at]),
      saved: placeOf(saved[at] ?? -1),
      live: noneOr(live[at]),
      holder: placeOf(holders[at] ?? -1),
      name: answer.names[names[at] ?? -1] ?? "",
      isProblem: ((kinds[at] ?? 0) & PROBLEM) !== 0,
    }),
    isVisit: (at) => walk.visited[saved[at] ?? -1] === at,
    queue(at, most = NEVER) {
      const queue: number[] = [];
      const last = countUpTo(joined, at);
      for (let i = countUpTo(seen, at); i < last && queue.length < most; i++) {
        const node = nodes[i] ?? -1;
        if ((walk.visited[node] ?? NEVER) > at) {
          queue.push(node);
        }
      }
      return queue;
    },
    queueLength,
    waiting: (at) =>
      waits
        .filter(({ begin, node }) => begin <= at && at < (walk.bound[node] ?? NEVER))
        .map(({ begin, node }) => ({
          node,
          holder: placeOf(holders[begin] ?? -1),
          name: answer.names[names[begin] ?? -1] ?? "",
        })),
    bound: (at) => countUpTo(joined, at),
    assigned: (at) => countUpTo(assigned, at),
    place: placeOf,
    boundTo: (id, at) => {
      const node = wholesOf[id] ?? -1;
      return (walk.bound[node] ?? NEVER) <= at ? noneOr(walk.objects[node]) : null;
    },
    fate: (id, at) => fateOf(walk, wholesOf[id] ?? -1, at) ?? fateOfObject(walk, id, at),
  };
}

/** The columns of an answer; null if they do not belong together. */
function columnsIn(
  { actions, names: texts }: StoryAnswer,
  buffers: readonly DataView[],
  size: number,
) {
  const [bytes, ...others] = buffers;
  const [saved, live, holders, names, places, ...more] = others.map(numbersIn);
  if (!bytes || !saved || !live || !holders || !names || !places || more.length > 0) {
    return null;
  }
  const kinds = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isNode = (id: number) => id >= -1 && id < size;
  const isSaved = (node: number) => node >= -1 && node < places.length;
  const isWhole =
    Array.isArray(actions) &&
    Array.isArray(texts) &&
    [saved, live, holders, names].every((column) => column.length === kinds.length) &&
    [saved, holders].every((column) => column.every(isSaved)) &&
    [live, places].every((column) => column.every(isNode)) &&
    names.every((place) => typeof texts[place] === "string") &&
    kinds.every((kind) => typeof actions[kind & ~PROBLEM] === "string");
  return isWhole ? { kinds, saved, live, holders, names, places } : null;
}

type Walk = ReturnType<typeof walked>;

/** What has become of a saved node; null for none. */
function fateOf(walk: Walk, node: number, at: number): Fate | null {
  const { bound, failed, forgotten, restored, visited, waiting } = walk;
  const is = (column: Float64Array) => (column[node] ?? NEVER) <= at;
  if (node < 0) {
    return null;
  }
  if (is(failed) || is(restored)) {
    return is(failed) ? "failed" : "restored";
  }
  if (is(bound)) {
    return is(visited) ? "bound" : "queued";
  }
  return is(waiting) ? "waits" : is(forgotten) ? "forgotten" : "unseen";
}

/** The same of an object of the program that is in no line with a saved node. */
function fateOfObject({ filled, reached }: Walk, id: number, at: number): Fate | null {
  const first = reached.get(id);
  if (first === undefined) {
    return null;
  }
  return first > at ? "unseen" : (filled.get(id) ?? NEVER) <= at ? "restored" : "bound";
}

interface Columns {
  readonly saved: Int32Array;
  readonly live: Int32Array;
  readonly holders: Int32Array;
  readonly actionAt: (at: number) => string;
}

/** One pass over all steps: when each node is bound, visited, restored and so on. */
function walked({ saved, live, holders, actionAt }: Columns, length: number, size: number) {
  const column = () => new Float64Array(size).fill(NEVER);
  const [bound, visited, restored, failed] = [column(), column(), column(), column()];
  const [waiting, forgotten] = [column(), column()];
  const put = (to: Float64Array, node: number, at: number) => {
    to[node] = Math.min(to[node] ?? NEVER, at);
  };
  const [joined, nodes, visits, assigned]: [number[], number[], number[], number[]] = [
    [],
    [],
    [],
    [],
  ];
  const waits: { readonly begin: number; readonly node: number }[] = [];
  const objects = new Int32Array(size).fill(-1);
  const reached = new Map<number, number>();
  const filled = new Map<number, number>();
  for (let at = 0; at < length; at++) {
    const [action, node, object] = [actionAt(at), saved[at] ?? -1, live[at] ?? -1];
    if (action === "bind") {
      objects[node] = bound[node] === NEVER ? object : (objects[node] ?? -1);
      put(bound, node, at);
      joined.push(at);
      nodes.push(node);
      reached.set(object, Math.min(reached.get(object) ?? at, at));
    } else if (action === "defer" || action === "defer slot") {
      put(waiting, node, at);
      waits.push({ begin: at, node });
    } else if (action === "drop" || action === "drop slot") {
      put(forgotten, node, at);
    } else if (action === "restore") {
      put(restored, node, at);
      assigned.push(at);
      reached.set(object, Math.min(reached.get(object) ?? at, at));
      filled.set(object, Math.min(filled.get(object) ?? at, at));
    } else if (action === "fail") {
      put(failed, node, at);
    }
    const isOwn = action !== "bind" && action !== "create" && holders[at] === -1;
    if (isOwn && node >= 0 && visited[node] === NEVER) {
      visited[node] = at;
      visits.push(at);
    }
  }
  reached.delete(-1);
  // For each node in the order of joining, the last visit of it and of all before.
  let last = -1;
  const seen = nodes.map((node) => {
    last = Math.max(last, visited[node] ?? NEVER);
    return last;
  });
  return {
    ...{ bound, visited, restored, failed, waiting, forgotten },
    ...{ joined, nodes, seen, visits, waits, assigned, objects, reached, filled },
  };
}

/** How many of some rising steps come up to one. */
function countUpTo(steps: ArrayLike<number>, at: number): number {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] ?? NEVER) <= at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const noneOr = (id: number | undefined): number | null => (id === undefined || id < 0 ? null : id);

/** By node of the picture, the first saved node that it shows; -1 for none. */
function inverse(places: Int32Array, size: number): Int32Array {
  const wholes = new Int32Array(size).fill(-1);
  for (let node = places.length - 1; node >= 0; node--) {
    const place = places[node] ?? -1;
    if (place >= 0) {
      wholes[place] = node;
    }
  }
  return wholes;
}

/** The numbers in a buffer, which may begin anywhere in memory; null for a part of a number. */
function numbersIn({ buffer, byteLength, byteOffset }: DataView): Int32Array | null {
  return byteLength % INT === 0
    ? new Int32Array(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
    : null;
}

// --- playing

export const SPEEDS = [0.5, 1, 2, 4] as const;
/** Milliseconds that a step takes at speed 1. */
const STEP_TIME = 1_200;
/** What is known already needs less time. */
const KNOWN_FASTER = 4;
/** Stories with more steps go on by a whole node at a time. */
export const MOST_STEPWISE = 5_000;

/** The next step after one, or before it, that takes a node from the queue; else the end. */
export function nextVisit({ isVisit, length }: Story, at: number, by: 1 | -1 = 1): number {
  let next = at + by;
  while (next > 0 && next < length - 1 && !isVisit(next)) {
    next += by;
  }
  return Math.min(Math.max(next, 0), length - 1);
}

/** The next step at which something goes wrong, or the same one if none follows. */
export function nextProblem({ problems }: Story, at: number): number {
  return problems.find((step) => step > at) ?? at;
}

/** Where playing goes from a step: one further, in a long story by a node. */
export function nextPlayed(story: Story, at: number): number {
  const next = story.length > MOST_STEPWISE ? nextVisit(story, at) : at + 1;
  return Math.min(next, story.length - 1);
}

/** How long a step stays, in ms. */
export function timeOf(story: Story, at: number, speed: number): number {
  return STEP_TIME / speed / (story.step(at).action === "keep" ? KNOWN_FASTER : 1);
}

/** The nodes of the picture that the steps around one are about, those of the step last. */
export function nodesAround(story: Story, at: number, distance: number): readonly number[] {
  const first = Math.max(0, at - distance);
  const last = Math.min(story.length - 1, at + distance);
  const nodes: number[] = [];
  for (const step of [...range(first, last), at]) {
    const { holder, live, saved } = story.step(step);
    nodes.push(...[holder, live, saved].filter((id) => id !== null));
  }
  return nodes;
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

// --- keys

export type PlayDeed =
  | { readonly type: "toggle" | "first" | "last" | "close" | "problem" }
  | { readonly type: "step" | "node"; readonly by: 1 | -1 };

type PlayKey = readonly [key: string, does: PlayDeed, help: string];

const HELP = WORDS.playKeys;

/**
 * The keys while a restore plays, in the order in which the page lists them. A key is as in
 * `KeyboardEvent.key`, after `Shift+` if that is held.
 */
const PLAY_KEYS: readonly PlayKey[] = [
  [" ", { type: "toggle" }, HELP.toggle],
  ["ArrowLeft", { type: "step", by: -1 }, HELP.step],
  ["ArrowRight", { type: "step", by: 1 }, HELP.step],
  ["Shift+ArrowLeft", { type: "node", by: -1 }, HELP.node],
  ["Shift+ArrowRight", { type: "node", by: 1 }, HELP.node],
  ["Home", { type: "first" }, HELP.ends],
  ["End", { type: "last" }, HELP.ends],
  ["]", { type: "problem" }, HELP.problem],
  ["Escape", { type: "close" }, HELP.close],
];

const BY_KEY = new Map(PLAY_KEYS.map(([key, does]) => [key, does]));

/** What a key does while a restore plays; undefined for keys that keep their meaning. */
export function playDeedOf(event: KeyboardEvent): PlayDeed | undefined {
  const { altKey, ctrlKey, key, metaKey, shiftKey } = event;
  const isLong = key.length > 1;
  return altKey || ctrlKey || metaKey
    ? undefined
    : BY_KEY.get(shiftKey && isLong ? `Shift+${key}` : key);
}

/** The keys as lines: those with the same meaning share one. */
export function playKeyLines(): readonly { readonly keys: string; readonly does: string }[] {
  const lines = new Map<string, string[]>();
  for (const [key, , help] of PLAY_KEYS) {
    kept(lines, help, () => []).push(WORDS.keyLabel(key));
  }
  return Array.from(lines, ([does, keys]) => ({ keys: keys.join(" "), does }));
}
