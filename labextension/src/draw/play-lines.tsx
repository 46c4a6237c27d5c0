/** What both sides show while a restore plays: what has become of each row, and the current edge. */

import type { Graph } from "../graph";
import { nodesBelow } from "../layout/feeds";
import type { Row } from "../layout/rows";
import { LINE_PITCH, type Line } from "../layout/sides";
import { type Fate, nodesAround, type PlayStep, type Story } from "../play";
import { type Sign, stateSign } from "../signs";
import type { State } from "../state";
import * as WORDS from "../strings";
import { clip, clipStart, formatCount, visible } from "../text";
import { placeName } from "../words";
import { type LineMark, NOTHING, nodesIn, type Stroke } from "./lines";

const SIGNS: Readonly<Record<Fate, Sign>> = {
  unseen: { glyph: "", word: WORDS.fates.unseen, look: "quiet" },
  queued: { glyph: "→", word: WORDS.fates.queued, look: "quiet" },
  bound: { ...stateSign("matched"), word: WORDS.fates.bound },
  waits: { ...stateSign("deferred"), word: WORDS.fates.waits },
  forgotten: { glyph: "−", word: WORDS.fates.forgotten, look: "quiet" },
  restored: { glyph: "=", word: WORDS.fates.restored, look: "quiet" },
  failed: { ...stateSign("failed"), word: WORDS.fates.failed },
};
const STROKES: Readonly<Record<Fate, Stroke>> = {
  unseen: "none",
  queued: "restored",
  bound: "restored",
  waits: "alone",
  forgotten: "none",
  restored: "restored",
  failed: "differs",
};

/** What becomes of the node of a step, by its action. */
const FATES: Readonly<Partial<Record<string, Fate>>> = {
  bind: "bound",
  keep: "bound",
  defer: "waits",
  drop: "forgotten",
  restore: "restored",
  fail: "failed",
};

/** The mark of a line after a step. */
export function markOfLine(
  state: State,
  story: Story,
  at: number,
  stops: ReadonlySet<number>,
  line: Line,
  /** The node that a question is about. */
  asked: number | null,
): LineMark {
  const { graph, rows } = state;
  const [saved, live] = [rows[line.saved ?? -1], rows[line.live ?? -1]];
  const row = live ?? saved;
  if (row === undefined) {
    return NOTHING;
  }
  const step = story.step(at);
  const ids = [saved?.id, live?.id];
  const isStep = row.chunk === null && [step.saved, step.live].some((id) => ids.includes(id ?? -2));
  const isHolder = row.chunk === null && step.holder !== null && ids.includes(step.holder);
  const isAsked = row.chunk === null && asked !== null && ids.includes(asked);
  const mark = markOfRow(graph, story, at, saved ?? row);
  const other = row.chunk === null && saved && live ? story.boundTo(saved.id, at) : null;
  const goesAway = other !== null && other !== live?.id;
  const names = [
    saved && live && (goesAway || mark.sign === SIGNS.waits) ? "ckv-saved-alone" : "",
    isStep && step.saved !== saved?.id ? "ckv-live-alone" : "",
    isStep ? `ckv-now ckv-does-${step.action.replaceAll(" ", "-")}` : "",
    isHolder && !isStep ? "ckv-holds" : "",
    ids.some((id) => id !== undefined && stops.has(id)) ? "ckv-stops" : "",
    isAsked ? "ckv-asked" : "",
  ];
  const now = isAsked
    ? { sign: null, words: WORDS.predicts.asked }
    : isStep
      ? { sign: null, words: nowWords(step) }
      : {};
  if (goesAway) {
    const words = WORDS.boundTo(now.words ?? mark.words, nameOf(graph, other));
    return { ...mark, ...now, words, stroke: "none", class: [mark.class, ...names].join(" ") };
  }
  return { ...mark, ...now, class: [mark.class, ...names].join(" ") };
}

function nameOf(graph: Graph, id: number): string {
  return clipStart(visible(placeName(graph, id)), MAX_NAME) || WORDS.root;
}

/** The edge of the step by name, and what the step does. */
function nowWords({ action, holder, name }: PlayStep): string {
  const fate = FATES[action.replace(" slot", "")];
  const word = WORDS.deeds[action as keyof typeof WORDS.deeds] ?? visible(action);
  const does = fate === undefined ? word : `${SIGNS[fate].glyph} ${word}`;
  return holder === null || name === "" ? does : `“${clip(visible(name), MAX_NAME)}” ${does}`;
}

function markOfRow(graph: Graph, story: Story, at: number, row: Row): LineMark {
  const fate = row.chunk === null ? story.fate(row.id, at) : null;
  const below = row.isExpanded ? "" : belowWords(graph, story, at, row);
  if (fate === null) {
    return { ...NOTHING, words: below, class: "ckv-fate" };
  }
  const sign = SIGNS[fate];
  const words = below === "" ? sign.word : `${sign.word}, ${below}`;
  return { sign, words, stroke: STROKES[fate], class: `ckv-fate ckv-fate-${fate}` };
}

/** How many of the nodes that a folded row holds have an object; "" if it holds none. */
function belowWords(graph: Graph, story: Story, at: number, { chunk, id }: Row): string {
  const below = chunk === null ? allBelow(graph, id) : nodesIn(graph, chunk, id);
  const fates = below.map((node) => story.fate(node, at)).filter((fate) => fate !== null);
  const done = fates.filter((fate) => DONE.has(fate)).length;
  return fates.length === 0 ? "" : WORDS.boundBelow(formatCount(done), formatCount(fates.length));
}

const DONE: ReadonlySet<Fate> = new Set(["queued", "bound", "restored"]);

function allBelow(graph: Graph, top: number): readonly number[] {
  const nodes = [...nodesBelow(graph, top)];
  for (let i = 0; i < nodes.length; i++) {
    nodes.push(...nodesBelow(graph, nodes[i] ?? top));
  }
  return nodes;
}

/** Graphs with at most this many nodes are open as a whole. */
const ALL_OPEN = 60;
/** Steps before and after the current one whose rows are open in larger graphs. */
const NEAR = 5;

/** The nodes to open, and those to bring into sight, the most important one last. */
export function rowsFor(story: Story, graph: Graph, at: number) {
  const step = story.step(at);
  const isSmall = graph.size <= ALL_OPEN;
  const expanded = isSmall
    ? Array.from({ length: graph.size }, (_, id) => id)
    : [...new Set(nodesAround(story, at, NEAR).flatMap((id) => withAncestors(graph, id)))];
  const shown = [step.holder, step.live, step.saved].filter((id) => id !== null);
  return { expanded, shown };
}

/** What is above a node in the tree. */
function withAncestors(graph: Graph, id: number): readonly number[] {
  const above: number[] = [];
  for (let node = graph.treeParent(id); node !== null; node = graph.treeParent(node)) {
    above.push(node);
  }
  return above;
}

interface LaneProps {
  readonly state: State;
  readonly story: Story;
  readonly at: number;
}

/** The edge of a step that is none of the tree, beside both columns: from its holder to the child. */
export function Lane({ state, story, at }: LaneProps) {
  const { holder, live, name, saved } = story.step(at);
  const { graph, rowOf, sides } = state;
  const child = saved ?? live;
  if (holder === null || child === null || sides === null || graph.treeParent(child) === holder) {
    return null;
  }
  const lineOf = (id: number) => sides.lineOf[rowOf.get(id) ?? -1];
  const [from, to] = [lineOf(holder), lineOf(child)];
  if (from === undefined || to === undefined || from === to) {
    return null;
  }
  const isUp = to < from;
  const style = {
    top: `${(Math.min(from, to) + 0.5) * LINE_PITCH}px`,
    height: `${Math.abs(from - to) * LINE_PITCH}px`,
  };
  return (
    <>
      {["saved", ...(live === null ? [] : ["live"])].map((side) => (
        <div
          key={side}
          class={`ckv-lane ckv-lane-${side}${isUp ? " ckv-lane-up" : ""}`}
          style={style}
          aria-hidden="true"
        >
          <b>{clip(visible(name), MAX_NAME)}</b>
        </div>
      ))}
    </>
  );
}

/** Characters of a name in a lane. */
const MAX_NAME = 14;
