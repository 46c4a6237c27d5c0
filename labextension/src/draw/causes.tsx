/** The causes of a comparison's problems, the worst first, with their problems folded below them. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Cause } from "../causes";
import type { Overlay } from "../overlay";
import { causeSign, problemsWord, problemTitle, stateSign } from "../signs";
import { type State, shownProblem } from "../state";
import * as WORDS from "../strings";
import { countWords, sentenceText } from "../text";
import { moreWords } from "../words";
import { SignIcon } from "./icons";
import type { Dispatch } from "./props";
import { StepButtons } from "./verdict";

/** As many causes, or problems of a cause, as the list shows around the current one. */
const MAX_SHOWN = 100;

interface CausesProps {
  readonly state: State;
  readonly dispatch: Dispatch;
}

export function CauseList({ state, dispatch }: CausesProps) {
  const { overlay } = state.graph;
  const problem = shownProblem(state);
  const list = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const current = overlay === null || problem === null ? null : overlay.causeOf(problem);
  useLayoutEffect(() => {
    const item = list.current?.querySelector<HTMLElement>("[aria-selected=true]");
    item?.scrollIntoView({ block: "nearest" });
  }, [problem]);
  if (overlay === null) {
    return null;
  }
  const { causes } = overlay;
  const start = windowStart(causes.length, current ?? 0);
  const toggle = (index: number, opens: boolean) => {
    const next = new Set(opened);
    next[opens ? "add" : "delete"](index);
    setOpened(next);
  };
  return (
    <section class="ckv-causes" aria-label={WORDS.causes}>
      <div class="ckv-causes-head">
        <b>{headWords(overlay)}</b>
        {causes.length > 1 && overlay.comparison === "check" ? (
          <span class="ckv-faint">{WORDS.worstFirst}</span>
        ) : null}
        <span class="ckv-space" />
        <div class="ckv-steps">
          <StepButtons state={state} dispatch={dispatch} />
        </div>
      </div>
      <div class="ckv-causes-body">
        {causes.length === 0 ? null : (
          <div
            ref={list}
            role="tree"
            aria-label={WORDS.causes}
            onKeyDown={(event) => moveFocus(event, toggle)}
          >
            {causes.slice(start, start + MAX_SHOWN).map((cause, offset) => (
              <CauseItem
                key={start + offset}
                overlay={overlay}
                cause={cause}
                index={start + offset}
                isOpen={opened.has(start + offset)}
                current={current === start + offset ? problem : null}
                takesFocus={start + offset === (current ?? start)}
                toggle={toggle}
                dispatch={dispatch}
              />
            ))}
          </div>
        )}
        <More count={causes.length - start - MAX_SHOWN} />
        <p class="ckv-others">
          <SignIcon sign={stateSign("matched")} /> {othersWords(overlay)}
        </p>
      </div>
    </section>
  );
}

function windowStart(count: number, current: number): number {
  return Math.max(0, Math.min(current - MAX_SHOWN / 2, count - MAX_SHOWN));
}

function headWords({ causes, comparison }: Overlay): string {
  if (causes.length === 0) {
    return WORDS.nothingWrong[comparison];
  }
  const { causes: ofCheck, differences } = WORDS.counts;
  return comparison === "check"
    ? countWords(causes.length, ...ofCheck)
    : countWords(causes.length, ...differences);
}

/** How many variables are restored, or equal in both. */
function othersWords({ causes, comparison, counts }: Overlay): string {
  const { all, some } = WORDS.others[comparison];
  const matched = counts.find(({ state }) => state === "matched")?.count ?? 0;
  const [one, many] = causes.length === 0 ? all : some;
  return countWords(matched, one, many);
}

interface CauseItemProps {
  readonly overlay: Overlay;
  readonly cause: Cause;
  readonly index: number;
  readonly isOpen: boolean;
  /** The current problem, if this cause explains it. */
  readonly current: number | null;
  readonly takesFocus: boolean;
  readonly toggle: (index: number, opens: boolean) => void;
  readonly dispatch: Dispatch;
}

function CauseItem(props: CauseItemProps) {
  const { overlay, cause, index, isOpen, current, takesFocus, toggle, dispatch } = props;
  const [first = 0] = cause.problems;
  const isGroup = cause.problems.length > 1;
  const select = () => dispatch({ type: "goToProblem", problem: first });
  return (
    <div
      class={`ckv-cause${current === null ? "" : " ckv-selected"}`}
      role="treeitem"
      aria-selected={current !== null && (!isOpen || current === first)}
      aria-expanded={isGroup ? isOpen : undefined}
      data-cause={index}
      tabIndex={takesFocus ? 0 : -1}
      onClick={select}
      onKeyDown={onPress(select)}
    >
      <p class="ckv-cause-title">
        <SignIcon sign={causeSign(overlay, overlay.problem(first))} />
        <b>{sentenceText(cause.title)}</b>
        {cause.count === 0 ? null : (
          <span class="ckv-faint">{countWords(cause.count, ...WORDS.counts.values)}</span>
        )}
      </p>
      {cause.place === "" ? null : <p class="ckv-place">{sentenceText(cause.place)}</p>}
      <p class="ckv-faint">{sentenceText(cause.sentence)}</p>
      {isGroup ? (
        <button
          type="button"
          class="ckv-jump"
          tabIndex={-1}
          onClick={(event) => {
            event.stopPropagation();
            toggle(index, !isOpen);
          }}
        >
          {isOpen ? "▾" : "▸"} {problemsWord(overlay, cause.problems.length)}
        </button>
      ) : null}
      {isGroup && isOpen ? (
        <ProblemItems overlay={overlay} cause={cause} current={current} dispatch={dispatch} />
      ) : null}
    </div>
  );
}

type ProblemItemsProps = Pick<CauseItemProps, "overlay" | "cause" | "current" | "dispatch">;

function ProblemItems({ overlay, cause, current, dispatch }: ProblemItemsProps) {
  const start = windowStart(cause.problems.length, cause.problems.indexOf(current ?? -1));
  const shown = cause.problems.slice(start, start + MAX_SHOWN);
  return (
    <div role="group">
      {shown.map((index) => {
        const problem = overlay.problem(index);
        const select = () => dispatch({ type: "goToProblem", problem: index });
        return (
          <div
            key={index}
            class="ckv-cause-problem"
            role="treeitem"
            aria-selected={index === current}
            tabIndex={-1}
            onClick={(event) => {
              event.stopPropagation();
              select();
            }}
            onKeyDown={onPress(select)}
          >
            <SignIcon sign={causeSign(overlay, problem)} />
            {problemTitle(overlay, problem)}
          </div>
        );
      })}
      <More count={cause.problems.length - start - MAX_SHOWN} />
    </div>
  );
}

function More({ count }: { readonly count: number }) {
  return count <= 0 ? null : <p class="ckv-faint">{moreWords(count)}</p>;
}

/** Acts on Enter and on Space, which elsewhere in the explorer have other meanings. */
function onPress(act: () => void) {
  return (event: KeyboardEvent): void => {
    if (event.target === event.currentTarget && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      event.stopPropagation();
      act();
    }
  };
}

/** Arrow keys in the list move the focus, and open or close a cause. */
function moveFocus(event: KeyboardEvent, toggle: (index: number, opens: boolean) => void): void {
  const { currentTarget, key, target } = event;
  if (!(currentTarget instanceof HTMLElement && target instanceof HTMLElement)) {
    return;
  }
  const items = [...currentTarget.querySelectorAll<HTMLElement>("[role=treeitem]")];
  const place = items.indexOf(target);
  const cause = target.dataset.cause;
  const steps: Readonly<Record<string, number>> = {
    ArrowUp: place - 1,
    ArrowDown: place + 1,
    Home: 0,
    End: items.length - 1,
  };
  const next = steps[key];
  if (next !== undefined) {
    items[next]?.focus();
  } else if (key === "ArrowLeft" && cause === undefined) {
    target.parentElement?.closest<HTMLElement>("[role=treeitem]")?.focus();
  } else if ((key === "ArrowLeft" || key === "ArrowRight") && cause !== undefined) {
    toggle(Number(cause), key === "ArrowRight");
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}
