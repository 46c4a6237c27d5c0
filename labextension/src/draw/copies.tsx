/** Buttons that give the code of an edited copy of a checkpoint, and show what the copy changes. */

import { useEffect, useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { formatCount, shortened, visible, whyWords } from "../basics/text";
import type { NodeState } from "../data/contract";
import { type Graph, ROOT } from "../data/graph";
import { bytesIn } from "../host/shared";
import {
  COPY_KEYS,
  type CopyKind,
  copyDeedOf,
  MARK_KEY,
  type Meant,
  question,
  type Side,
  sidesOf,
  withMark,
} from "../kernel/copies";
import { type Kernel, PATIENCE_FOR_WORK } from "../kernel/kernel";
import { isNode, type State } from "../state/state";
import { ownName } from "../words/naming";
import { placeName } from "../words/words";
import { Alert } from "./alert";
import { CodeButtons, CodeText } from "./code";
import { useKeys } from "./keys";
import { NameBox } from "./name-box";
import { gridOf, rootOf } from "./parts";
import type { ShowOther } from "./props";

/** Characters of a name in a label. */
const MAX_NAME = 60;

/** By graph, the rows that a person has marked for a copy of several. */
const MARKED = new WeakMap<Graph, readonly number[]>();

const words = WORDS.copies;

/** A copy that a person has asked for. */
interface Wanted {
  readonly kind: CopyKind;
  readonly to: string;
}

/** By explorer, the copy that a person compares now: it is there again when the graph is. */
const COMPARED = new WeakMap<Element, { readonly of: number | string; readonly doing: Doing }>();

/** What the buttons have led to; `isNaming`: a person types the new name. */
interface Doing extends Partial<Wanted> {
  readonly isNaming?: boolean;
  readonly code?: string;
  readonly problem?: string;
}

export interface CopiesProps {
  readonly state: State;
  /** The selected row; null: the matches. */
  readonly node: number | null;
  readonly kernel: Kernel;
  readonly insert: ((code: string) => void) | null;
  readonly showOther: ShowOther;
}

export function Copies(props: CopiesProps) {
  const { state, node, insert } = props;
  const { graph } = state;
  const root = useRef<HTMLDivElement>(null);
  const comparison = graph.overlay?.comparison ?? null;
  const ids = node === null ? state.found.matches : [node];
  const sides = sidesOf(graph.origin, comparison, stateOfAll(graph, ids));
  const [side = null, setSide] = useState(sides[0]);
  const [marked, mark] = useMarked(graph);
  const others = node === null ? [] : marked.filter((one) => one !== node);
  const rows = node === null ? null : [...others, node];
  const { doing, ask, compare, close, begin } = useCopying(props, root, rows, side);
  const isOff = sides.length === 0 || node === ROOT;
  const onKey = (event: KeyboardEvent) => {
    const deed = isOff ? undefined : copyDeedOf(event, node === null);
    return deed && (() => (deed !== "mark" ? begin(deed) : node !== null && mark(node)));
  };
  useKeys(root, onKey, { isLast: true });
  if (isOff) {
    return null;
  }
  return (
    <div
      ref={root}
      class={`ckv-copies${node === null ? " ckv-copies-matches" : ""}${doing === null ? "" : " ckv-copies-open"}`}
      role="group"
      aria-label={words.part}
      onKeyDown={(event) => {
        if (event.key === "Escape" && doing !== null) {
          event.stopPropagation();
          close();
        }
      }}
    >
      <p class="ckv-buttons">
        {node === null ? <b>{words.ofMatches(formatCount(state.found.matches.length))}</b> : null}
        <Deeds isOfMatches={node === null} isOfOne={rows?.length === 1} begin={begin} />
        {node === null ? null : <Mark isMarked={marked.includes(node)} mark={() => mark(node)} />}
        {sides.length < 2 ? null : <SideOf {...{ sides, side, setSide }} />}
      </p>
      {others.length === 0 ? null : <Others graph={graph} others={others} mark={mark} />}
      {doing?.isNaming === true ? (
        <NameBox
          label={
            node === null || others.length > 0 ? words.newNames : words.newName(nameOf(graph, node))
          }
          usual={usualName(props)}
          confirm={insert === null ? words.show : words.insert}
          submit={(to) => ask({ kind: "renamed", to })}
          cancel={close}
        />
      ) : null}
      {doing === null || doing.isNaming === true ? null : (
        <Result {...doing} insert={insert} compare={compare} close={close} />
      )}
    </div>
  );
}

/** What a comparison says of all these nodes; null if it says different things, or there is none. */
function stateOfAll({ overlay }: Graph, ids: readonly number[]): NodeState | null {
  const [first = ROOT] = ids;
  const state = overlay?.state(first) ?? null;
  return ids.every((id) => overlay?.state(id) === state) ? state : null;
}

/** The marked rows of a graph, in whichever of its trees, and what marks or unmarks a row. */
function useMarked(graph: Graph): readonly [readonly number[], (node: number) => void] {
  const of = graph.objects ?? graph;
  const [marked, setMarked] = useState(MARKED.get(of) ?? []);
  const mark = (node: number) => {
    const next = withMark(MARKED.get(of) ?? [], node);
    MARKED.set(of, next);
    setMarked(next);
  };
  return [marked, mark];
}

interface DeedsProps {
  readonly isOfMatches: boolean;
  readonly isOfOne: boolean;
  readonly begin: (kind: CopyKind) => void;
}

function Deeds({ isOfMatches, isOfOne, begin }: DeedsProps) {
  return COPY_KEYS.map(([kind, ofRow, ofMatches]) => (
    <button key={kind} type="button" title={words.hints[kind]} onClick={() => begin(kind)}>
      {words.deeds[isOfOne ? "one" : "several"][kind]} <kbd>{isOfMatches ? ofMatches : ofRow}</kbd>
    </button>
  ));
}

interface MarkProps {
  readonly isMarked: boolean;
  readonly mark: () => void;
}

function Mark({ isMarked, mark }: MarkProps) {
  return (
    <button type="button" title={words.markHint} aria-pressed={isMarked} onClick={mark}>
      {words.mark} <kbd>{MARK_KEY}</kbd>
    </button>
  );
}

interface OthersProps {
  readonly graph: Graph;
  readonly others: readonly number[];
  readonly mark: (node: number) => void;
}

/** The other rows that a copy is of. */
function Others({ graph, others, mark }: OthersProps) {
  return (
    <p class="ckv-buttons">
      {words.together}
      {others.map((node) => {
        const name = nameOf(graph, node);
        return (
          <button
            key={node}
            type="button"
            title={words.unmark(name)}
            aria-label={words.unmark(name)}
            onClick={() => mark(node)}
          >
            {name} ✕
          </button>
        );
      })}
    </p>
  );
}

function nameOf(graph: Graph, node: number): string {
  return shortened(visible(placeName(graph, node)), MAX_NAME);
}

/** The last name of the row, or of the first match. */
function usualName({ state, node }: CopiesProps): string {
  const { found, graph } = state;
  const first = node ?? found.matches.find((id) => isNode(state, id)) ?? ROOT;
  return ownName(graph.objects ?? graph, first);
}

interface SideProps {
  readonly sides: readonly (Side | null)[];
  readonly side: Side | null;
  readonly setSide: (side: Side) => void;
}

/** The side of a diff that the copy is of. */
function SideOf({ sides, side, setSide }: SideProps) {
  return (
    <label>
      {words.side}{" "}
      <select
        value={side ?? ""}
        onChange={({ currentTarget: { value } }) => setSide(value === "a" ? "a" : "b")}
      >
        {sides.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

interface ResultProps extends Doing, Pick<CopiesProps, "insert"> {
  readonly compare: () => void;
  readonly close: () => void;
}

/** The code, or the word that it is in a cell; or why there is none. */
function Result({ code, problem, insert, compare, close }: ResultProps) {
  return (
    <>
      <p role="status">
        {code !== undefined
          ? insert === null
            ? words.notInserted
            : words.inserted
          : problem === undefined
            ? words.asking
            : ""}
      </p>
      {code === undefined || insert !== null ? null : <CodeText code={code.trimEnd()} />}
      <Alert words={problem} />
      <p class="ckv-buttons">
        {code === undefined ? null : (
          <>
            <button type="button" class="ckv-compare" title={words.compareHint} onClick={compare}>
              {words.compare}
            </button>
            {insert === null ? <CodeButtons code={code} insert={null} /> : null}
          </>
        )}
        <button type="button" onClick={close}>
          {words.close} <kbd>{WORDS.keyLabel("Escape")}</kbd>
        </button>
      </p>
    </>
  );
}

interface Copying {
  readonly doing: Doing | null;
  /** Asks for the code, or first for a new name. */
  readonly begin: (kind: CopyKind) => void;
  readonly ask: (wanted: Wanted) => void;
  /** Shows the checkpoint before and after in place of the graph. */
  readonly compare: () => void;
  readonly close: () => void;
}

function useCopying(
  { state, node, kernel, insert, showOther }: CopiesProps,
  root: { readonly current: HTMLElement | null },
  rows: readonly number[] | null,
  side: Side | null,
): Copying {
  const [doing, setDoing] = useState<Doing | null>(null);
  // An answer may come after the next question.
  const number = useRef(0);
  const before = useRef<Element | null>(null);
  const meant: Meant = {
    ...(rows === null ? { query: state.query } : { nodes: rows }),
    ...(side === null ? {} : { side }),
  };
  const goBack = () => {
    const last = before.current?.isConnected === true ? before.current : gridOf(root.current);
    if (last instanceof HTMLElement) {
      last.focus();
    }
  };
  const doingSo = (work: () => Promise<Doing>, was: Doing) => {
    const own = ++number.current;
    setDoing(was);
    const set = (next: Doing) => (own === number.current ? setDoing(next) : undefined);
    work().then(set, (error: unknown) => set({ ...was, problem: whyWords(error) }));
  };
  const ask = (wanted: Wanted) => {
    goBack();
    doingSo(async () => {
      const { text = "" } = await kernel(question("copy", wanted.kind, meant, wanted.to));
      insert?.(text.trimEnd());
      return { ...wanted, code: text };
    }, wanted);
  };
  const compare = () => {
    const { kind = "without", to = "", code = "" } = doing ?? {};
    const was = { kind, to, code };
    doingSo(async () => {
      const asked = question("copy-picture", kind, meant, to);
      const { buffers } = await kernel(asked, PATIENCE_FOR_WORK);
      const view = rootOf(root.current);
      await showOther(bytesIn(buffers[0]), null);
      if (view !== null) {
        COMPARED.set(view, { of: node ?? state.query, doing: was });
      }
      return was;
    }, was);
  };
  useEffect(() => {
    const view = rootOf(root.current);
    const compared = view === null ? undefined : COMPARED.get(view);
    if (view !== null && compared?.of === (node ?? state.query)) {
      COMPARED.delete(view);
      setDoing(compared.doing);
      goTo(view, ".ckv-compare", node !== null);
    }
  }, []);
  const close = () => {
    number.current++;
    setDoing(null);
    goBack();
  };
  const begin = (kind: CopyKind) => {
    before.current = document.activeElement;
    if (kind === "renamed") {
      setDoing({ kind, isNaming: true });
    } else {
      ask({ kind, to: "" });
    }
  };
  return { doing, ask, compare, close, begin };
}

/** Focuses a button once it is drawn; if the panes are tabs, it may be in the details. */
function goTo(view: HTMLElement, button: string, isInDetails: boolean): void {
  if (isInDetails) {
    view.querySelector<HTMLElement>("[role=tab][data-tab=details]")?.click();
  }
  setTimeout(() => view.querySelector<HTMLElement>(button)?.focus());
}
