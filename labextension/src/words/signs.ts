/** A comparison as signs and words. TypeScript and Python share the table signs.json. */

import {
  cells,
  severities,
  sides,
  states,
  verdicts,
} from "../../../ckpt_viz/graphs/render/signs.json";
import { formatCount, visible } from "../basics/text";
import type { CellSign, Comparison, NodeState, Severity, TableCell } from "../data/contract";
import { isQuiet, type Overlay, type Problem, type SignCount } from "../data/overlay";

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

/** The sign of a cell of the table with its words; no sign without a cell. */
export function cellMark(cell: TableCell | null): Sign {
  return cell === null ? NO_SIGN : { ...CELL_SIGNS[cell.sign], word: visible(cell.words) };
}

const NO_SIGN: Sign = { glyph: "", word: "", look: "quiet" };

/**
 * How many values below a node have each sign, the alarms first. None if the node's own sign says
 * the same of all.
 */
function countsBelow(overlay: Overlay, id: number): readonly SignCount[] {
  const counts = overlay.below(id);
  const isSaid = counts.length === 1 && counts[0]?.sign === overlay.cell(id)?.sign;
  const urgency = ({ sign }: SignCount) => LOOKS.indexOf(CELL_SIGNS[sign].look);
  return isSaid ? [] : [...counts].sort((a, b) => urgency(a) - urgency(b));
}

const LOOKS: readonly Sign["look"][] = ["loud", "hollow", "ring", "quiet"];

/** The counts of the signs below a node: ≠1 −2. */
export function belowWords(overlay: Overlay, id: number): string {
  return countsBelow(overlay, id)
    .map(({ sign, count }) => `${CELL_SIGNS[sign].glyph}${formatCount(count)}`)
    .join(" ");
}

/** The same in words: 1 does not fit, 2 stays in the file. */
export function belowSentence(overlay: Overlay, id: number): string {
  return countsBelow(overlay, id)
    .map(({ sign, count }) => `${formatCount(count)} ${CELL_SIGNS[sign].word}`)
    .join(", ");
}

/** The look of what calls most for attention at a node and below it. */
export function worstLook(overlay: Overlay | null, id: number): Sign["look"] {
  const signs = overlay?.below(id).map(({ sign }) => sign) ?? [];
  const own = overlay?.cell(id)?.sign ?? "here";
  const looks = [own, ...signs].map((sign) => CELL_SIGNS[sign].look);
  return LOOKS.find((look) => looks.includes(look)) ?? "quiet";
}

/** The text beside a node's box: what happens to it and, while it is closed, the counts below. */
export function besideWords(overlay: Overlay | null, id: number, isExpanded: boolean): string {
  if (overlay === null || isExpanded) {
    return "";
  }
  const cell = overlay.cell(id);
  // A box has its sign in it: of numbers that differ, it says enough.
  const own = isQuiet(cell) || cell?.sign === "changed" ? "" : cellMark(cell).word;
  return filled(own, belowWords(overlay, id)).join("  ");
}

function filled(...words: readonly string[]): readonly string[] {
  return words.filter((word) => word !== "");
}
