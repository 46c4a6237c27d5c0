/** Outline, drawing and details side by side with handles between; as tabs where it is narrow. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { WORDS } from "../words";
import { zoomOf } from "./zoom";

const TABS = ["outline", "drawing", "details"] as const;
type Tab = (typeof TABS)[number];

/** Parts of the width, in percent. */
const START = { outline: 34, details: 20 };
const LEAST = 12;
const MOST = 60;
const STEP = 2;

interface PanesProps {
  readonly id: string;
  readonly children: Readonly<Record<Tab, ComponentChildren>>;
}

export function Panes({ id, children }: PanesProps) {
  const panes = useRef<HTMLDivElement>(null);
  const [widths, setWidths] = useState(START);
  const [tab, setTab] = useState<Tab>("drawing");
  const set = (part: "outline" | "details", percent: number) =>
    setWidths((known) => ({ ...known, [part]: Math.min(Math.max(percent, LEAST), MOST) }));
  const at = (clientX: number): number => {
    const { left, width } = panes.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return ((clientX - left) / width) * 100;
  };
  return (
    <>
      <Tabs id={id} tab={tab} choose={setTab} />
      <div
        ref={panes}
        class="ckv-panes"
        data-tab={tab}
        style={{ "--ckv-outline": `${widths.outline}%`, "--ckv-details": `${widths.details}%` }}
      >
        <Pane id={id} tab="outline">
          {children.outline}
        </Pane>
        <Handle
          words={WORDS.resizeOutline}
          percent={widths.outline}
          move={(clientX) => set("outline", at(clientX))}
          step={(by) => set("outline", widths.outline + by)}
        />
        <Pane id={id} tab="drawing">
          {children.drawing}
        </Pane>
        <Handle
          words={WORDS.resizeDetails}
          percent={widths.details}
          move={(clientX) => set("details", 100 - at(clientX))}
          step={(by) => set("details", widths.details - by)}
        />
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
  readonly choose: (tab: Tab) => void;
}

function Tabs({ id, tab, choose }: TabsProps) {
  const step = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = by === undefined ? undefined : TABS[TABS.indexOf(tab) + by];
    if (next !== undefined && event.currentTarget instanceof HTMLElement) {
      event.stopPropagation();
      choose(next);
      event.currentTarget.querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
    }
  };
  return (
    <div class="ckv-tabs" role="tablist" aria-label={WORDS.panes} onKeyDown={step}>
      {TABS.map((one) => (
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
          {WORDS.tabs[one]}
        </button>
      ))}
    </div>
  );
}

interface HandleProps {
  readonly words: string;
  readonly percent: number;
  readonly move: (clientX: number) => void;
  readonly step: (by: number) => void;
}

function Handle({ words, percent, move, step }: HandleProps) {
  const press = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      step(by);
    }
  };
  return (
    <div
      class="ckv-handle"
      role="separator"
      aria-orientation="vertical"
      aria-label={words}
      aria-valuenow={Math.round(percent)}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      title={words}
      tabIndex={0}
      onKeyDown={press}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) {
          move(event.clientX);
        }
      }}
    />
  );
}

const HEIGHT_STEP = 20;
const LEAST_HEIGHT = 240;

/** The lower edge of the explorer, by which its height is changed. */
export function HeightHandle() {
  const [height, setHeight] = useState<number | null>(null);
  const resize = (handle: HTMLElement, wanted: (root: HTMLElement) => number) => {
    const root = handle.closest<HTMLElement>(".ckpt-viz");
    if (root !== null) {
      const next = Math.max(wanted(root), LEAST_HEIGHT);
      root.style.height = `${next}px`;
      setHeight(next);
    }
  };
  return (
    <div
      class="ckv-handle ckv-height-handle"
      role="separator"
      aria-orientation="horizontal"
      aria-label={WORDS.resizeHeight}
      aria-valuenow={height ?? undefined}
      aria-valuemin={LEAST_HEIGHT}
      title={WORDS.resizeHeight}
      tabIndex={0}
      onKeyDown={(event) => {
        const by = { ArrowUp: -HEIGHT_STEP, ArrowDown: HEIGHT_STEP }[event.key];
        if (by !== undefined) {
          event.preventDefault();
          event.stopPropagation();
          resize(event.currentTarget, (root) => root.offsetHeight + by);
        }
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) {
          const { clientY } = event;
          resize(
            event.currentTarget,
            (root) => (clientY - root.getBoundingClientRect().top) / zoomOf(root),
          );
        }
      }}
    />
  );
}
