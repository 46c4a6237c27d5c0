/** The textbook view: Graphviz finds the places, and the view draws the nodes as in the tree. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { oncePer } from "../basics/once";
import * as WORDS from "../basics/strings";
import { countWords, whyWords } from "../basics/text";
import { BOX_HEIGHT } from "../layout/tidy";
import { isPartOfPicture } from "../state/camera";
import { type LoadGraphviz, makeEngine } from "../textbook/engine";
import {
  isTooMany,
  MAX_EDGES,
  MAX_NODES,
  type PartWidths,
  partInSight,
  sizesOf,
  type TooMany,
} from "../textbook/part";
import { type Picture, type PictureEdge, pictureOf } from "../textbook/picture";
import { Canvas, NodeBox } from "./drawing";
import { lookOf } from "./look";
import type { Typesetter } from "./measure";
import type { Showing } from "./props";

interface TextbookProps extends Showing {
  readonly typesetter: Typesetter;
  readonly graphviz: LoadGraphviz;
}

/** The message over the picture, and the button that it offers. */
interface Message {
  readonly words: string;
  readonly offers: "cancel" | "again" | null;
}

/** The engine of a view, which loads Graphviz once. */
const engineOf = oncePer(makeEngine);

export function Textbook({ state, typesetter, graphviz, dispatch }: TextbookProps) {
  const engine = engineOf(graphviz);
  const { graph, rows, tree } = state;
  const part = useMemo(() => partInSight({ graph, rows, tree }), [graph, rows, tree]);
  const [message, setMessage] = useState<Message | null>(null);
  const [attempt, setAttempt] = useState(0);
  const running = useRef<AbortController | null>(null);
  const sizes = useMemo(
    () =>
      isTooMany(part) ? null : JSON.stringify(sizesOf(part, BOX_HEIGHT, widthsOf(typesetter))),
    [part, typesetter],
  );

  // The same sizes give the same picture, whatever else has changed.
  useEffect(() => {
    if (sizes === null || isTooMany(part)) {
      return;
    }
    const abort = new AbortController();
    const { signal } = abort;
    running.current = abort;
    const say = (words: string, offers: Message["offers"]) => {
      if (!signal.aborted) {
        setMessage({ words, offers });
      }
    };
    say(WORDS.loadingGraphviz, "cancel");
    engine
      .layout(sizes, signal, () => say(WORDS.drawingGraphviz, "cancel"))
      .then((places) => {
        if (!signal.aborted) {
          dispatch({ type: "showPicture", picture: pictureOf(part, places) });
          setMessage(null);
        }
      })
      .catch((error: unknown) => say(whyWords(error), "again"));
    return () => abort.abort();
  }, [sizes, engine, attempt]);
  useEffect(() => () => engine.rest(), [engine]);

  const cancel = () => {
    running.current?.abort();
    setMessage({ words: WORDS.cancelled, offers: "again" });
  };
  const isTooLarge = isTooMany(part);
  const shownMessage: Message | null = isTooLarge
    ? { words: tooManyWords(part), offers: null }
    : (message ?? (isPartOfPicture(state) ? { words: WORDS.partOfPicture, offers: null } : null));
  return (
    <div class="ckv-textbook">
      <Drawn
        state={state}
        picture={isTooLarge ? null : state.picture}
        {...{ typesetter, dispatch }}
      />
      {shownMessage === null ? null : (
        <Said message={shownMessage} cancel={cancel} again={() => setAttempt(attempt + 1)} />
      )}
    </div>
  );
}

type SaidProps = { readonly message: Message } & Readonly<Record<"cancel" | "again", () => void>>;

const OFFERS = {
  cancel: WORDS.cancel,
  again: WORDS.drawAgain,
} as const;

function Said({ message: { words, offers }, ...does }: SaidProps) {
  return (
    <div class={`ckv-textbook-said ckv-${offers}`}>
      <span role="status">{words}</span>
      {offers === null ? null : (
        <button type="button" onClick={does[offers]}>
          {OFFERS[offers]}
        </button>
      )}
    </div>
  );
}

function widthsOf({ behind, box, name }: Typesetter): PartWidths {
  return { box: (row) => box(row) + behind(row), name };
}

interface DrawnProps extends Showing {
  readonly picture: Picture | null;
  readonly typesetter: Typesetter;
}

function Drawn({ state, picture, typesetter, dispatch }: DrawnProps) {
  const svg = useRef<SVGSVGElement>(null);
  const { camera, found, graph, selected } = state;
  const still = useMemo(
    () =>
      picture === null ? null : (
        <>
          <Edges edges={picture.edges} selected={selected} />
          {picture.nodes.map((row) => {
            const box = picture.boxes.get(row.id);
            return box === undefined ? null : (
              <NodeBox
                key={row.id}
                {...{ graph, row, box }}
                width={typesetter.parts(row).width}
                isSelected={row.id === selected}
                isMatch={found.isMatch[row.id] === 1}
                look={lookOf(state, row)}
                {...{ typesetter, dispatch }}
              />
            );
          })}
        </>
      ),
    [found, graph, picture, selected, state.measure, typesetter],
  );
  return (
    <Canvas {...{ svg, dispatch }} label={WORDS.textbookDrawing}>
      <g transform={`translate(${camera.x} ${camera.y}) scale(${camera.scale})`}>{still}</g>
    </Canvas>
  );
}

interface EdgesProps {
  readonly edges: readonly PictureEdge[];
  readonly selected: number | null;
}

/** Names come after all lines; edges to or from the selected node come last. */
function Edges({ edges, selected }: EdgesProps) {
  const isLit = ({ from, to }: PictureEdge) => from === selected || to === selected;
  const ordered = [...edges.filter((edge) => !isLit(edge)), ...edges.filter(isLit)];
  const look = (edge: PictureEdge) =>
    `${edge.isSlot ? " ckv-textbook-slot" : ""}${isLit(edge) ? " ckv-lit" : ""}`;
  return (
    <g aria-hidden="true">
      {ordered.map((edge) => (
        <g key={`${edge.from} ${edge.to} ${edge.path}`} class={`ckv-textbook-edge${look(edge)}`}>
          <path class="ckv-textbook-line" d={edge.path} />
          <path class="ckv-textbook-arrow" d={edge.arrow} />
        </g>
      ))}
      {ordered.map((edge) =>
        edge.nameAt === null ? null : (
          <text
            key={`${edge.from} ${edge.to} ${edge.path}`}
            class={`ckv-textbook-name${isLit(edge) ? " ckv-lit" : ""}`}
            x={edge.nameAt[0]}
            y={edge.nameAt[1] + 3.5}
          >
            {edge.name}
          </text>
        ),
      )}
    </g>
  );
}

/** Why there is no drawing: too many nodes or, if their number is known, too many edges. */
function tooManyWords({ nodes, edges }: TooMany): string {
  const { edges: edgeWords, edgesAre, nodes: nodeWords, nodesAre } = WORDS.counts;
  return edges === null
    ? WORDS.tooMany(countWords(nodes, ...nodesAre), countWords(MAX_NODES, ...nodeWords))
    : WORDS.tooMany(countWords(edges, ...edgesAre), countWords(MAX_EDGES, ...edgeWords));
}
