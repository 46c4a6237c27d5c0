/** A comparison as signs and words. TypeScript and Python share the table signs.json. */

import {
  bonds,
  fates,
  severities,
  sides,
  states,
  verdicts,
} from "../../ckpt_viz/render/signs.json";
import type { Comparison, NodeState, Severity } from "./contract";
import type { Bond } from "./fix";
import { isQuiet, type Overlay, type Problem, type StateCount } from "./overlay";
import * as WORDS from "./strings";
import { countWords, formatCount, sentenceText, shortened } from "./text";

/** A sign and the word for it; hollow for a result that is not decided yet. */
export interface Sign {
  readonly glyph: string;
  readonly word: string;
  readonly look: "quiet" | "loud" | "hollow";
}

/** Characters of a name in a sentence. */
const MAX_NAME = 60;
const STATE_SIGNS = states as Readonly<Record<NodeState, Sign>>;

const SEVERITY_SIGNS = severities as Readonly<Record<Severity, Sign & { readonly many: string }>>;

/** Two graphs that differ are not a failure. */
const VERDICT_SIGNS = verdicts as Readonly<
  Record<Comparison, { readonly yes: Sign; readonly no: Sign }>
>;

const BOND_SIGNS = bonds as Readonly<Record<Bond, Sign>>;

const FATE_SIGNS = fates as Readonly<Record<"restored" | "guess" | "kept" | "unused", Sign>>;

/** What a name on a side is called. */
export const SIDES: Readonly<
  Record<Comparison, { readonly saved: string; readonly live: string }>
> = sides;

/** How sure a fix is of a pair. */
export function bondSign(bond: Bond): Sign {
  return BOND_SIGNS[bond];
}

/** What a fix does with a value. */
export function fateSign(fate: keyof typeof FATE_SIGNS): Sign {
  return FATE_SIGNS[fate];
}

export function stateSign(state: NodeState): Sign {
  return STATE_SIGNS[state];
}

/** How bad a problem is. In a diff no problem is bad, so the sign shows the kind of difference. */
/** Whether a note says that files lack values: Python puts the sign for an error before it. */
export function isAlarm(note: string): boolean {
  return note.startsWith(SEVERITY_SIGNS.error.glyph);
}

export function problemSign(overlay: Overlay, { nodes, severity }: Problem): Sign {
  const [first] = nodes;
  return overlay.comparison === "diff" && first !== undefined
    ? STATE_SIGNS[overlay.state(first)]
    : SEVERITY_SIGNS[severity];
}

/** The sign in the list of causes: if an assert fails, what has happened to the node. */
export function causeSign(overlay: Overlay, problem: Problem): Sign {
  const { live, nodes, saved, severity } = problem;
  if (nodes.length === 0 || severity !== "fail") {
    return problemSign(overlay, problem);
  }
  const loud = nodes.find((id) => !isQuiet(overlay.state(id)));
  return saved !== null && live !== null && saved !== live
    ? STATE_SIGNS.moved
    : loud === undefined
      ? problemSign(overlay, problem)
      : STATE_SIGNS[overlay.state(loud)];
}

export function verdictSign({ comparison }: Overlay, passes: boolean): Sign {
  return VERDICT_SIGNS[comparison][passes ? "yes" : "no"];
}

/** The counts of the states below a node: ≠1 −2. States with the same sign share one count. */
export function belowWords(overlay: Overlay, id: number): string {
  const counts = new Map<string, number>();
  for (const { state, count } of overlay.below(id)) {
    const { glyph } = STATE_SIGNS[state];
    counts.set(glyph, (counts.get(glyph) ?? 0) + count);
  }
  return Array.from(counts, ([glyph, count]) => `${glyph}${formatCount(count)}`).join(" ");
}

/** The same in words: 1 shape differs, 2 not used by program. */
export function belowSentence(overlay: Overlay, id: number): string {
  return countsSentence(overlay.below(id));
}

export function countsSentence(counts: readonly StateCount[]): string {
  return counts
    .map(({ state, count }) => `${formatCount(count)} ${STATE_SIGNS[state].word}`)
    .join(", ");
}

/** The text beside a node's box: its state and, while the node is closed, the counts below it. */
export function besideWords(overlay: Overlay | null, id: number, isExpanded: boolean): string {
  if (overlay === null || isExpanded) {
    return "";
  }
  const state = overlay.state(id);
  return filled(isQuiet(state) ? "" : STATE_SIGNS[state].word, belowWords(overlay, id)).join("  ");
}

/** The names in a problem, except the name that the view shows there already. */
export function namesWords(
  overlay: Overlay,
  { saved, live }: Problem,
  known: string | null,
): readonly string[] {
  const sides = SIDES[overlay.comparison];
  const side = (words: string, name: string | null): string =>
    name === null || name === known ? "" : `${words} ${sentenceText(name)}`;
  return saved === live
    ? filled(side("", saved).trim())
    : filled(side(sides.saved, saved), side(sides.live, live));
}

export function problemsWord(overlay: Overlay, count: number): string {
  return overlay.comparison === "diff"
    ? countWords(count, ...WORDS.counts.differences)
    : countWords(count, ...WORDS.counts.problems);
}

/** The position among the problems, in the order of their causes: 3 of 12. */
export function positionWords(overlay: Overlay, problem: number | null): string {
  return problem === null
    ? problemsWord(overlay, overlay.problemCount)
    : WORDS.place(
        formatCount(overlay.inOrder.indexOf(problem) + 1),
        formatCount(overlay.problemCount),
      );
}

/** The kind of a problem in a few words: error, unused attribute. */
export function problemHead(overlay: Overlay, problem: Problem): string {
  const { word } = problemSign(overlay, problem);
  const kind = sentenceText(problem.kind).replaceAll("_", " ");
  return overlay.comparison === "diff" && problem.nodes.length > 0
    ? word
    : filled(word, kind).join(", ");
}

/** The kind of a problem and what people call its object: value differs, step. */
export function problemTitle(overlay: Overlay, problem: Problem): string {
  const name = sentenceText(problem.place ?? "");
  const isSaid = sentenceText(problem.why).includes(name);
  return filled(problemHead(overlay, problem), isSaid ? "" : shortened(name, MAX_NAME)).join(", ");
}

/** A problem in a line, without room for code: error, shape, step: … */
export function problemSentence(overlay: Overlay, index: number): string {
  const problem = overlay.problem(index);
  const title = `${problemTitle(overlay, problem)}:`;
  const remedy = problem.code === null ? sentenceText(problem.remedy ?? "") : WORDS.hasCode;
  return filled(title, sentenceText(problem.why), remedy).join(" ");
}

/** The number of problems of each severity: 2 errors, 1 warning. "" in a diff. */
export function severityWords({ comparison, severities }: Overlay): string {
  if (comparison === "diff") {
    return "";
  }
  return severities
    .map(({ severity, count }) => {
      const { word, many } = SEVERITY_SIGNS[severity];
      return countWords(count, word, many);
    })
    .join(", ");
}

function filled(...words: readonly string[]): readonly string[] {
  return words.filter((word) => word !== "");
}
