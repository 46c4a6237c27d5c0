/** What the lines of both sides show of a fix: where each value goes, and how sure that is. */

import { type Bond, type Fix, isSure, movesAlong, type Placed } from "../fix";
import type { Graph } from "../graph";
import { FATES, fatesOf, fatesWithin } from "../layout/fates";
import type { Row } from "../layout/rows";
import type { Line } from "../layout/sides";
import { bondSign, fateSign } from "../signs";
import * as WORDS from "../strings";
import { clipStart, countWords, visible } from "../text";
import { placeName } from "../words";
import { factsOf, type LineMark, MAX_PLACE, NOTHING, nodesIn, type Stroke } from "./lines";

const ROOT_NAME = /^\(root\)\.?/;
const STROKES: Readonly<Record<Bond, Stroke>> = {
  certain: "restored",
  likely: "likely",
  guess: "alone",
  misfit: "differs",
};

/** The mark of a line while the two sides show a fix. */
export function fixMarkOf(graph: Graph, rows: readonly Row[], line: Line, fix: Fix): LineMark {
  const [saved, live] = [rows[line.saved ?? -1], rows[line.live ?? -1]];
  const from = live && live.chunk === null ? fix.comesFrom(live.id)?.saved : undefined;
  const guess = fix.guessOf(from ?? saved?.id ?? -1);
  const mark = markOfRows(graph, fix, saved, live);
  return guess === undefined ? mark : { ...mark, guess };
}

function markOfRows(
  graph: Graph,
  fix: Fix,
  saved: Row | undefined,
  live: Row | undefined,
): LineMark {
  const row = live ?? saved;
  if (row === undefined) {
    return NOTHING;
  }
  if (row.chunk !== null) {
    return countedMark(graph, fix, nodesIn(graph, row.chunk, row.id));
  }
  const pair = pairOnLine(fix, saved, live);
  if (pair !== null) {
    return pairedMark(graph, fix, pair, row);
  }
  const isLone = saved === undefined || live === undefined;
  const end = endElsewhere(fix, saved, live);
  const [fate] = fatesOf(graph, fix, row.id);
  if (end !== null && fate !== "kept") {
    return elsewhereMark(graph, fix, end, isLone);
  }
  if (fate !== undefined) {
    const words = fate === "restored" ? "" : fateSign(fate).word;
    const stroke = isLone || fate !== "restored" ? "alone" : "restored";
    return {
      sign: fateSign(fate),
      words,
      stroke: end === null || isLone ? stroke : "none",
      reason: isLone ? reasonOf(graph, fix, row.id) : "",
    };
  }
  const reason = isLone ? reasonOf(graph, fix, row.id) : "";
  return row.isExpanded ? { ...NOTHING, reason } : { ...countedMark(graph, fix, [row.id]), reason };
}

/** Why values that one side lacks stay out; "" below a part that says the same. */
function reasonOf(graph: Graph, fix: Fix, id: number): string {
  const { overlay, treeParent } = graph;
  const above = treeParent(id);
  const { kept, unused } = fatesWithin(graph, fix, id);
  const side = overlay?.side(id);
  const isSaid = above !== null && overlay?.side(above) === side;
  if (overlay === null || side === undefined || side === "both" || isSaid || kept + unused === 0) {
    return "";
  }
  const [index] = overlay.problemsOf(id);
  const why = index === undefined ? "" : overlay.problem(index).why;
  return visible(why) || WORDS.notCorresponding[side];
}

/** The pair that a line shows, if both its ends are on it or its saved end is nowhere. */
function pairOnLine(fix: Fix, saved: Row | undefined, live: Row | undefined): Placed | null {
  const end = saved ?? live;
  return live === undefined || end === undefined
    ? null
    : (fix.goesTo(end.id).find((one) => one.live === live.id) ?? null);
}

/** The mark of a pair; a part of a larger pair has words only if it is less certain. */
function pairedMark(graph: Graph, fix: Fix, pair: Placed, row: Row): LineMark {
  const { bond, live, saved, why } = pair;
  const isValue = graph.attributes(row.id).length > 0;
  const below = row.isExpanded || isValue ? NOTHING : countedMark(graph, fix, [live, saved]);
  const said = isSaidAbove(graph, fix, pair) ? "" : bondSign(bond).word;
  const words = [...new Set([said, below.words])].filter((one) => one !== "").join(", ");
  const isMisfit = bond === "misfit" && graph.overlay?.savedTensors(live) != null;
  const shapes = (["saved", "live"] as const).map((side) => factsOf(graph, row, side));
  const isSaid = said === "" || bond === "certain";
  const reason = isMisfit ? shapes.join(` ${bondSign(bond).glyph} `) : isSaid ? "" : why;
  return { sign: bondSign(bond), words, stroke: STROKES[bond], longer: why, reason };
}

/** Whether the line of the holder says the same of its parts. */
function isSaidAbove(graph: Graph, fix: Fix, pair: Placed): boolean {
  const above = graph.treeParent(pair.live);
  const holder = above === null ? null : fix.comesFrom(above);
  return holder?.bond === pair.bond && movesAlong(fix, pair, graph.treeParent);
}

interface End {
  readonly pair: Placed;
  readonly isFrom: boolean;
}

/** Where the values of a line come from, or else where they go, if not on the line. */
function endElsewhere(fix: Fix, saved: Row | undefined, live: Row | undefined): End | null {
  const from = live && fix.comesFrom(live.id);
  const to = saved && fix.goesTo(saved.id)[0];
  const pair = from ?? to;
  return pair ? { pair, isFrom: pair === from } : null;
}

function elsewhereMark(graph: Graph, fix: Fix, end: End, isLone: boolean): LineMark {
  const { isFrom, pair } = end;
  const { bond, live, saved, why } = pair;
  const comes = isSure(bond) ? WORDS.comesFrom : WORDS.mayComeFrom;
  const goes = isSure(bond) ? WORDS.goesTo : WORDS.mayGoTo;
  const said = (name: string) => `${isFrom ? comes : goes} ${name || WORDS.root}`;
  const sign = bondSign(bond);
  const { label, savedLabel } = graph;
  const place = isFrom ? placeName(graph, saved, true) : placeName(graph, live, false);
  const name = visible(place.replace(ROOT_NAME, ""));
  const [from, to] = [visible(savedLabel(saved)), visible(label(live))];
  const short = clipStart(from === to ? name : isFrom ? from : to, MAX_PLACE);
  const isBelow = isSaidAbove(graph, fix, pair);
  return {
    sign: isBelow && !isLone ? null : sign,
    words: isBelow ? "" : `${said(short)}, ${sign.word}`,
    stroke: isLone ? STROKES[bond] : "none",
    longer: `${said(name)}, ${sign.word}: ${why}`,
  };
}

/** The mark of a folded row: what happens to the variables in it. */
function countedMark(graph: Graph, fix: Fix, ids: readonly number[]): LineMark {
  const all = [...new Set(ids)].map((id) => fatesWithin(graph, fix, id));
  const counts = FATES.map((fate) => ({
    fate,
    count: all.reduce((sum, one) => sum + one[fate], 0),
  })).filter(({ count }) => count > 0);
  const worst = counts.find(({ fate }) => fate !== "restored") ?? counts[0];
  if (worst === undefined) {
    return NOTHING;
  }
  const words = counts.map(({ count, fate }) => {
    const [one, many] = WORDS.countsOfFix[fate];
    return countWords(count, one, many);
  });
  const { fate } = worst;
  return {
    sign: fateSign(fate),
    words: counts.length > 1 ? words.join(", ") : fate === "restored" ? "" : fateSign(fate).word,
    stroke: counts[0]?.fate === "restored" ? "restored" : "alone",
  };
}
