/** A comparison in signs and words: signs.json has them for TypeScript and Python. */

import TABLE from "../../ckpt_viz/render/signs.json";
import type { Comparison, NodeState, Severity } from "./contract";
import { isQuiet, type Overlay, type Problem } from "./overlay";
import * as WORDS from "./strings";
import { clipStart, countWords, formatCount, sentenceText } from "./text";

/** A sign, and the word that it stands for; hollow for what is not decided yet. */
export interface Sign {
  readonly glyph: string;
  readonly word: string;
  readonly look: "quiet" | "loud" | "hollow";
}

const STATE_SIGNS = TABLE.states as Readonly<Record<NodeState, Sign>>;

const SEVERITY_SIGNS = TABLE.severities as Readonly<
  Record<Severity, Sign & { readonly many: string }>
>;

/** Two graphs that differ are no failure. */
const VERDICT_SIGNS = TABLE.verdicts as Readonly<
  Record<Comparison, { readonly yes: Sign; readonly no: Sign }>
>;

const SIDES: Readonly<Record<Comparison, { readonly saved: string; readonly live: string }>> =
  TABLE.sides;

export function stateSign(state: NodeState): Sign {
  return STATE_SIGNS[state];
}

/** How bad a problem is; in a diff, where nothing is, what differs. */
export function problemSign(overlay: Overlay, { nodes, severity }: Problem): Sign {
  const [first] = nodes;
  return overlay.comparison === "diff" && first !== undefined
    ? STATE_SIGNS[overlay.state(first)]
    : SEVERITY_SIGNS[severity];
}

export function verdictSign({ comparison }: Overlay, passes: boolean): Sign {
  return VERDICT_SIGNS[comparison][passes ? "yes" : "no"];
}

/** What the nodes below one come to: ≠1 −2. States with the same sign are one count. */
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
  return overlay
    .below(id)
    .map(({ state, count }) => `${formatCount(count)} ${STATE_SIGNS[state].word}`)
    .join(", ");
}

/** What stands beside a node's box: its state, and what is below while that is closed. */
export function besideWords(overlay: Overlay | null, id: number, isExpanded: boolean): string {
  if (overlay === null || isExpanded) {
    return "";
  }
  const state = overlay.state(id);
  return filled(isQuiet(state) ? "" : STATE_SIGNS[state].word, belowWords(overlay, id)).join("  ");
}

/** A node's mark in words, for a screen reader. */
export function comparedWords(overlay: Overlay, id: number): readonly string[] {
  const state = overlay.state(id);
  const detail = sentenceText(overlay.detail(id) ?? "");
  return filled(
    state === "plain" ? "" : STATE_SIGNS[state].word,
    detail.replaceAll("×", " by ").replaceAll(STATE_SIGNS.shape.glyph, "but"),
    partnerWords(overlay, id),
  );
}

/** The node's name on the other side: saved as (root).out. */
export function partnerWords(overlay: Overlay, id: number): string {
  const partner = overlay.partner(id);
  const { saved, live } = SIDES[overlay.comparison];
  return partner === null ? "" : `${overlay.isOther(id) ? live : saved} ${sentenceText(partner)}`;
}

/** The names of what a problem is about, those other than the name that stands there already. */
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

/** Where one stands among the problems: 3 of 12. */
export function positionWords(overlay: Overlay, problem: number | null): string {
  return problem === null
    ? problemsWord(overlay, overlay.problemCount)
    : WORDS.place(formatCount(problem + 1), formatCount(overlay.problemCount));
}

/** What a problem is, in a few words: error, unused attribute. */
export function problemHead(overlay: Overlay, problem: Problem): string {
  const { word } = problemSign(overlay, problem);
  const kind = sentenceText(problem.kind).replaceAll("_", " ");
  return overlay.comparison === "diff" && problem.nodes.length > 0
    ? word
    : filled(word, kind).join(", ");
}

/** What a problem is, and of what: value differs, (root).step. */
export function problemTitle(overlay: Overlay, problem: Problem): string {
  const name = sentenceText(problem.live ?? problem.saved ?? "");
  const isSaid = sentenceText(problem.why).includes(name);
  return filled(problemHead(overlay, problem), isSaid ? "" : clipStart(name)).join(", ");
}

/** A problem in one sentence: error, shape, (root).step: … */
export function problemSentence(overlay: Overlay, index: number): string {
  const problem = overlay.problem(index);
  const title = `${problemTitle(overlay, problem)}:`;
  return filled(title, sentenceText(problem.why), sentenceText(problem.remedy ?? "")).join(" ");
}

/** How many there are of each severity: 2 errors, 1 warning; in a diff none is worse. */
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
