/**
 * Outline, drawing and details side by side with handles between; tabs if there is little space.
 */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { onArrows } from "./arrows";
import { zoomOf } from "./zoom";

const TABS = ["outline", "drawing", "details"] as const;
type Tab = (typeof TABS)[number];

/** Shares of the width, in percent. */
export interface Shares {
  readonly outline: number;
  readonly details: number;
}

const LEAST = 12;
const MOST = 60;
const STEP = 2;

interface PanesProps {
  readonly id: string;
  /** The first widths; a change by the user stays. */
  readonly start: Shares;
  /** The first tab, where there is space for one. */
  readonly tab: Tab;
  readonly words: Readonly<Record<Tab, string>>;
  /** Without an outline, the drawing has its space. */
  readonly children: Readonly<Record<Tab, ComponentChildren>>;
}

export function Panes({ id, start, tab: first, words, children }: PanesProps) {
  const panes = useRef<HTMLDivElement>(null);
  const [widths, setWidths] = useState(start);
  const [tab, setTab] = useState<Tab>(first);
  const hasOutline = children.outline !== null;
  const tabs = hasOutline ? TABS : TABS.filter((one) => one !== "outline");
  /** The handle of a pane at an end; moving it to the right makes the pane larger, or smaller. */
  const handle = (part: keyof Shares, label: string, way: 1 | -1) => {
    const set = (percent: number) =>
      setWidths((known) => ({ ...known, [part]: Math.min(Math.max(percent, LEAST), MOST) }));
    const share = ({ clientX }: PointerEvent) => {
      const { left, width } = panes.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
      return ((clientX - left) / width) * 100;
    };
    return (
      <Handle
        words={label}
        now={widths[part]}
        least={LEAST}
        most={MOST}
        move={(event) => set(way === 1 ? share(event) : 100 - share(event))}
        step={(by) => set(widths[part] + way * by * STEP)}
      />
    );
  };
  return (
    <>
      <Tabs id={id} tab={tab} tabs={tabs} words={words} choose={setTab} />
      <div
        ref={panes}
        class={hasOutline ? "ckv-panes" : "ckv-panes ckv-panes-two"}
        data-tab={tab}
        style={{ "--ckv-outline": `${widths.outline}%`, "--ckv-details": `${widths.details}%` }}
      >
        {hasOutline ? (
          <>
            <Pane id={id} tab="outline">
              {children.outline}
            </Pane>
            {handle("outline", WORDS.resizeOutline, 1)}
          </>
        ) : null}
        <Pane id={id} tab="drawing">
          {children.drawing}
        </Pane>
        {handle("details", WORDS.resizeDetails, -1)}
        <Pane id={id} tab="details">
          {children.details}
        </Pane>
      </div>
    </>
  );
}

interface PaneProps {
  readonly id: string;
  readonly tab: Tab;
  readonly children: ComponentChildren;
}

function Pane({ id, tab, children }: PaneProps) {
  return (
    <div class={`ckv-pane ckv-pane-${tab}`} id={`${id}-${tab}`}>
      {children}
    </div>
  );
}

interface TabsProps {
  readonly id: string;
  readonly tab: Tab;
  readonly tabs: readonly Tab[];
  readonly words: Readonly<Record<Tab, string>>;
  readonly choose: (tab: Tab) => void;
}

function Tabs({ id, tab, tabs, words, choose }: TabsProps) {
  const step = onArrows({ ArrowLeft: -1, ArrowRight: 1 }, (by, { currentTarget }) => {
    const next = tabs[tabs.indexOf(tab) + by];
    if (next !== undefined && currentTarget instanceof HTMLElement) {
      choose(next);
      currentTarget.querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
    }
  });
  return (
    <div class="ckv-tabs" role="tablist" aria-label={WORDS.panes} onKeyDown={step}>
      {tabs.map((one) => (
        <button
          key={one}
          type="button"
          role="tab"
          data-tab={one}
          aria-selected={one === tab}
          aria-controls={`${id}-${one}`}
          tabIndex={one === tab ? 0 : -1}
          onClick={() => choose(one)}
        >
          {words[one]}
        </button>
      ))}
    </div>
  );
}

interface HandleProps {
  readonly words: string;
  readonly isUpright?: boolean;
  readonly now: number;
  readonly least: number;
  readonly most?: number;
  readonly move: (event: PointerEvent) => void;
  /** Moves the handle by a key: -1 means left or up. */
  readonly step: (by: number) => void;
}

function Handle({ words, isUpright = true, now, least, most, move, step }: HandleProps) {
  const keys: Readonly<Record<string, number>> = isUpright
    ? { ArrowLeft: -1, ArrowRight: 1 }
    : { ArrowUp: -1, ArrowDown: 1 };
  return (
    <div
      class={`ckv-handle${isUpright ? "" : " ckv-height-handle"}`}
      role="separator"
      aria-orientation={isUpright ? "vertical" : "horizontal"}
      aria-label={words}
      aria-valuenow={Math.round(now)}
      aria-valuemin={least}
      aria-valuemax={most}
      title={words}
      tabIndex={0}
      onKeyDown={onArrows(keys, step)}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) {
          move(event);
        }
      }}
    />
  );
}

const HEIGHT_STEP = 20;
const LEAST_HEIGHT = 240;

/** The lower edge of the explorer; dragging it changes the height. */
export function HeightHandle() {
  const edge = useRef<HTMLDivElement>(null);
  // Not known before the page shows the explorer
  const [height, setHeight] = useState(LEAST_HEIGHT);
  const rootOf = () => edge.current?.closest<HTMLElement>(".ckpt-viz");
  const resize = (heightOf: (root: HTMLElement) => number) => {
    const root = rootOf();
    if (root != null) {
      const next = Math.max(heightOf(root), LEAST_HEIGHT);
      root.style.height = `${next}px`;
      root.style.maxHeight = "none";
      setHeight(next);
    }
  };
  const measure = () => setHeight(rootOf()?.offsetHeight ?? LEAST_HEIGHT);
  return (
    <div ref={edge} onFocusIn={measure}>
      <Handle
        words={WORDS.resizeHeight}
        isUpright={false}
        now={height}
        least={LEAST_HEIGHT}
        move={({ clientY }) =>
          resize((root) => (clientY - root.getBoundingClientRect().top) / zoomOf(root))
        }
        step={(by) => resize((root) => root.offsetHeight + by * HEIGHT_STEP)}
      />
    </div>
  );
}
