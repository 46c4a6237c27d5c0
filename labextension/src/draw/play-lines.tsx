/** What the table shows while a restore plays: what has become of each line so far. */

import * as WORDS from "../basics/strings";
import { formatCount, shortened, visible } from "../basics/text";
import type { Graph } from "../data/graph";
import { type Line, linesAbove, type Table } from "../data/table";
import { type Fate, nodesAround, type PlayStep, type Story } from "../kernel/play";
import { lineAt } from "../state/lines";
import { type Sign, stateSign } from "../words/signs";
import { placeName } from "../words/words";
import { SignIcon } from "./icons";
import type { PlayedColumn } from "./table";

const SIGNS: Readonly<Record<Fate, Sign>> = {
  unseen: { glyph: "", word: WORDS.fates.unseen, look: "quiet" },
  queued: { glyph: "→", word: WORDS.fates.queued, look: "quiet" },
  bound: { ...stateSign("matched"), word: WORDS.fates.bound },
  waits: { ...stateSign("deferred"), word: WORDS.fates.waits },
  forgotten: { glyph: "−", word: WORDS.fates.forgotten, look: "quiet" },
  restored: { glyph: "=", word: WORDS.fates.restored, look: "quiet" },
  failed: { ...stateSign("failed"), word: WORDS.fates.failed },
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
const DONE: ReadonlySet<Fate> = new Set(["queued", "bound", "restored"]);
/** Characters of a name in a cell. */
const MAX_NAME = 32;

interface Moment {
  readonly graph: Graph;
  readonly table: Table;
  readonly story: Story;
  readonly at: number;
  /** The node that a question is about. */
  readonly asked: number | null;
}

/** The middle column after a step. */
export function playedColumn(moment: Moment): PlayedColumn {
  const { asked, at, graph, story, table } = moment;
  const step = story.step(at);
  const nodes = [step.saved, step.live].filter((id) => id !== null);
  const now = new Set(nodes.map((id) => lineAt(graph, table, id)));
  const question = asked === null ? null : lineAt(graph, table, asked);
  return {
    title: WORDS.table.soFar,
    note: "",
    least: 0,
    texts: () => textsOf(moment),
    cell(line) {
      const nodesOfLine = [line.savedNode, line.liveNode];
      const isStep = now.has(line.id);
      const classes = [
        "ckv-fate",
        isStep ? `ckv-now ckv-does-${step.action.replaceAll(" ", "-")}` : "",
      ];
      if (line.id === question) {
        return { content: WORDS.predicts.asked, class: [...classes, "ckv-asked"].join(" ") };
      }
      const isOwnStep = nodes.some((id) => nodesOfLine.includes(id));
      const { sign, words } = fateOf(moment, line);
      const said = isOwnStep ? nowWords(step) : words;
      return {
        content: (
          <>
            {isOwnStep || sign === null ? null : <SignIcon sign={sign} />}{" "}
            <span class="ckv-cut">{said}</span>
          </>
        ),
        class: classes.join(" "),
      };
    },
  };
}

/** What the column says at any step. */
function* textsOf({ graph, story }: Moment): Iterable<string> {
  yield* Object.values(WORDS.fates);
  yield WORDS.boundBelow(formatCount(story.size), formatCount(story.size));
  for (let at = 0; at < Math.min(story.length, MOST_STEPS); at++) {
    const step = story.step(at);
    yield nowWords(step);
    const [saved, live] = [step.saved, step.live];
    if (saved !== null && live !== null && saved !== live) {
      yield WORDS.boundTo(WORDS.fates.bound, nameOf(graph, live));
    }
  }
}

/** Steps that are read for the width of the column. */
const MOST_STEPS = 2000;

/** What has become of a line's own node, or of how many of those inside of it. */
function fateOf(
  { at, graph, story, table }: Moment,
  line: Line,
): { readonly sign: Sign | null; readonly words: string } {
  const node = line.savedNode ?? line.liveNode;
  const inside = table.inside(line.id).length > 0;
  if (inside || node === null) {
    const fates = [...table.nodesIn(line.id, "saved"), ...table.nodesIn(line.id, "live")]
      .map((id) => story.fate(id, at))
      .filter((fate) => fate !== null);
    const done = fates.filter((fate) => DONE.has(fate)).length;
    const words = WORDS.boundBelow(formatCount(done), formatCount(fates.length));
    return { sign: null, words: done === 0 ? WORDS.fates.unseen : words };
  }
  const fate = story.fate(node, at);
  if (fate === null) {
    return { sign: null, words: "" };
  }
  const other = line.savedNode === null ? null : story.boundTo(line.savedNode, at);
  const sign = SIGNS[fate];
  return other === null || other === line.liveNode || lineAt(graph, table, other) === line.id
    ? { sign, words: sign.word }
    : { sign, words: WORDS.boundTo(sign.word, nameOf(graph, other)) };
}

function nameOf(graph: Graph, id: number): string {
  return shortened(visible(placeName(graph, id)), MAX_NAME) || WORDS.root;
}

/** The edge of the step by name, and what the step does. */
function nowWords({ action, holder, name }: PlayStep): string {
  const fate = FATES[action.replace(" slot", "")];
  const word = WORDS.deeds[action as keyof typeof WORDS.deeds] ?? visible(action);
  // The dots of what waits would read as words that are cut.
  const does = fate === undefined || fate === "waits" ? word : `${SIGNS[fate].glyph} ${word}`;
  return holder === null || name === "" ? does : `“${shortened(visible(name), MAX_NAME)}” ${does}`;
}

/** Steps before and after the current one whose lines are open. */
const NEAR = 5;

/** The lines to open at a step. */
export function linesAround(story: Story, graph: Graph, table: Table, at: number) {
  const lines = nodesAround(story, at, NEAR).flatMap((id) => lineAt(graph, table, id) ?? []);
  return [...new Set(lines.flatMap((line) => linesAbove(table, line)))];
}
