/** Buttons that give the code of an edited copy of a checkpoint. */

import { useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { formatCount, shortened, visible } from "../basics/text";
import type { NodeState } from "../data/contract";
import { type Graph, ROOT } from "../data/graph";
import { COPY_KEYS, type CopyKind, copyDeedOf, question, sideOf } from "../kernel/copies";
import type { Kernel } from "../kernel/kernel";
import { isNode, type State } from "../state/state";
import { ownName } from "../words/naming";
import { placeName } from "../words/words";
import { Alert } from "./alert";
import { type Asked, useAsked } from "./asking";
import { CodeButtons, CodeText } from "./code";
import { useKeys } from "./keys";
import { NameField } from "./name-field";
import { gridOf } from "./parts";

/** Characters of a name in a label. */
const MAX_NAME = 60;

const words = WORDS.copies;

export interface CopiesProps {
  readonly id: string;
  readonly state: State;
  /** The selected row; null: the matches. */
  readonly node: number | null;
  readonly kernel: Kernel;
  readonly insert: ((code: string) => void) | null;
}

export function Copies(props: CopiesProps) {
  const { id, state, node, insert } = props;
  const { graph } = state;
  const root = useRef<HTMLDivElement>(null);
  const comparison = graph.overlay?.comparison ?? null;
  const ids = node === null ? state.found.matches : [node];
  const side = sideOf(graph.origin, comparison, stateOfAll(graph, ids));
  const { doing, asked, text, ask, close, begin } = useCopying(props, root, side);
  const isOff = side === null || node === ROOT;
  const onKey = (event: KeyboardEvent) => {
    const kind = isOff ? undefined : copyDeedOf(event, node === null);
    return kind && (() => begin(kind));
  };
  useKeys(root, onKey, { isLast: true });
  if (isOff) {
    return null;
  }
  const label = node === null ? words.newNames : words.newName(nameOf(graph, node));
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
        <Deeds isOfMatches={node === null} begin={begin} />
      </p>
      {doing === "naming" ? (
        <div class="ckv-name-box">
          <span aria-hidden="true">{label}</span>
          <NameField
            id={`${id}-copy`}
            {...{ label, text }}
            usual={usualName(props)}
            names={[]}
            problem={null}
            isWaiting={false}
            take={(to) => ask("renamed", to.trim())}
            leave={close}
          />
        </div>
      ) : null}
      {doing === "asking" && asked !== null ? <Result {...{ asked, insert, close }} /> : null}
    </div>
  );
}

/** What a comparison says of all these nodes; null if it says different things, or there is none. */
function stateOfAll({ overlay }: Graph, ids: readonly number[]): NodeState | null {
  const [first = ROOT] = ids;
  const state = overlay?.state(first) ?? null;
  return ids.every((id) => overlay?.state(id) === state) ? state : null;
}

interface DeedsProps {
  readonly isOfMatches: boolean;
  readonly begin: (kind: CopyKind) => void;
}

function Deeds({ isOfMatches, begin }: DeedsProps) {
  return COPY_KEYS.map(([kind, ofRow, ofMatches]) => (
    <button key={kind} type="button" title={words.hints[kind]} onClick={() => begin(kind)}>
      {words.deeds[isOfMatches ? "several" : "one"][kind]}{" "}
      <kbd>{isOfMatches ? ofMatches : ofRow}</kbd>
    </button>
  ));
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

interface ResultProps extends Pick<CopiesProps, "insert"> {
  readonly asked: Asked<string>;
  readonly close: () => void;
}

/** The code, or the word that it is in a cell; or why there is none. */
function Result({ asked: { answer, problem }, insert, close }: ResultProps) {
  const isShown = answer !== undefined && insert === null;
  const said = insert === null ? words.notInserted : words.inserted;
  return (
    <>
      <p role="status">{answer !== undefined ? said : problem === undefined ? words.asking : ""}</p>
      {isShown ? <CodeText code={answer.trimEnd()} /> : null}
      <Alert words={problem} />
      <p class="ckv-buttons">
        {isShown ? <CodeButtons code={answer} insert={null} /> : null}
        <button type="button" onClick={close}>
          {words.close} <kbd>{WORDS.keyLabel("Escape")}</kbd>
        </button>
      </p>
    </>
  );
}

/** A person types a new name, or has asked for the code; null before both. */
type Doing = "naming" | "asking" | null;

function useCopying(
  props: CopiesProps,
  root: { readonly current: HTMLElement | null },
  side: ReturnType<typeof sideOf>,
) {
  const { state, node, kernel, insert } = props;
  const [doing, setDoing] = useState<Doing>(null);
  const wanted = useRef<{ kind: CopyKind; to: string }>({ kind: "without", to: "" });
  const before = useRef<Element | null>(null);
  const text = useRef("");
  const [asked, put] = useAsked(async () => {
    const { kind, to } = wanted.current;
    const meant = { ...(node === null ? { query: state.query } : { nodes: [node] }), ...side };
    const { text: code = "" } = await kernel(question(kind, meant, to));
    insert?.(code.trimEnd());
    return code;
  });
  const goBack = () => {
    const last = before.current?.isConnected === true ? before.current : gridOf(root.current);
    if (last instanceof HTMLElement) {
      last.focus();
    }
  };
  const ask = (kind: CopyKind, to = "") => {
    goBack();
    wanted.current = { kind, to };
    setDoing("asking");
    put();
  };
  const close = () => {
    setDoing(null);
    goBack();
  };
  /** Asks for the code, or first for a new name. */
  const begin = (kind: CopyKind) => {
    before.current = document.activeElement;
    if (kind === "renamed") {
      text.current = usualName(props);
      setDoing("naming");
    } else {
      ask(kind);
    }
  };
  return { doing, asked, text, ask, close, begin };
}
