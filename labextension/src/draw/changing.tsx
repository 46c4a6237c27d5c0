/** Above a check: a strip to change its program, and what the restore comes to before and now. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  ASSERTS,
  CHANGE_KEYS,
  type ChangeDeed,
  type ChangedAnswer,
  type Changes,
  COUNTS,
  changeDeedOf,
  type Edit,
  type EditKind,
  isChanged,
  NO_CHANGES,
  type Result,
  readChanged,
  withEdit,
} from "../changes";
import type { Graph } from "../graph";
import type { AskAll } from "../kernel";
import type { Overlay } from "../overlay";
import { verdictSign } from "../signs";
import { isNode, type State } from "../state";
import * as WORDS from "../strings";
import { formatCount, sentenceText, shortened, visible, whyWords } from "../text";
import { ownName, placeName } from "../words";
import { CodeButtons, CodeText } from "./code";
import type { ShowOther } from "./explorer";
import { SignIcon } from "./icons";
import { NameBox } from "./name-box";

interface StripProps {
  readonly state: State;
  /** Asks the kernel about the check itself. */
  readonly ask: AskAll;
  readonly showOther: ShowOther;
  readonly insert: ((code: string) => void) | null;
  readonly play: (step: number | null) => void;
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

/** Edits that need a name, or a second part. */
const UNFINISHED = ["rename", "insert", "move", "exchange"] as const;

/** What someone sees: a graph, and the changes that have made it. */
interface Picture {
  readonly graph: Graph;
  readonly of: Changes;
}

/** An edit that is not whole yet, by a node of the picture in which someone began it. */
interface Pending {
  readonly kind: (typeof UNFINISHED)[number];
  readonly node: number;
  readonly picture: Picture;
}

const words = WORDS.changing;

export function ChangeStrip({ state, ask, showOther, insert, play }: StripProps) {
  const root = useRef<HTMLElement>(null);
  const graph = state.graph.objects ?? state.graph;
  const node = partIn(state, graph);
  const [changing, change] = useChanging(root, node, ask, showOther);
  const { answer, changes, problem, shown } = changing;
  const { edit, pending, run } = useDeeds(root, { graph, of: shown }, node, change);
  useKeys(root, pending !== null, run);
  return (
    <section class="ckv-changing" aria-label={words.part} ref={root}>
      <div class="ckv-changing-deeds">
        <b>{words.part}</b>
        {(["rename", "remove", "insert", "move", "exchange"] as const).map((deed) => (
          <Deed key={deed} deed={deed} isOff={node === null} run={run} />
        ))}
        <Deed deed="build" isOff={false} run={run} />
        <Deed deed="undo" isOff={changes.edits.length === 0} run={run} />
        <WhatIf changes={changes} answer={answer} change={change} />
      </div>
      {pending === null ? null : (
        <PendingLine
          key={`${pending.kind} ${pending.node}`}
          {...{ graph, pending, node, edit, run }}
        />
      )}
      {problem === null ? null : (
        <p class="ckv-error" role="alert">
          {problem}
        </p>
      )}
      {answer === null ? null : isChanged(changes) ? (
        <Changed {...{ answer, overlay: graph.overlay, insert, play }} />
      ) : pending === null ? (
        <p class="ckv-faint">{words.hint}</p>
      ) : null}
    </section>
  );
}

interface ChangedProps extends Pick<StripProps, "insert" | "play"> {
  readonly answer: ChangedAnswer;
  readonly overlay: Overlay | null;
}

/** The edits, their Python, and what the restore comes to. */
function Changed({ answer, overlay, insert, play }: ChangedProps) {
  const [showsCode, setShowsCode] = useState(false);
  const { edits } = answer;
  return (
    <>
      {edits.length === 0 ? null : (
        <ol class="ckv-changing-edits" aria-label={words.edits}>
          {edits.map(({ text }, place) => (
            <li key={place}>{shortened(visible(text), MAX_EDIT)}</li>
          ))}
          <li>
            <button
              type="button"
              aria-expanded={showsCode}
              onClick={() => setShowsCode(!showsCode)}
            >
              {words.asCode}
            </button>
          </li>
        </ol>
      )}
      {showsCode && edits.length > 0 ? (
        <Code code={edits.map(({ code }) => code).join("\n")} insert={insert} />
      ) : null}
      {overlay === null ? null : <Results {...{ answer, overlay, play }} />}
    </>
  );
}

interface Deeds {
  /** An edit that is not whole yet. */
  readonly pending: Pending | null;
  readonly edit: (edit: Edit) => void;
  readonly run: (deed: ChangeDeed) => void;
}

/** What buttons and keys do with the selected part. */
function useDeeds(
  root: { readonly current: Element | null },
  picture: Picture,
  node: number | null,
  change: Change,
): Deeds {
  const [pending, setPending] = useState<Pending | null>(null);
  const goBack = () => {
    setPending(null);
    viewOf(root.current)?.focus();
  };
  const edit = (edit: Edit, { of } = pending?.picture ?? picture) => {
    goBack();
    void change((changes) => withEdit(changes, of, edit));
  };
  const begin = (kind: EditKind, node: number) => {
    const unfinished = UNFINISHED.find((one) => one === kind);
    if (unfinished !== undefined && !(kind === "insert" && isOfCheckpoint(picture.graph, node))) {
      setPending({ kind: unfinished, node, picture });
    } else {
      edit({ kind, node }, picture);
    }
  };
  const run = (deed: ChangeDeed) => {
    if (deed === "build") {
      edit({ kind: deed }, picture);
    } else if (deed === "undo") {
      setPending(null);
      void change((changes) => ({ ...changes, edits: changes.edits.slice(0, -1) }));
    } else if (deed === "cancel") {
      goBack();
    } else if (deed === "confirm") {
      // Both parts are of one picture, or their numbers do not fit together.
      if (pending?.picture.graph === picture.graph && node !== null) {
        edit({ kind: pending.kind, node: pending.node, other: node });
      }
    } else if (node !== null) {
      begin(deed, node);
    }
  };
  return { edit, pending, run };
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

/** Asks for other changes, made of those that were asked for last. */
type Change = (of: (changes: Changes) => Changes) => Promise<void>;

/** The changes that the kernel has answered, and what asks for others. */
function useChanging(
  root: { readonly current: Element | null },
  selected: number | null,
  ask: AskAll,
  show: ShowOther,
): readonly [Changing, Change] {
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
  const tell = (error: unknown) => set({ problem: sentenceText(whyWords(error)) });
  const verdict = async (changes: Changes) => {
    const answer = readChanged((await ask({ ask: "changed", changes })).changed);
    if (answer === null) {
      throw new Error(words.broken);
    }
    set({ changes, answer, problem: null });
  };
  const showAnswered = async () => {
    const { answer, changes, shown } = last.answered;
    if (changes !== shown) {
      const bytes = isChanged(changes) ? await picture(ask, changes) : null;
      if (changes === last.wanted) {
        const giveBack = focusOf(root.current);
        // What someone has selected since stays so.
        const isStill = last.selected === last.selectedThen;
        await show(bytes, { changes }, isStill ? (answer?.node ?? null) : null);
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
    await verdict(changes).catch((error: unknown) => {
      if (number === last.number) {
        last.wanted = last.answered.changes;
        tell(error);
      }
    });
    if (number === last.number) {
      await showAnswered().catch(tell);
    }
  };
  // What the restore comes to without a change, or why the program cannot be changed.
  useEffect(() => {
    void change((changes) => changes);
    return () => {
      last.number++; // an answer on its way comes too late
    };
  }, []);
  return [now, change];
}

const NOTHING = new DataView(new ArrayBuffer(0));

/** The payload of the check with a changed program. */
async function picture(ask: AskAll, changes: Changes): Promise<Uint8Array> {
  const { buffers } = await ask({ ask: "picture", changes });
  const [{ buffer, byteLength, byteOffset } = NOTHING] = buffers;
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The selected part of the program, or of the checkpoint alone; null for none. */
function partIn(state: State, graph: Graph): number | null {
  const { selected } = state;
  return selected !== null && isNode(state, selected) && selected < graph.size ? selected : null;
}

function isOfCheckpoint(graph: Graph, node: number): boolean {
  return node >= (graph.overlay?.baseSize ?? graph.size);
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
      title={isOff && deed !== "undo" ? words.selectFirst : words.hints[deed]}
      aria-disabled={isOff}
      onClick={() => (isOff ? undefined : run(deed))}
    >
      {words.deeds[deed]} {key === "" ? null : <kbd>{WORDS.changeKeys[key] ?? key}</kbd>}
    </button>
  );
}

interface PendingProps {
  /** The graph that is in sight now, for the second part. */
  readonly graph: Graph;
  readonly pending: Pending;
  readonly node: number | null;
  readonly edit: (edit: Edit) => void;
  readonly run: (deed: ChangeDeed) => void;
}

/** Asks for the new name, or for the second part. */
function PendingLine({ graph, pending, node, edit, run }: PendingProps) {
  const { kind } = pending;
  // Another picture may have come since: the name is of the one in which this edit began.
  const began = pending.picture.graph;
  const own = shortened(visible(placeName(began, pending.node)), MAX_EDIT) || WORDS.root;
  if (kind === "move" || kind === "exchange") {
    const other = node === null || node === pending.node ? null : node;
    const name = other === null ? "…" : shortened(visible(placeName(graph, other)), MAX_EDIT);
    return (
      <p class="ckv-changing-pending" role="status">
        <span>{words.second[kind](own)}</span>
        <button type="button" aria-disabled={other === null} onClick={() => run("confirm")}>
          {words.confirm[kind](name || WORDS.root)} <kbd>{WORDS.enterKey}</kbd>
        </button>
        <button type="button" onClick={() => run("cancel")}>
          {words.cancel} <kbd>{WORDS.escapeKey}</kbd>
        </button>
      </p>
    );
  }
  return (
    <NameBox
      label={words.named[kind](own)}
      usual={usualName(began, pending)}
      confirm={words.apply}
      submit={(to) =>
        edit(
          kind === "rename"
            ? { kind, node: pending.node, to }
            : { kind, node: pending.node, to, other: began.treeParent(pending.node) ?? 0 },
        )
      }
      cancel={() => run("cancel")}
    />
  );
}

/** The name that the box begins with: an item of a list gets the place behind the one it is like. */
function usualName(graph: Graph, { kind, node }: Pending): string {
  const label = graph.label(node);
  if (kind === "rename") {
    return ownName(graph, node);
  }
  return /^\d+$/.test(label) ? `${Number(label) + 1}` : `${label}_2`;
}

interface WhatIfProps {
  readonly changes: Changes;
  readonly answer: ChangedAnswer | null;
  readonly change: Change;
}

/** The call, and the order of the save. */
function WhatIf({ changes, answer, change }: WhatIfProps) {
  const { method, partial, reordered } = changes;
  const usual = answer?.before.method ?? "restore";
  const other = usual === "restore" ? "read" : "restore";
  const box = (text: string, hint: string, checked: boolean, next: Partial<Changes>) => (
    <label title={hint}>
      <input
        type="checkbox"
        checked={checked}
        onChange={() => void change((changes) => ({ ...changes, ...next }))}
      />{" "}
      {text}
    </label>
  );
  return (
    <fieldset class="ckv-changing-if">
      <legend>{words.whatIf}</legend>
      {box(words.method(other, usual), words.methodHint, method !== null, {
        method: method === null ? other : null,
      })}
      {box("expect_partial()", words.partialHint, partial, { partial: !partial })}
      {box(words.reordered, words.reorderedHint, reordered, { reordered: !reordered })}
    </fieldset>
  );
}

interface ResultsProps {
  readonly answer: ChangedAnswer;
  readonly overlay: Overlay;
  readonly play: (step: number | null) => void;
}

/** What the restore comes to, before and now. */
function Results({ answer, overlay, play }: ResultsProps) {
  const { before, first, now } = answer;
  const cells = (result: Result) => [
    result.raises === "" ? "" : result.raises,
    ...ASSERTS.map((name) => result[name]),
    ...COUNTS.map((name) => result[name]),
  ];
  const [past, present] = [cells(before), cells(now)];
  const heads = [
    now.method === before.method ? `${now.method}()` : `${before.method}(), ${now.method}()`,
    ...ASSERTS.map((name) => `assert_${name}()`),
    ...COUNTS.map((name) => words.counts[name]),
  ];
  const row = (word: string, values: readonly (string | number | boolean)[]) => (
    <tr>
      <th scope="row">{word}</th>
      {values.map((value, place) => (
        <td key={place} class={past[place] === present[place] ? undefined : "ckv-changing-differs"}>
          {typeof value === "number" ? (
            formatCount(value)
          ) : (
            <Verdict value={value} overlay={overlay} />
          )}
        </td>
      ))}
    </tr>
  );
  return (
    <div class="ckv-changing-results">
      <table>
        <thead>
          <tr>
            <td />
            {heads.map((head) => (
              <th key={head} scope="col">
                {head
                  .split("_")
                  .flatMap((part, place) => (place === 0 ? part : [<wbr />, `_${part}`]))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {row(words.before, past)}
          {row(words.now, present)}
        </tbody>
      </table>
      {first === null ? (
        <span>{words.sameSteps}</span>
      ) : (
        <button type="button" onClick={() => play(first + 1)}>
          {words.firstStep(formatCount(first + 1))}
        </button>
      )}
    </div>
  );
}

interface VerdictProps {
  readonly value: string | boolean;
  readonly overlay: Overlay;
}

/** Whether a call or an assert passes; a text is the error that it raises. */
function Verdict({ value, overlay }: VerdictProps) {
  const passes = value === "" || value === true;
  return (
    <>
      <SignIcon sign={verdictSign(overlay, passes)} />{" "}
      {passes ? words.passes : value === false ? words.fails : words.raises(visible(`${value}`))}
    </>
  );
}

/** What gives the focus back to the view if it loses that while another check takes its place. */
function focusOf(part: Element | null): () => void {
  const root = part?.closest(".ckpt-viz") ?? null;
  const hasFocus = () => root?.contains(document.activeElement) === true;
  const hadFocus = hasFocus();
  return () => {
    if (hadFocus && !hasFocus()) {
      (root?.querySelector<HTMLElement>(".ckv-play") ?? viewOf(part))?.focus();
    }
  };
}

/** The table or the drawing of the view, for the focus. */
function viewOf(part: Element | null): HTMLElement | null {
  const root = part?.closest(".ckpt-viz") ?? null;
  return root?.querySelector<HTMLElement>("[role=treegrid], [role=tree][tabindex]") ?? null;
}

/** Answers the keys wherever the focus is in the explorer, before the explorer and Play do. */
function useKeys(
  strip: { readonly current: HTMLElement | null },
  isPending: boolean,
  run: (deed: ChangeDeed) => void,
): void {
  const current = useRef({ isPending, run });
  current.current = { isPending, run };
  useLayoutEffect(() => {
    const root = strip.current?.closest(".ckpt-viz") ?? null;
    const act = (event: KeyboardEvent) => {
      const { target } = event;
      if (!(target instanceof Element) || root?.contains(target) !== true) {
        return;
      }
      const deed = changeDeedOf(event, current.current.isPending);
      const isOfButton = event.key === "Enter" && target.matches("button, summary, a");
      if (deed !== undefined && !isOfButton && !target.matches("input, select, dialog *")) {
        event.preventDefault();
        event.stopImmediatePropagation();
        current.current.run(deed);
      }
    };
    window.addEventListener("keydown", act, true);
    return () => window.removeEventListener("keydown", act, true);
  }, []);
}
