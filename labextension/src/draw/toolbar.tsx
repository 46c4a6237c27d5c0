/** The line at the top: what the view shows, and the buttons of the drawing. */

import { useRef } from "preact/hooks";
import { ZOOM_IN, ZOOM_OUT } from "../commands";
import type { Kernel } from "../kernel";
import type { State } from "../state";
import * as WORDS from "../strings";
import { countWords, visible } from "../text";
import { Help } from "./help";
import { Glyph } from "./icons";
import type { Typesetter } from "./measure";
import { Menu } from "./menu";
import { type OnRequest, WithExtras } from "./on-request";
import type { Dispatch } from "./props";
import { SearchBox } from "./search";
import { Views } from "./views";

interface ToolbarProps {
  readonly state: State;
  readonly note: string | undefined;
  readonly id: string;
  /** Whether Graphviz is available here. */
  readonly offersTextbook: boolean;
  readonly kernel: Kernel | null;
  readonly onRequest: OnRequest | null;
  readonly typesetter: Typesetter;
  readonly dispatch: Dispatch;
}

export function Toolbar(props: ToolbarProps) {
  const { state, note, id, offersTextbook, onRequest, dispatch } = props;
  const { graph } = state;
  const kind = WORDS.kinds[graph.overlay?.comparison ?? graph.origin];
  const size = countWords(graph.size, ...WORDS.counts.nodes);
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
      <span class="ckv-title" title={[visible(graph.title), kind, size].join(", ")}>
        <bdi>{visible(graph.title)}</bdi>
      </span>
      <span class="ckv-tag">{kind}</span>
      {note === undefined ? null : <span class="ckv-tag ckv-note">{note}</span>}
      <span class="ckv-size">{size}</span>
      <span class="ckv-space" />
      <SearchBox state={state} id={id} dispatch={dispatch} />
      <Views state={state} offersTextbook={offersTextbook} dispatch={dispatch} />
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
      {onRequest === null ? null : <ExportMenu {...props} onRequest={onRequest} root={root} />}
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

interface ExportMenuProps extends Pick<ToolbarProps, "kernel" | "state" | "typesetter"> {
  readonly onRequest: OnRequest;
  readonly root: () => HTMLElement;
}

function ExportMenu({ onRequest, ...rest }: ExportMenuProps) {
  return (
    <Menu label={WORDS.exportWord} hint={WORDS.exportHint}>
      {(close) => (
        <WithExtras onRequest={onRequest}>
          {({ Exports }) => <Exports {...rest} onSaved={close} />}
        </WithExtras>
      )}
    </Menu>
  );
}
