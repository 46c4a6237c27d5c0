/** The line at the top. What does not fit into it is in its menu. */

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { ZOOM_IN, ZOOM_OUT } from "../deeds";
import type { Kernel } from "../kernel";
import type { State } from "../state";
import * as WORDS from "../strings";
import { countWords, visible } from "../text";
import { useCutNames } from "./cut";
import { Help } from "./help";
import { Glyph } from "./icons";
import type { Typesetter } from "./measure";
import { Menu } from "./menu";
import { type OnRequest, WithExtras } from "./on-request";
import type { Dispatch } from "./props";
import { FilterButton, SearchBox } from "./search";
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

/** What leaves the line if there is too little space, the first one first. At last, it breaks. */
const LEAVING = [
  ...["size", "screen", "export", "kind", "zoom", "views", "filter", "note"],
  "wrap",
] as const;
/** A title keeps this many pixels, if it needs them, as long as something else can leave. */
const LEAST_TITLE = 150;

export function Toolbar(props: ToolbarProps) {
  const { state, id, offersTextbook, onRequest, dispatch } = props;
  const texts = textsOf(props);
  const bar = useCutNames<HTMLDivElement>();
  const left = useFitting(bar);
  const root = (): HTMLElement => {
    const found = bar.current?.closest<HTMLElement>(".ckpt-viz");
    if (found == null) {
      throw new Error(WORDS.noDrawing);
    }
    return found;
  };
  const views = { state, offersTextbook, dispatch };
  const zoom = <Zoom dispatch={dispatch} />;
  const exports =
    onRequest === null ? null : <ExportMenu {...props} onRequest={onRequest} root={root} />;
  const screen = document.fullscreenEnabled ? <ScreenButton root={root} /> : null;
  const has = (item: (typeof LEAVING)[number]) => left.includes(item);
  return (
    <div class="ckv-toolbar" ref={bar}>
      <Title {...texts} title={visible(state.graph.title)} />
      <SearchBox state={state} id={id} onRequest={onRequest} dispatch={dispatch} />
      <Views {...views} />
      <span class="ckv-group" data-leaves="zoom">
        {zoom}
      </span>
      <span data-leaves="export">{exports}</span>
      <span data-leaves="screen">{screen}</span>
      <Menu label="⋯" name={WORDS.moreItems} hint={WORDS.moreItems}>
        {(close) => (
          <>
            {has("views") ? <Views {...views} onShown={close} /> : null}
            {has("filter") ? <FilterButton state={state} dispatch={dispatch} /> : null}
            {has("zoom") ? zoom : null}
            {has("export") ? exports : null}
            {has("screen") ? screen : null}
            <p class="ckv-hint">
              {TEXTS.filter(has)
                .flatMap((item) => texts[item] ?? [])
                .join(", ")}
            </p>
          </>
        )}
      </Menu>
      {onRequest === null ? null : <Help onRequest={onRequest} />}
    </div>
  );
}

const TEXTS = ["note", "kind", "size"] as const;
type Texts = Readonly<Record<(typeof TEXTS)[number], string | undefined>>;

function textsOf({ note, state: { graph } }: Pick<ToolbarProps, "note" | "state">): Texts {
  const kind = graph.kind ?? WORDS.kinds[graph.overlay?.comparison ?? graph.origin];
  return { note, kind, size: countWords(graph.size, ...WORDS.counts.nodes) };
}

function Title({ title, kind, note, size }: Texts & { readonly title: string }) {
  return (
    <>
      <span class="ckv-title ckv-cut" title={[title, kind, size].join(", ")}>
        {title}
      </span>
      <span class="ckv-tag" data-leaves="kind">
        {kind}
      </span>
      {note === undefined ? null : (
        <span class="ckv-tag ckv-note" data-leaves="note">
          {note}
        </span>
      )}
      <span class="ckv-size" data-leaves="size">
        {size}
      </span>
      <span class="ckv-space" />
    </>
  );
}

/** What has left the toolbar so that the rest fits, as measured after each change. */
function useFitting(bar: RefObject<HTMLDivElement | null>): readonly string[] {
  const [count, setCount] = useState(0);
  const fit = () => setCount(bar.current === null ? 0 : fitted(bar.current));
  useLayoutEffect(fit);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(fit);
    if (bar.current !== null) {
      observer.observe(bar.current);
    }
    return () => observer.disconnect();
  }, []);
  return LEAVING.slice(0, count);
}

/** Hides as few items as possible, and returns how many. */
function fitted(bar: HTMLElement): number {
  const title = bar.firstElementChild;
  for (let count = 0; ; count++) {
    bar.dataset.left = LEAVING.slice(0, count).join(" ");
    const isWhole =
      bar.scrollWidth <= bar.clientWidth &&
      (title === null || title.clientWidth >= Math.min(title.scrollWidth, LEAST_TITLE));
    if (isWhole || count === LEAVING.length) {
      return count;
    }
  }
}

function Zoom({ dispatch }: Pick<ToolbarProps, "dispatch">) {
  const buttons = [
    [WORDS.zoomOut, "−", ZOOM_OUT],
    [WORDS.zoomIn, "+", ZOOM_IN],
    [WORDS.fit, <Glyph key="fit" name="fit" />, { type: "fit" }],
  ] as const;
  return (
    <>
      {buttons.map(([words, sign, does]) => (
        <button
          key={words}
          type="button"
          title={words}
          aria-label={words}
          onClick={() => dispatch(does)}
        >
          {sign}
        </button>
      ))}
    </>
  );
}

function ScreenButton({ root }: { readonly root: () => HTMLElement }) {
  return (
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
