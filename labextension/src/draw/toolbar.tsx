/** The line at the top: the title, the views, the search; the menu has what is used rarely. */

import * as WORDS from "../basics/strings";
import { countWords, visible } from "../basics/text";
import type { Kernel } from "../kernel/kernel";
import { hasDifferences } from "../state/problems";
import { useCutNames } from "./cut";
import { Help } from "./help";
import { Glyph } from "./icons";
import type { Typesetter } from "./measure";
import { Menu } from "./menu";
import { ModeButton } from "./mode-button";
import { type OnRequest, WithExtras } from "./on-request";
import type { Showing } from "./props";
import { FilterButton, SearchBox } from "./search";
import { SignButton } from "./sign-button";
import { MoreViews, Views } from "./views";

interface ToolbarProps extends Showing {
  readonly note: string | undefined;
  readonly id: string;
  /** Whether Graphviz is available here. */
  readonly offersTextbook: boolean;
  readonly kernel: Kernel | null;
  readonly onRequest: OnRequest | null;
  readonly typesetter: Typesetter;
}

export function Toolbar(props: ToolbarProps) {
  const { state, id, note, offersTextbook, onRequest, dispatch } = props;
  const { graph } = state;
  const bar = useCutNames<HTMLDivElement>();
  const root = (): HTMLElement => {
    const found = bar.current?.closest<HTMLElement>(".ckpt-viz");
    if (found == null) {
      throw new Error(WORDS.noDrawing);
    }
    return found;
  };
  const kind = graph.kind ?? WORDS.kinds[graph.overlay?.comparison ?? graph.origin];
  const size = countWords(graph.size, ...WORDS.counts.nodes);
  const title = visible(graph.title);
  return (
    <div class="ckv-toolbar" ref={bar}>
      <span class="ckv-title ckv-cut" title={[title, kind, size].join(", ")}>
        {title}
      </span>
      <Views state={state} dispatch={dispatch} />
      {note === undefined ? null : <span class="ckv-tag ckv-note">{note}</span>}
      <span class="ckv-space" />
      <SearchBox state={state} id={id} onRequest={onRequest} dispatch={dispatch} />
      <Menu label="⋯" name={WORDS.moreItems} hint={WORDS.moreItems}>
        {(close) => (
          <>
            <MoreViews {...{ state, offersTextbook, dispatch }} onShown={close} />
            {graph.overlay !== null && hasDifferences(graph) ? (
              <OnlyChanges state={state} dispatch={dispatch} />
            ) : null}
            <FilterButton state={state} dispatch={dispatch} />
            <Bookkeeping state={state} dispatch={dispatch} />
            {onRequest === null ? null : (
              <ExportMenu {...props} onRequest={onRequest} root={root} />
            )}
            {document.fullscreenEnabled ? <ScreenButton root={root} /> : null}
            <p class="ckv-hint">{[note, kind, size].filter((words) => words).join(", ")}</p>
          </>
        )}
      </Menu>
      {onRequest === null ? null : <Help onRequest={onRequest} />}
    </div>
  );
}

function OnlyChanges({ state, dispatch }: Showing) {
  const only = state.onlyChanges;
  return (
    <ModeButton
      isOn={only}
      hint={WORDS.table.onlyChangesHint}
      label={WORDS.table.onlyChanges}
      press={() => dispatch({ type: "showOnlyChanges", only: !only })}
    />
  );
}

function Bookkeeping({ state, dispatch }: Showing) {
  const shows = state.showsBookkeeping;
  return (
    <ModeButton
      isOn={shows}
      hint={WORDS.bookkeeping}
      label={WORDS.bookkeepingShort}
      press={() => dispatch({ type: "showBookkeeping", shows: !shows })}
    />
  );
}

function ScreenButton({ root }: { readonly root: () => HTMLElement }) {
  const press = () =>
    void (document.fullscreenElement === root()
      ? document.exitFullscreen()
      : root().requestFullscreen());
  return (
    <SignButton words={WORDS.fullWindow} press={press}>
      <Glyph name="fullWindow" />
    </SignButton>
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
