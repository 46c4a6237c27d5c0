/** A comparison as signs and words. TypeScript and Python share the table signs.json. */

import { cells, severities, sides, states, verdicts } from "../../ckpt_viz/render/signs.json";
import type { CellSign, Comparison, NodeState, Severity } from "./contract";
import { isQuiet, type Overlay, type Problem } from "./overlay";
import { formatCount, sentenceText } from "./text";

/** A sign and the word for it; hollow for a result that is not decided yet. */
export interface Sign {
  readonly glyph: string;
  readonly word: string;
  readonly look: "quiet" | "loud" | "hollow" | "ring";
}

const STATE_SIGNS = states as Readonly<Record<NodeState, Sign>>;

const SEVERITY_SIGNS = severities as Readonly<Record<Severity, Sign & { readonly many: string }>>;

/** Two graphs that differ are not a failure. */
const VERDICT_SIGNS = verdicts as Readonly<
  Record<Comparison, { readonly yes: Sign; readonly no: Sign }>
>;

const CELL_SIGNS = cells as Readonly<Record<CellSign, Sign>>;

/** What a name on a side is called. */
export const SIDES: Readonly<
  Record<Comparison, { readonly saved: string; readonly live: string }>
> = sides;

/** What one way to restore does with the values of a line. */
export function cellSign(sign: CellSign): Sign {
  return CELL_SIGNS[sign];
}

export function stateSign(state: NodeState): Sign {
  return STATE_SIGNS[state];
}

/** Whether a note says that files lack values: Python puts the sign for an error before it. */
export function isAlarm(note: string): boolean {
  return note.startsWith(SEVERITY_SIGNS.error.glyph);
}

/** How bad a problem is. In a diff no problem is bad, so the sign shows the kind of difference. */
export function problemSign(overlay: Overlay, { nodes, severity }: Problem): Sign {
  const [first] = nodes;
  return overlay.comparison === "diff" && first !== undefined
    ? STATE_SIGNS[overlay.state(first)]
    : SEVERITY_SIGNS[severity];
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
  return overlay
    .below(id)
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

/** The kind of a problem in a few words: error, unused attribute. */
export function problemHead(overlay: Overlay, problem: Problem): string {
  const { word } = problemSign(overlay, problem);
  const kind = sentenceText(problem.kind).replaceAll("_", " ");
  return overlay.comparison === "diff" && problem.nodes.length > 0
    ? word
    : filled(word, kind).join(", ");
}

function filled(...words: readonly string[]): readonly string[] {
  return words.filter((word) => word !== "");
}
