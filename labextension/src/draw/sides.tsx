/** Both sides of a comparison: the checkpoint (a) at the left, the program (b) at the right. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Graph } from "../graph";
import type { Row } from "../layout/rows";
import { detoursOf, LINE_PITCH, type Line } from "../layout/sides";
import type { OfSide, Overlay } from "../overlay";
import { firstProblemNode, type State, shownProblem } from "../state";
import * as WORDS from "../strings";
import { visible } from "../text";
import { comparedWords, roleWord } from "../words";
import type { Accepting } from "./accepting";
import { lineClass, SignIcon } from "./icons";
import { factsOf, type LineMark, labelOf, markOf } from "./lines";
import { type Look, lookOf } from "./look";
import type { Extras } from "./on-request";
import type { Dispatch } from "./props";
import { useEntriesInSight } from "./scrolling";
import { Twisty } from "./twisty";

/** Deep trees would leave no space for names. */
const MAX_INDENT = 8;
/** The assumed height of the lines until the real one is known. */
const USUAL_HEIGHT = 600;
const NO_NODES: ReadonlySet<number> = new Set();

interface SidesProps {
  readonly state: State;
  readonly id: string;
  /** What draws a fix; there is none before there is a fix. */
  readonly extras: Extras | null;
  readonly accepting: Accepting;
  /** What the two sides show in place of the verdicts, while a restore plays. */
  readonly played?: Played | undefined;
  readonly dispatch: Dispatch;
}

/** A moment of a restore: the mark of each line, and what is drawn over the lines. */
export interface Played {
  markOf(line: Line): LineMark;
  readonly over: ComponentChildren;
}

export function TwoSides({ state, id, extras, accepting, played, dispatch }: SidesProps) {
  const { fix, graph, rows, rowOf, selected, sides } = state;
  const { overlay } = graph;
  const lines = sides?.lines ?? [];
  const anchor = selected ?? firstProblemNode(state);
  const anchorRow = anchor === null ? undefined : rowOf.get(anchor);
  const anchorLine = anchorRow === undefined ? null : (sides?.lineOf[anchorRow] ?? null);
  const { body, first, last, measure } = useEntriesInSight({
    entries: lines,
    pitch: LINE_PITCH,
    selected: anchorLine,
    usualHeight: USUAL_HEIGHT,
  });
  const problem = shownProblem(state);
  const ofCause = useMemo(() => nodesOfCause(overlay, problem), [overlay, problem]);
  if (overlay === null) {
    return null;
  }
  return (
    <div
      class={fix === null ? "ckv-sides" : "ckv-sides ckv-sides-fixed"}
      role="treegrid"
      aria-label={WORDS.sidesDrawing}
      aria-rowcount={lines.length + 1}
      aria-colcount={3}
      aria-activedescendant={
        selected !== null && anchorLine !== null && anchorLine >= first && anchorLine < last
          ? `${id}-line-${anchorLine}`
          : undefined
      }
      tabIndex={0}
    >
      <Head state={state} overlay={overlay} dispatch={dispatch} />
      <div class="ckv-sides-body" role="presentation" ref={body} onScroll={measure}>
        <div
          class="ckv-lines"
          role="presentation"
          style={{ height: `${lines.length * LINE_PITCH}px` }}
        >
          <Detours state={state} first={first} last={last} />
          {lines.slice(first, last).map((line, offset) => (
            <LineRow
              key={rows[line.live ?? line.saved ?? 0]?.id}
              state={state}
              extras={extras}
              accepting={accepting}
              played={played}
              line={line}
              index={first + offset}
              domId={`${id}-line-${first + offset}`}
              ofCause={ofCause}
              dispatch={dispatch}
            />
          ))}
          {played?.over}
        </div>
      </div>
    </div>
  );
}

/** The nodes of the cause that explains a problem. */
function nodesOfCause(overlay: Overlay | null, problem: number | null): ReadonlySet<number> {
  const cause =
    overlay === null || problem === null ? undefined : overlay.causes[overlay.causeOf(problem)];
  return cause === undefined || overlay === null
    ? NO_NODES
    : new Set(cause.problems.flatMap((index) => overlay.problem(index).nodes));
}

const ARROW = " → ";

interface HeadProps extends Pick<SidesProps, "state" | "dispatch"> {
  readonly overlay: Overlay;
}

function Head({ state, overlay, dispatch }: HeadProps) {
  const { fix, graph, showsOwnWay } = state;
  const { live, matches, saved } = WORDS.onSide[overlay.comparison];
  const titles = visible(graph.title).split(ARROW);
  const [from, to] = titles.length === 2 ? titles : ["", ""];
  return (
    <div class="ckv-sides-head" role="row" aria-rowindex={1}>
      <span role="columnheader" title={from}>
        <b>{saved}</b> {from}
      </span>
      <span role="columnheader">
        {overlay.hasDetours ? (
          <button
            type="button"
            class="ckv-own-way"
            aria-pressed={showsOwnWay}
            title={WORDS.ownWayHint}
            onClick={() => dispatch({ type: "toggleOwnWay" })}
          >
            {WORDS.ownWay}
          </button>
        ) : fix === null ? (
          matches
        ) : (
          WORDS.fixedColumn
        )}
      </span>
      <span role="columnheader" title={to}>
        {to} <b>{live}</b>
      </span>
    </div>
  );
}

interface LineRowProps extends Omit<SidesProps, "id"> {
  readonly line: Line;
  readonly index: number;
  readonly domId: string;
  readonly ofCause: ReadonlySet<number>;
}

function LineRow({ state, extras, accepting, played, ...props }: LineRowProps) {
  const { line, index, domId, ofCause, dispatch } = props;
  const { fix, graph, rows, selected } = state;
  const saved = rows[line.saved ?? -1];
  const live = rows[line.live ?? -1];
  const row = live ?? saved;
  if (row === undefined) {
    return null;
  }
  const has = (is: (id: number) => boolean) => [saved, live].some((one) => one && is(one.id));
  const isSelected = has((id) => id === selected);
  const mark =
    played?.markOf(line) ??
    (fix === null || extras === null
      ? markOf(graph, rows, line)
      : extras.fixMarkOf(graph, rows, line, fix));
  const look = lookOf(state, row);
  // What a restore brings into the program, or what b has; otherwise what there is.
  const lookSide = live === undefined ? "saved" : "live";
  const isOneSided = saved === undefined || live === undefined;
  const because = isOneSided && mark.reason && (
    <span class="ckv-reason" title={mark.reason}>
      {mark.reason}
    </span>
  );
  const box = (one: Row | undefined, side: OfSide) =>
    one === undefined ? (
      because
    ) : (
      <SideBox
        graph={graph}
        row={one}
        side={side}
        isStruck={fix === null ? isOneSided && !played : fix.isUnused(one.id)}
        isMatch={state.found.isMatch[one.id] === 1}
        look={side === lookSide ? look : null}
        isPlayed={played !== undefined}
        dispatch={dispatch}
      />
    );
  return (
    <div
      id={domId}
      class={[
        "ckv-line",
        `ckv-stroke-${mark.stroke}`,
        mark.class,
        isOneSided ? `ckv-only-${saved === undefined ? "live" : "saved"}` : "",
        isSelected ? "ckv-selected" : "",
        has((id) => ofCause.has(id)) ? "ckv-of-cause" : "",
      ].join(" ")}
      role="row"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-expanded={row.childCount > 0 ? row.isExpanded : undefined}
      style={{ top: `${index * LINE_PITCH}px` }}
      onClick={() => dispatch({ type: "select", id: row.id })}
      onDblClick={() => dispatch({ type: "toggle", id: row.id })}
    >
      <div class="ckv-side ckv-side-saved" role="gridcell">
        {box(saved, "saved")}
      </div>
      <Between
        {...{ state, extras, accepting, row, mark, look }}
        isPair={!isOneSided}
        was={saved && live && wasNamed(graph, saved, live)}
      />
      <div class="ckv-side ckv-side-live" role="gridcell">
        {box(live, "live")}
      </div>
    </div>
  );
}

interface BetweenProps extends Pick<SidesProps, "state" | "extras" | "accepting"> {
  readonly row: Row;
  readonly mark: LineMark;
  readonly look: Look;
  readonly isPair: boolean;
  /** The other name in the file, if there is one. */
  readonly was: string | undefined;
}

/** The sign and words between the two boxes of a line. */
function Between({ state, extras, accepting, row, mark, look, isPair, was }: BetweenProps) {
  const { graph } = state;
  const { longer, sign, words } = mark;
  // A number says more than that a value differs.
  const isValued = look.words !== "" && (words === "" || graph.overlay?.state(row.id) === "value");
  const isQuiet = sign?.look === "quiet";
  return (
    <div
      class={isQuiet ? "ckv-between ckv-is-quiet" : "ckv-between"}
      role="gridcell"
      title={[longer || words, look.words].filter((one) => one !== "").join(", ")}
    >
      {sign === null ? null : <SignIcon sign={sign} />}
      <span class={isQuiet ? "ckv-line-word ckv-faint" : "ckv-line-word"}>
        {(isValued ? look.words : words) ||
          (isQuiet ? <span class="ckv-live">{sign.word}</span> : null)}
      </span>
      {was && (
        <span class="ckv-was">
          {WORDS.wasNamed} {was}
        </span>
      )}
      {extras !== null && <extras.OfFix {...{ state, accepting, row, mark, isPair }} />}
    </div>
  );
}

/** The other name that a pair has in the file, which knows none of what has no values. */
function wasNamed(graph: Graph, saved: Row, live: Row): string {
  const was = labelOf(graph, saved, "saved");
  const hasValues = live.childCount + graph.attributes(live.id).length > 0;
  return hasValues && was !== labelOf(graph, live, "live") ? was : "";
}

interface SideBoxProps {
  readonly graph: Graph;
  readonly row: Row;
  readonly side: OfSide;
  /** Whether to strike out what the program does not use. */
  readonly isStruck: boolean;
  readonly isMatch: boolean;
  /** What its values say; null at the side where the line does not say it. */
  readonly look: Look | null;
  /** While a restore plays, its steps tell what the verdicts would tell too early. */
  readonly isPlayed: boolean;
  readonly dispatch: Dispatch;
}

function SideBox({ graph, row, side, isStruck, isMatch, look, isPlayed, dispatch }: SideBoxProps) {
  const { chunk, id } = row;
  const role = chunk === null ? graph.role(id) : "chunk";
  const label = labelOf(graph, row, side);
  const facts = factsOf(graph, row, side);
  const line = chunk === null ? lineClass(graph.overlay, id) : "";
  return (
    <div
      class={`ckv-box ckv-box-${role}${isStruck ? line : line.replace(" ckv-struck", "")}${look?.fill ?? ""}`}
      style={{ "--ckv-indent": Math.min(row.level - 1, MAX_INDENT) }}
      title={isPlayed ? label : boxTitle(graph, row, label, facts)}
      onClick={(event) => {
        event.stopPropagation();
        dispatch({ type: "select", id });
      }}
    >
      {role === "layer" ? <span class="ckv-tab" /> : null}
      {role === "optimizer" ? <Points /> : null}
      {row.childCount > 0 ? <Twisty row={row} dispatch={dispatch} /> : null}
      {isMatch ? (
        <mark class="ckv-box-name ckv-match">{label}</mark>
      ) : (
        <b class="ckv-box-name">{label}</b>
      )}
      {look === null || look.bad === "" ? null : <span class="ckv-bad">{look.bad}</span>}
      <span class="ckv-box-facts">{facts}</span>
    </div>
  );
}

/** The two points of a hexagon. */
function Points() {
  return (
    <>
      <span class="ckv-point ckv-point-left" />
      <span class="ckv-point ckv-point-right" />
    </>
  );
}

function boxTitle(graph: Graph, { chunk, id }: Row, label: string, facts: string): string {
  const { overlay } = graph;
  const words =
    chunk === null && overlay !== null
      ? [visible(graph.name(id)), roleWord(graph.role(id)), facts, ...comparedWords(graph, id)]
      : [label, facts];
  return words.filter((word) => word !== "").join(", ");
}

interface DetoursProps extends Pick<SidesProps, "state"> {
  readonly first: number;
  readonly last: number;
}

/** Where a plain restore puts the selected value or, on demand, each that belongs elsewhere. */
function Detours({ state, first, last }: DetoursProps) {
  const { graph, rows, rowOf, selected, showsOwnWay, sides } = state;
  const { overlay } = graph;
  const detours = useMemo(
    () => (sides === null || overlay === null ? [] : detoursOf(rows, rowOf, sides, overlay)),
    [sides, overlay],
  );
  const inSight = detours.filter(
    ({ from, to, saved, live }) =>
      (showsOwnWay || selected === saved || selected === live) &&
      Math.max(from, to) >= first &&
      Math.min(from, to) < last,
  );
  const near = (line: number) => Math.min(Math.max(line, first - 2), last + 1) - first;
  const y = (line: number) => (near(line) + 0.5) * LINE_PITCH;
  return inSight.length === 0 ? null : (
    <svg
      class="ckv-moves"
      style={{ top: `${first * LINE_PITCH}px`, height: `${(last - first) * LINE_PITCH}px` }}
      viewBox={`0 0 100 ${(last - first) * LINE_PITCH}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {inSight.map(({ from, to, saved, live }) => (
        <path
          key={saved}
          class={selected === saved || selected === live ? "ckv-lit" : ""}
          vector-effect="non-scaling-stroke"
          d={`M0 ${y(from)}C50 ${y(from)} 50 ${y(to)} 100 ${y(to)}`}
        />
      ))}
    </svg>
  );
}
