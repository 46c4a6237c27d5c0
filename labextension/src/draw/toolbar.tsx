/** The line at the top: what the view shows, and the buttons of the drawing. */

import { useRef } from "preact/hooks";
import { ZOOM_IN, ZOOM_OUT } from "../commands";
import type { Kernel } from "../kernel";
import type { State } from "../state";
import * as WORDS from "../strings";
import { countWords, visible } from "../text";
import { Exports } from "./exports";
import { Help } from "./help";
import { Glyph } from "./icons";
import type { Typesetter } from "./measure";
import { pictureOf } from "./picture";
import type { Dispatch } from "./props";
import { SearchBox } from "./search";

interface ToolbarProps {
  readonly state: State;
  readonly note: string | undefined;
  readonly id: string;
  /** Whether Graphviz is available here. */
  readonly offersTextbook: boolean;
  readonly kernel: Kernel | null;
  readonly typesetter: Typesetter;
  readonly dispatch: Dispatch;
}

export function Toolbar({
  state,
  note,
  id,
  offersTextbook,
  kernel,
  typesetter,
  dispatch,
}: ToolbarProps) {
  const { graph } = state;
  const bar = useRef<HTMLDivElement>(null);
  const root = (): HTMLElement => {
    const found = bar.current?.closest<HTMLElement>(".ckpt-viz");
    if (found == null) {
      throw new Error(WORDS.noDrawing);
    }
    return found;
  };
  return (
    <div class="ckv-toolbar" ref={bar}>
      <span class="ckv-title" title={visible(graph.title)}>
        <bdi>{visible(graph.title)}</bdi>
      </span>
      <span class="ckv-tag">{WORDS.kinds[graph.overlay?.comparison ?? graph.origin]}</span>
      {note === undefined ? null : <span class="ckv-tag ckv-note">{note}</span>}
      <span class="ckv-size">{countWords(graph.size, ...WORDS.counts.nodes)}</span>
      <span class="ckv-space" />
      <SearchBox state={state} id={id} dispatch={dispatch} />
      {graph.layerColumns === null ? null : <LayersButton state={state} dispatch={dispatch} />}
      {offersTextbook ? <TextbookButton state={state} dispatch={dispatch} /> : null}
      <button
        type="button"
        title={WORDS.zoomOut}
        aria-label={WORDS.zoomOut}
        onClick={() => dispatch(ZOOM_OUT)}
      >
        −
      </button>
      <button
        type="button"
        title={WORDS.zoomIn}
        aria-label={WORDS.zoomIn}
        onClick={() => dispatch(ZOOM_IN)}
      >
        +
      </button>
      <button
        type="button"
        title={WORDS.fit}
        aria-label={WORDS.fit}
        onClick={() => dispatch({ type: "fit" })}
      >
        <Glyph name="fit" />
      </button>
      <Exports picture={() => pictureOf(root(), state, typesetter)} kernel={kernel} />
      {document.fullscreenEnabled ? (
        <button
          type="button"
          title={WORDS.fullWindow}
          aria-label={WORDS.fullWindow}
          onClick={() =>
            void (document.fullscreenElement === root()
              ? document.exitFullscreen()
              : root().requestFullscreen())
          }
        >
          <Glyph name="fullWindow" />
        </button>
      ) : null}
      <Help />
    </div>
  );
}

type ModeProps = Pick<ToolbarProps, "state" | "dispatch">;

function LayersButton({ state, dispatch }: ModeProps) {
  const isPressed = state.graph.objects !== null;
  const toggle = () => dispatch({ type: "showLayers", shows: !isPressed });
  return (
    <ModeButton
      isPressed={isPressed}
      label={WORDS.layers}
      hint={WORDS.layersHint}
      onClick={toggle}
    />
  );
}

function TextbookButton({ state, dispatch }: ModeProps) {
  const isPressed = state.drawn === "textbook";
  const toggle = () => dispatch({ type: "draw", drawn: isPressed ? "tree" : "textbook" });
  return (
    <ModeButton
      isPressed={isPressed}
      label={WORDS.textbook}
      hint={WORDS.textbookHint}
      onClick={toggle}
    />
  );
}

interface ModeButtonProps {
  readonly isPressed: boolean;
  readonly label: string;
  readonly hint: string;
  readonly onClick: () => void;
}

function ModeButton({ isPressed, label, hint, onClick }: ModeButtonProps) {
  return (
    <button type="button" class="ckv-mode" aria-pressed={isPressed} title={hint} onClick={onClick}>
      {label}
    </button>
  );
}
