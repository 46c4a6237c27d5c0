/** The strip of checkpoints: two of them are a and b. */

import { useMemo } from "preact/hooks";
import { formatCount, visible } from "../basics/text";
import { type Checkpoint, type History, isBroken } from "./data";
import type { Action, State } from "./state";
import * as WORDS from "./strings";

/** The space of a title, in px. */
const TITLE = 88;
const MARGIN = 48;

interface StripProps {
  readonly state: State;
  readonly width: number;
  readonly dispatch: (action: Action) => void;
}

export interface Alarm {
  readonly word: string;
  readonly hint: string;
}

/** By the number of a checkpoint, how many variables have NaN there, or what else is wrong. */
export function alarmsOf({ checkpoints, rows, findings }: History): readonly (Alarm | null)[] {
  return checkpoints.map(({ error }, time) => {
    if (error !== null) {
      return { word: WORDS.damaged, hint: visible(error) };
    }
    for (const what of ["NaN", "Inf"] as const) {
      const count = rows.filter(({ cells }) => isBroken(cells[time]) === what).length;
      if (count > 0) {
        return { word: `${what} ${formatCount(count)}`, hint: WORDS.bad(what, count) };
      }
    }
    const found = findings.find(({ first, is_alarm }) => is_alarm && first === time);
    return found === undefined
      ? null
      : { word: `▲ ${visible(found.kind.replaceAll("_", " "))}`, hint: visible(found.why) };
  });
}

/** The checkpoints whose titles have space, the most important ones first. */
export function titled(count: number, width: number, first: readonly number[]): Set<number> {
  const gap = count < 2 ? 1 : (TITLE * (count - 1)) / Math.max(1, width - 2 * MARGIN);
  const chosen: number[] = [];
  const candidates = [...first, ...Array.from({ length: count }, (_, time) => time)];
  for (const time of candidates) {
    if (!chosen.some((other) => Math.abs(other - time) < gap)) {
      chosen.push(time);
    }
  }
  return new Set(chosen);
}

export function Strip({ state, width, dispatch }: StripProps) {
  const { history, a, b } = state;
  const { checkpoints } = history;
  const last = Math.max(1, checkpoints.length - 1);
  const alarms = useMemo(() => alarmsOf(history), [history]);
  const shown = titled(checkpoints.length, width, [b, a, 0, last]);
  const badges = titled(
    checkpoints.length,
    width,
    [b, a].concat(alarms.flatMap((alarm, time) => (alarm === null ? [] : [time]))),
  );
  const place = (time: number) => `calc(${MARGIN}px + (100% - ${2 * MARGIN}px) * ${time / last})`;
  const target = Math.min(TITLE, Math.max(8, (width - 2 * MARGIN) / last));
  const [low, high] = a < b ? [a, b] : [b, a];
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === -1 || by === 1) {
      event.preventDefault();
      event.stopPropagation();
      dispatch({ type: "step", end: event.shiftKey ? "a" : "b", by });
    }
  };
  return (
    <div
      class={history.distances === null ? "ckh-strip" : "ckh-strip ckh-members"}
      role="group"
      aria-label={WORDS.strip}
      onKeyDown={onKeyDown}
    >
      <div class="ckh-line" style={{ left: place(0), right: `calc(100% - ${place(last)})` }} />
      <div class="ckh-span" style={{ left: place(low), right: `calc(100% - ${place(high)})` }} />
      {checkpoints.map((one, time) => (
        <Point
          key={time}
          checkpoint={one}
          ends={[...(time === a ? ["a"] : []), ...(time === b ? ["b"] : [])]}
          alarm={alarms[time] ?? null}
          hasTitle={shown.has(time)}
          hasBadge={badges.has(time)}
          hasFocus={time === b}
          style={{ left: place(time), width: `${target}px` }}
          choose={(end) => dispatch({ type: "move", end, to: time })}
        />
      ))}
      {history.marks.map(({ at, why }) => (
        <span
          key={`mark ${at}`}
          class="ckh-mark"
          style={{ left: place(at - 0.5) }}
          role="img"
          aria-label={visible(why)}
          title={visible(why)}
        >
          ◆
        </span>
      ))}
    </div>
  );
}

interface PointProps {
  readonly checkpoint: Checkpoint;
  /** a, b, both or none. */
  readonly ends: readonly string[];
  readonly alarm: Alarm | null;
  readonly hasTitle: boolean;
  readonly hasBadge: boolean;
  readonly hasFocus: boolean;
  readonly style: Readonly<Record<string, string>>;
  readonly choose: (end: "a" | "b") => void;
}

function Point({ checkpoint, ends, alarm, hasTitle, hasBadge, ...rest }: PointProps) {
  const { hasFocus, style, choose } = rest;
  const title = visible(checkpoint.title);
  const { isGone = false } = checkpoint;
  const step = checkpoint.step === null ? "" : WORDS.step(checkpoint.step);
  const said = [
    title,
    step,
    isGone ? WORDS.goneHint : "",
    ends.join(", "),
    alarm?.hint ?? "",
  ].filter((word) => word !== "");
  return (
    <button
      type="button"
      class={`ckh-point${ends.length > 0 ? " ckh-end" : ""}${alarm ? " ckh-alarmed" : ""}${isGone ? " ckh-gone" : ""}`}
      style={style}
      tabIndex={hasFocus ? 0 : -1}
      aria-pressed={ends.length > 0}
      title={said.join("\n")}
      onClick={({ shiftKey }) => choose(shiftKey ? "a" : "b")}
    >
      <span class="ckh-said">{said.join(", ")}</span>
      <span class="ckh-title" aria-hidden="true">
        {hasTitle ? title : ""}
      </span>
      <span class="ckh-dot" aria-hidden="true" />
      <span class="ckh-letter" aria-hidden="true">
        {ends.join(" ")}
      </span>
      <small aria-hidden="true">{hasTitle ? (isGone ? WORDS.gone : step) : ""}</small>
      {alarm === null ? null : (
        <span aria-hidden="true" class={hasBadge ? "ckh-badge" : "ckh-badge ckh-small"}>
          {hasBadge ? alarm.word : "!"}
        </span>
      )}
    </button>
  );
}
