/** The widget's front end, a module for anywidget: connects the view to the kernel's traits. */

import type { AnyModel, RenderProps } from "@anywidget/types";
import { render as renderInto } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Fragment, jsx, jsxs } from "preact/jsx-runtime";
import type { Extras, LoadExtras } from "./draw/on-request";
import { type Answer, type Ask, type AskAll, PATIENCE } from "./kernel";
import type { MeasureName } from "./measures";
import { askKernel, onChanges, onRefresh } from "./messages";
import { bytesOf, SHOWN, type Sharing, sharedParts } from "./shared";
import type { Mode, View } from "./state";
import * as WORDS from "./strings";
import type { LoadGraphviz } from "./textbook/engine";
import { mountView } from "./view";

/** Node ids with the number of the graph that they belong to. */
interface OfGraph<Ids> {
  readonly of: number;
  readonly ids: Ids;
}

interface Traits extends Sharing {
  readonly _payload: DataView;
  /** The number of the graph in the payload. */
  readonly _edition: number;
  selected: OfGraph<number> | null;
  expanded: OfGraph<readonly number[]> | null;
  query: string;
  mode: Mode;
  view?: View | null;
  measure?: MeasureName | null;
  step?: number | null;
}

const PAYLOAD = ["_payload", "_shared_payload"] as const;
const STATE = ["selected", "expanded", "query", "mode", "view", "measure", "step"] as const;

interface Props extends Pick<RenderProps<Traits>, "model" | "el"> {
  /** Makes the extras, where a page holds them. */
  readonly makeExtras?: MakeExtras;
  /** What answers about the steps of a restore, where a page holds them. */
  readonly played?: AskAll;
}

function render({ model, el, makeExtras, played }: Props): () => void {
  // In a page without a kernel (render/html.py) the model cannot send.
  const isAlone = model.send === undefined;
  let isReporting = false;
  const view = mountView(el, {
    graphviz: isAlone ? undefined : graphvizOf(model),
    extras: extrasOf(model, makeExtras),
    played,
    ask: isAlone ? undefined : asking(model),
    onChange({ of, selected, expanded, query, measure, mode, view, step }) {
      isReporting = true;
      try {
        model.set("selected", ofGraph(of, selected));
        model.set("expanded", ofGraph(of, expanded));
        model.set("query", query);
        model.set("mode", mode);
        model.set("view", view);
        model.set("measure", measure);
        model.set("step", step);
      } finally {
        isReporting = false;
      }
      model.save_changes();
    },
  });
  let edition = model.get("_edition");
  const showPayload = () => void view.setPayload(payload(model, el), model.get("_edition"));
  // The first query may come from a saved notebook or page. The user makes every later change.
  let isOwnQuery = false;
  const showState = () => {
    const of = model.get("_edition");
    // A kernel sends a new graph with the state that it knows; what the view shows is newer.
    const isKept = of !== edition && view.showsGraph();
    edition = of;
    const idsOf = <Ids>(ids: OfGraph<Ids> | null) =>
      isKept || (ids !== null && ids.of !== of) ? undefined : (ids?.ids ?? null);
    view.setState({
      of,
      selected: idsOf(model.get("selected")),
      expanded: idsOf(model.get("expanded")),
      [isOwnQuery ? "query" : "broughtQuery"]: model.get("query"),
      mode: model.get("mode"),
      view: model.get("view") ?? null,
      measure: model.get("measure") ?? null,
      step: model.get("step") ?? null,
    });
  };
  const ignoreChanges = onChanges(
    model,
    [...PAYLOAD, ...STATE],
    (changed) => {
      if (PAYLOAD.some((name) => changed.has(name))) {
        showPayload();
      }
      isOwnQuery ||= changed.has("query");
      showState();
    },
    () => isReporting,
  );
  const ignoreRefresh = onRefresh(model, showPayload);
  showPayload();
  showState();
  if (!isAlone && model.get("query") !== "") {
    void isSetInKernel(model).then((is) => {
      if (is) {
        isOwnQuery = true;
        showState();
      }
    });
  }
  return () => {
    ignoreChanges();
    ignoreRefresh();
    view.dispose();
  };
}

function ofGraph<Ids>(of: number, ids: Ids | null): OfGraph<Ids> | null {
  return ids === null ? null : { of, ids };
}

function asking(model: AnyModel): Ask {
  return async (question, patience = PATIENCE, tell) => {
    try {
      return await askKernel<Answer>(model, question, AbortSignal.timeout(patience), tell);
    } catch (error) {
      throw new Error(WORDS.noAnswer, { cause: error });
    }
  };
}

/** Whether a running kernel has the same query: if so, a user has set it there. */
async function isSetInKernel(model: AnyModel<Traits>): Promise<boolean> {
  try {
    const [{ text }] = await asking(model)({ ask: "query" });
    return text === model.get("query");
  } catch {
    return false;
  }
}

/** Graphviz is too large to send with every widget, so the kernel sends it on request. */
function graphvizOf(model: AnyModel): LoadGraphviz {
  return (signal) => scriptOf(model, "graphviz", signal);
}

/** The extras share the view's Preact: `npm run build:extras` leaves its modules out. */
function extrasOf(model: AnyModel, makeExtras?: MakeExtras): LoadExtras {
  return async () => {
    if (makeExtras !== undefined) {
      return extrasWith(makeExtras);
    }
    const script = await scriptOf(model, "extras", AbortSignal.timeout(PATIENCE));
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    try {
      const { default: make }: { readonly default: MakeExtras } = await import(url);
      return extrasWith(make);
    } finally {
      URL.revokeObjectURL(url);
    }
  };
}

type PreactModule = "preact" | "preact/hooks" | "preact/jsx-runtime";

/** All of Preact that the extras use: with whole modules, the widget would be larger. */
const PREACT: Readonly<Record<PreactModule, object>> = {
  preact: { Fragment, render: renderInto },
  "preact/hooks": { useEffect, useLayoutEffect, useMemo, useRef, useState },
  "preact/jsx-runtime": { Fragment, jsx, jsxs },
};

type MakeExtras = (require: (name: PreactModule) => object, module: object) => Extras;

const extrasWith = (make: MakeExtras): Extras => make((name) => PREACT[name], {});

/** The text of a script that the kernel's package holds. */
async function scriptOf(
  model: AnyModel,
  name: "extras" | "graphviz",
  signal: AbortSignal,
): Promise<string> {
  const [{ error }, [script]] = await askKernel<Answer>(model, { ask: name }, signal);
  if (script === undefined) {
    throw new Error(error ?? WORDS.nothingSent);
  }
  return new TextDecoder().decode(script);
}

async function payload(model: AnyModel<Traits>, el: HTMLElement): Promise<Uint8Array> {
  const shared = await sharedParts(model, "_shared_payload");
  if (shared !== null) {
    el.dispatchEvent(new CustomEvent(SHOWN, { bubbles: true, detail: shared }));
    return bytesOf(shared.payload ?? "");
  }
  const { buffer, byteOffset, byteLength } = model.get("_payload");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export default { render };
