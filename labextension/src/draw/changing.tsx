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
} from "../changes";
import type { Graph } from "../graph";
import type { AskAll } from "../kernel";
import type { Overlay } from "../overlay";
import { verdictSign } from "../signs";
import { isNode, type State } from "../state";
import * as WORDS from "../strings";
import { clip, formatCount, sentenceText, visible, whyWords } from "../text";
import { placeName } from "../words";
import { CodeButtons, CodeText } from "./code";
import type { ShowOther } from "./explorer";
import { SignIcon } from "./icons";

interface StripProps {
  readonly state: State;
  /** Asks the kernel about the check itself. */
  readonly ask: AskAll;
  readonly showOther: ShowOther;
  readonly insert: ((code: string) => void) | null;
  readonly play: (step: number | null) => void;
}

interface Changing {
  readonly changes: Changes;
  readonly answer: ChangedAnswer | null;
  readonly problem: string | null;
}

/** An edit that needs a name, or a second part, before it is whole. */
interface Pending {
  readonly kind: "rename" | "insert" | "move" | "exchange";
  readonly node: number;
}

const words = WORDS.changing;

export function ChangeStrip({ state, ask, showOther, insert, play }: StripProps) {
  const root = useRef<HTMLElement>(null);
  const [changing, change] = useChanging(root, ask, showOther);
  const { answer, changes, problem } = changing;
  const graph = state.graph.objects ?? state.graph;
  const node = partIn(state, graph);
  const { edit, pending, run } = useDeeds(root, graph, node, change);
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
            <li key={place}>{clip(visible(text), MAX_EDIT)}</li>
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
  graph: Graph,
  node: number | null,
  change: Change,
): Deeds {
  const [pending, setPending] = useState<Pending | null>(null);
  const goBack = () => {
    setPending(null);
    viewOf(root.current)?.focus();
  };
  const edit = (edit: Edit) => {
    goBack();
    void change((changes) => ({ ...changes, edits: [...changes.edits, edit] }));
  };
  const begin = (kind: EditKind | "up" | "down", node: number) => {
    if (kind === "remove" || (kind === "insert" && isOfCheckpoint(graph, node))) {
      edit({ kind, node });
    } else if (kind === "up" || kind === "down") {
      const moved = neighbour(graph, node, kind === "up" ? -1 : 1);
      if (moved !== null) {
        edit(moved);
      }
    } else if (kind !== "build") {
      setPending({ kind, node });
    }
  };
  const run = (deed: ChangeDeed) => {
    if (deed === "build") {
      edit({ kind: deed });
    } else if (deed === "undo") {
      void change((changes) => ({ ...changes, edits: changes.edits.slice(0, -1) }));
    } else if (deed === "cancel") {
      goBack();
    } else if (deed === "confirm") {
      if (pending !== null && node !== null) {
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
  ask: AskAll,
  show: ShowOther,
): readonly [Changing, Change] {
  const [now, setNow] = useState<Changing>({ changes: NO_CHANGES, answer: null, problem: null });
  const last = useRef(0);
  // What was asked for last: the next change may come before the answer.
  const wanted = useRef(NO_CHANGES);
  const change = async (of: (changes: Changes) => Changes) => {
    const number = ++last.current;
    const changes = of(wanted.current);
    wanted.current = changes;
    try {
      const { buffers, changed } = await ask({ ask: "changed", changes });
      const answer = readChanged(changed);
      const [{ buffer, byteLength, byteOffset } = NOTHING] = buffers;
      if (answer === null) {
        throw new Error(words.broken);
      }
      if (number !== last.current) {
        return;
      }
      const bytes = new Uint8Array(buffer, byteOffset, byteLength);
      if (isChanged(changes) || isChanged(now.changes)) {
        const giveBack = focusOf(root.current);
        await show(isChanged(changes) ? bytes : null, { changes }, answer.node);
        giveBack();
      }
      setNow({ changes, answer, problem: null });
    } catch (error) {
      if (number === last.current) {
        wanted.current = now.changes;
        setNow({ ...now, problem: sentenceText(whyWords(error)) });
      }
    }
  };
  // What the restore comes to without a change, or why the program cannot be changed.
  useEffect(() => {
    void change((changes) => changes);
    return () => {
      last.current++; // an answer on its way comes too late
    };
  }, []);
  return [now, change];
}

const NOTHING = new DataView(new ArrayBuffer(0));

/** The selected part of the program, or of the checkpoint alone; null for none. */
function partIn(state: State, graph: Graph): number | null {
  const { selected } = state;
  return selected !== null && isNode(state, selected) && selected < graph.size ? selected : null;
}

function isOfCheckpoint(graph: Graph, node: number): boolean {
  return node >= (graph.overlay?.baseSize ?? graph.size);
}

/** The move of an item of a list to the place before or after it; null for none. */
function neighbour(graph: Graph, node: number, by: 1 | -1): Edit | null {
  const other = graph.treeParent(node);
  const place = Number(graph.label(node)) + by;
  return other === null || !/^\d+$/.test(graph.label(node)) || place < 0
    ? null
    : { kind: "move", node, other, to: `${place}` };
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
  readonly graph: Graph;
  readonly pending: Pending;
  readonly node: number | null;
  readonly edit: (edit: Edit) => void;
  readonly run: (deed: ChangeDeed) => void;
}

/** Asks for the new name, or for the second part. */
function PendingLine({ graph, pending, node, edit, run }: PendingProps) {
  const { kind } = pending;
  const own = clip(visible(placeName(graph, pending.node)), MAX_EDIT) || WORDS.root;
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => box.current?.select(), []);
  if (kind === "move" || kind === "exchange") {
    const other = node === null || node === pending.node ? null : node;
    const name = other === null ? "…" : clip(visible(placeName(graph, other)), MAX_EDIT);
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
  const submit = () => {
    const to = box.current?.value.trim() ?? "";
    edit(
      kind === "rename"
        ? { kind, node: pending.node, to }
        : { kind, node: pending.node, to, other: graph.treeParent(pending.node) ?? 0 },
    );
  };
  return (
    <p class="ckv-changing-pending">
      <label>
        {words.named[kind](own)}{" "}
        <input
          ref={box}
          type="search"
          size={24}
          maxLength={200}
          autocomplete="off"
          spellcheck={false}
          defaultValue={usualName(graph, pending)}
          onKeyDown={(event) => {
            // JupyterLab keeps Enter from a form.
            if (event.key === "Escape" || event.key === "Enter") {
              event.preventDefault();
              event.stopPropagation();
              event.key === "Enter" ? submit() : run("cancel");
            }
          }}
        />
      </label>
      <button type="button" onClick={submit}>
        {words.apply} <kbd>{WORDS.enterKey}</kbd>
      </button>
      <button type="button" onClick={() => run("cancel")}>
        {words.cancel} <kbd>{WORDS.escapeKey}</kbd>
      </button>
    </p>
  );
}

/** The name that the box begins with: an item of a list gets the place behind the one it is like. */
function usualName(graph: Graph, { kind, node }: Pending): string {
  const label = graph.label(node);
  if (kind === "rename") {
    return label;
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

/** The tree or the two sides of the view, for the focus. */
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
