/** Above a check: the edits of its program, which someone types into the table, and their results. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { formatCount, sentenceText, shortened, visible, whyWords } from "../basics/text";
import { bytesIn } from "../host/shared";
import {
  CHANGE_KEYS,
  type ChangeDeed,
  type ChangedAnswer,
  type Changes,
  changeDeedOf,
  differenceWords,
  type Edit,
  isChanged,
  NO_CHANGES,
  withEdit,
} from "../kernel/changes";
import type { Kernel } from "../kernel/kernel";
import type { State } from "../state/state";
import { lineToName, nodeToName, suggestedNames } from "../words/naming";
import { placeName } from "../words/words";
import { Alert } from "./alert";
import { CodeButtons, CodeText } from "./code";
import { useKeys } from "./keys";
import { MAX_NAME, NameField } from "./name-field";
import { gridOf, rootOf, showTab } from "./parts";
import type { ShowChanged, Showing } from "./props";
import type { LineField } from "./table";

interface StripProps extends Showing {
  readonly id: string;
  /** Asks the kernel about the check itself. */
  readonly ask: Kernel;
  readonly showChanged: ShowChanged;
  readonly insert: ((code: string) => void) | null;
  readonly play: (step: number | null) => void;
  readonly setField: (field: LineField | null) => void;
}

interface Changing {
  /** The changes that the kernel has answered last. */
  readonly changes: Changes;
  /** The changes that have made the picture in sight. */
  readonly shown: Changes;
  readonly answer: ChangedAnswer | null;
  readonly problem: string | null;
}

const UNCHANGED: Changing = { changes: NO_CHANGES, shown: NO_CHANGES, answer: null, problem: null };

/** What the page has asked the kernel for. */
interface Asked {
  /** How often it has asked. */
  number: number;
  wanted: Changes;
  answered: Changing;
  selected: number | null;
  /** What was selected when it asked last. */
  selectedThen: number | null;
}

const words = WORDS.changing;

export function ChangeStrip(props: StripProps) {
  const { state, ask, showChanged, insert, play } = props;
  const root = useRef<HTMLElement>(null);
  const [changing, change, tell] = useChanging(root, state.selected, ask, showChanged);
  const { answer, changes, problem, shown } = changing;
  const edit = (edit: Edit) => change((changes) => withEdit(changes, shown, edit)).then(tell);
  const isRefused = answer === null && problem !== null;
  const open = useNaming(props, root, shown, change, isRefused);
  // A button that goes would take the focus with it.
  const goBack = () => gridOf(root.current)?.focus();
  const run = (deed: ChangeDeed) => {
    const node = selectedPart(state, deed === "name");
    if (isRefused) {
      return;
    }
    if (deed === "undo") {
      changes.edits.length > 1 || goBack();
      void change((changes) => ({ ...changes, edits: changes.edits.slice(0, -1) })).then(tell);
    } else if (deed === "build") {
      void edit({ kind: deed });
    } else if (node === null) {
      tell(state.line === null ? words.selectFirst : words.selectOne);
    } else if (deed === "name") {
      open(state.line);
    } else {
      const was = deed === "remove" && state.line !== null ? usualName(state, state.line) : "";
      void edit({ kind: deed === "remove" ? "name" : deed, node, was });
    }
  };
  const deedOf = (deed: ChangeDeed | undefined) => deed && (() => run(deed));
  useKeys(root, (event, target) => deedOf(changeDeedOf(event, target.matches("[role=treegrid]"))), {
    onDoubleClick: (_, target) => deedOf(target.closest(PLACES_TO_TYPE) ? "name" : undefined),
  });
  const drop = (place: number) => {
    goBack();
    void change((changes) => withEdit(changes, changes, { kind: "drop", node: place })).then(tell);
  };
  return (
    <section class="ckv-changing" aria-label={words.part} ref={root}>
      {answer === null ? null : (
        <Edits {...{ answer, insert, drop }}>
          {changes.edits.length === 0 ? null : <Deed deed="undo" isOff={false} run={run} />}
          <details>
            <summary>{words.others}</summary>
            <Deed deed="insert" isOff={state.selected === null} run={run} />
            <Deed deed="build" isOff={false} run={run} />
            <WhatIf {...{ changes, answer }} change={(next) => void change(next).then(tell)} />
          </details>
        </Edits>
      )}
      <Alert words={problem} />
      {answer === null ? null : isChanged(changes) ? (
        <Results {...{ answer, play }} />
      ) : (
        <p class="ckv-faint">{words.hint}</p>
      )}
    </section>
  );
}

interface EditsProps extends Pick<StripProps, "insert"> {
  readonly answer: ChangedAnswer;
  readonly drop: (place: number) => void;
  readonly children: ComponentChildren;
}

/** The edits, each with a button that takes it back, and their Python. */
function Edits({ answer: { edits }, insert, drop, children }: EditsProps) {
  const [showsCode, setShowsCode] = useState(false);
  return (
    <>
      <div class="ckv-changing-deeds">
        <b>{words.part}</b>
        {edits.length === 0 ? null : (
          <ol class="ckv-changing-edits" aria-label={words.edits}>
            {edits.map(({ place, text }) => {
              const name = shortened(visible(text), MAX_EDIT);
              return (
                <li key={place}>
                  {name}{" "}
                  <button type="button" aria-label={words.drop(name)} onClick={() => drop(place)}>
                    ✕
                  </button>
                </li>
              );
            })}
          </ol>
        )}
        {edits.length === 0 ? null : (
          <button type="button" aria-expanded={showsCode} onClick={() => setShowsCode(!showsCode)}>
            {words.asCode}
          </button>
        )}
        {children}
      </div>
      {showsCode && edits.length > 0 ? (
        <Code code={edits.map(({ code }) => code).join("\n")} insert={insert} />
      ) : null}
    </>
  );
}

interface CodeProps {
  readonly code: string;
  readonly insert: ((code: string) => void) | null;
}

/** The Python of all edits. Only code that is in sight as it is goes elsewhere. */
function Code({ code, insert }: CodeProps) {
  const shown = code.split("\n").map(visible).join("\n");
  return (
    <div class="ckv-changing-code">
      <CodeText code={shown} />
      {shown === code ? (
        <p class="ckv-buttons">
          <CodeButtons code={code} insert={insert} />
        </p>
      ) : null}
    </div>
  );
}

/** Characters of an edit in words. */
const MAX_EDIT = 160;

/** A name that someone types, by the picture in which they have begun. */
interface Naming {
  readonly line: number;
  readonly state: State;
  readonly of: Changes;
  readonly problem: string | null;
  readonly isWaiting: boolean;
}

/** Puts a text field into a line of the table, at first into the selected one; opens it in another. */
function useNaming(
  { state, id, setField, dispatch }: StripProps,
  root: { readonly current: Element | null },
  shown: Changes,
  change: Change,
  isRefused: boolean,
): (line: number | null) => void {
  const { line, graph } = state;
  const [naming, setNaming] = useState<Naming | null>(null);
  const text = useRef("");
  const open = (line: number | null) => {
    if (line !== null) {
      if (state.drawn !== "table") {
        dispatch({ type: "toggleTable" });
      }
      dispatch({ type: "selectLine", line });
      if (root.current !== null) {
        showTab(root.current, "drawing");
      }
      text.current = usualName(state, line);
      setNaming({ line, state, of: shown, problem: null, isWaiting: false });
    }
  };
  // What dispatches must not do so within an effect, which the next drawing would run again.
  useEffect(() => queueMicrotask(() => open(lineToName(graph, line))), []);
  // The picture of an edit before may come meanwhile: its table has other lines.
  const last = useRef({ graph, line });
  useLayoutEffect(() => {
    const { current: before } = last;
    last.current = { graph, line };
    if (naming !== null && (isRefused || graph !== before.graph)) {
      const isSelected = naming.line === before.line && line !== null && !isRefused;
      setNaming(isSelected ? { ...naming, line } : null);
      isSelected || gridOf(root.current)?.focus();
    }
  }, [graph, line, isRefused]);
  useLayoutEffect(() => {
    const leave = () => {
      setNaming(null);
      gridOf(root.current)?.focus();
    };
    const take = async (to: string, of: Naming) => {
      const node = nodeToName(of.state.graph, of.line);
      const was = usualName(of.state, of.line);
      if (node === null || to.trim() === was) {
        return leave();
      }
      setNaming({ ...of, problem: null, isWaiting: true });
      const edit: Edit = { kind: "name", node, to, was: was.slice(0, MAX_NAME) };
      const problem = await change((changes) => withEdit(changes, of.of, edit));
      return problem === null ? leave() : setNaming({ ...of, problem });
    };
    setField(
      naming && {
        line: naming.line,
        content: (
          <NameField
            id={`${id}-name`}
            label={words.nameOf(placeIn(naming.state, naming.line))}
            usual={usualName(naming.state, naming.line)}
            text={text}
            names={suggestedNames(naming.state.graph, naming.line)}
            problem={naming.problem}
            isWaiting={naming.isWaiting}
            take={(to) => void take(to, naming)}
            leave={leave}
          />
        ),
      },
    );
  }, [naming]);
  useLayoutEffect(() => () => setField(null), []);
  return open;
}

/** The name that a field begins with: that of the line. The program may have none. */
function usualName({ graph }: State, line: number): string {
  return graph.table?.line(line).live ?? "";
}

function placeIn({ graph }: State, line: number): string {
  const node = nodeToName(graph, line);
  return node === null ? "" : shortened(visible(placeName(graph, node)), MAX_EDIT);
}

/** The part that an edit is about: that of the selected line, or the selected node of a drawing. */
function selectedPart({ drawn, graph, line, selected }: State, isOfLine: boolean): number | null {
  if (isOfLine || drawn === "table") {
    return line === null ? null : nodeToName(graph, line);
  }
  return selected !== null && selected >= 0 && selected < graph.size ? selected : null;
}

/** Asks for other changes, made of those that were asked for last; returns why there are none. */
type Change = (of: (changes: Changes) => Changes) => Promise<string | null>;

/** The changes that the kernel has answered, what asks for others, and what shows a problem. */
function useChanging(
  root: { readonly current: Element | null },
  selected: number | null,
  ask: Kernel,
  show: ShowChanged,
): readonly [Changing, Change, (problem: string | null) => void] {
  const [now, setNow] = useState(UNCHANGED);
  // The next change may come before the answer.
  const { current: last } = useRef<Asked>({
    ...{ number: 0, wanted: NO_CHANGES, answered: UNCHANGED },
    ...{ selected, selectedThen: null },
  });
  last.selected = selected;
  const set = (next: Partial<Changing>) => {
    last.answered = { ...last.answered, ...next };
    setNow(last.answered);
  };
  const tell = (problem: string | null) => set({ problem });
  const verdict = async (changes: Changes) => {
    const { changed: answer = null } = await ask({ ask: "changed", changes });
    set({ changes, answer, problem: null });
  };
  const showAnswered = async () => {
    const { answer, changes, shown } = last.answered;
    if (changes !== shown) {
      const answered = isChanged(changes) ? await ask({ ask: "picture", changes }) : null;
      if (changes === last.wanted) {
        const giveBack = focusOf(root.current);
        // What someone has selected since stays so.
        const isStill = last.selected === last.selectedThen;
        const node = isStill ? (answer?.node ?? null) : null;
        const bytes = bytesIn(answered?.buffers[0]);
        await show(answered && { bytes, about: { changes }, node });
        set({ shown: changes });
        giveBack();
      }
    }
  };
  const change: Change = async (of) => {
    const number = ++last.number;
    const changes = of(last.wanted);
    last.wanted = changes;
    last.selectedThen = last.selected;
    // The verdict comes first: the kernel takes longer for the table and the picture.
    const problem = await verdict(changes).then(() => null, problemIn);
    if (number === last.number) {
      last.wanted = last.answered.changes;
      void showAnswered().catch((error: unknown) => tell(problemIn(error)));
    }
    return problem;
  };
  // What the restore comes to without a change, or why the program cannot be changed.
  useEffect(() => {
    void change((changes) => changes).then(tell);
    return () => {
      last.number++; // an answer on its way comes too late
    };
  }, []);
  return [now, change, tell];
}

function problemIn(error: unknown): string {
  return sentenceText(whyWords(error));
}

interface DeedProps {
  readonly deed: keyof typeof words.deeds;
  readonly isOff: boolean;
  readonly run: (deed: ChangeDeed) => void;
}

function Deed({ deed, isOff, run }: DeedProps) {
  const [key = ""] = CHANGE_KEYS.find(([, does]) => does === deed) ?? [];
  return (
    <button
      type="button"
      title={words.hints[deed]}
      aria-disabled={isOff}
      onClick={() => (isOff ? undefined : run(deed))}
    >
      {words.deeds[deed]} {key === "" ? null : <kbd>{WORDS.keyLabel(key)}</kbd>}
    </button>
  );
}

interface WhatIfProps {
  readonly changes: Changes;
  readonly answer: ChangedAnswer;
  readonly change: (of: (changes: Changes) => Changes) => void;
}

/** The call, and the order of the save. */
function WhatIf({ changes, answer, change }: WhatIfProps) {
  const { method, partial, reordered } = changes;
  const usual = answer.before.method;
  const other = usual === "restore" ? "read" : "restore";
  const box = (text: string, hint: string, checked: boolean, next: Partial<Changes>) => (
    <label title={hint}>
      <input
        type="checkbox"
        checked={checked}
        onChange={() => change((changes) => ({ ...changes, ...next }))}
      />{" "}
      {text}
    </label>
  );
  return (
    <>
      {box(words.method(other, usual), words.methodHint, method !== null, {
        method: method === null ? other : null,
      })}
      {box("expect_partial()", words.partialHint, partial, { partial: !partial })}
      {box(words.reordered, words.reorderedHint, reordered, { reordered: !reordered })}
    </>
  );
}

interface ResultsProps {
  readonly answer: ChangedAnswer;
  readonly play: (step: number | null) => void;
}

/** What the restore comes to now, where that differs from before. */
function Results({ answer, play }: ResultsProps) {
  const { before, first, now } = answer;
  const differences = differenceWords(before, now);
  return (
    <p class="ckv-changing-results">
      {differences.length === 0 ? words.sameResult : null}
      {differences.map((difference) => (
        <span key={difference}>{difference}</span>
      ))}
      {first === null ? (
        words.sameSteps
      ) : (
        <button type="button" class="ckv-jump" onClick={() => play(first + 1)}>
          {words.firstStep(formatCount(first + 1))}
        </button>
      )}
    </p>
  );
}

/** What gives the focus back to the view if it loses that while another check takes its place. */
function focusOf(part: Element | null): () => void {
  const root = rootOf(part);
  const hasFocus = () => root?.contains(document.activeElement) === true;
  const hadFocus = hasFocus();
  return () => {
    if (hadFocus && !hasFocus()) {
      (root?.querySelector<HTMLElement>(".ckv-play") ?? gridOf(part))?.focus();
    }
  };
}

/** The names of the program; in a narrow table a name may be that of both sides. */
const PLACES_TO_TYPE = ".ckv-cell-live, .ckv-narrow .ckv-names-saved .ckv-table-name";
