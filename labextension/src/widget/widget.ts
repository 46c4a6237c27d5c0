/** The widget's front end, a module for anywidget: connects the view to the kernel's traits. */

import type { AnyModel, RenderProps } from "@anywidget/types";
import * as WORDS from "../basics/strings";
import type { Extras, LoadExtras } from "../draw/on-request";
import { askKernel, askPatiently, onChanges, onRefresh } from "../host/messages";
import { type Parts, payloadOf, SHOWN } from "../host/shared";
import { type Answer, type Ask, PATIENCE } from "../kernel/kernel";
import type { LoadGraphviz } from "../textbook/engine";
import { mountView } from "../view/view";
import { GIVEN } from "./given";
import { type OfGraph, STATE, stateOf, type Traits } from "./traits";

const PAYLOAD = ["_payload", "_shared_payload"] as const;

interface Props extends Pick<RenderProps<Traits>, "model" | "el"> {
  /** Makes the extras, where a page holds them. */
  readonly makeExtras?: MakeExtras;
  /** The answer about the steps of a restore, packed, where a page holds it. */
  readonly played?: string;
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
    onChange({ of, selected, expanded, ...rest }) {
      const state = {
        ...rest,
        selected: ofGraph(of, selected),
        expanded: ofGraph(of, expanded),
      };
      isReporting = true;
      try {
        for (const name of STATE) {
          model.set(name, state[name]);
        }
      } finally {
        isReporting = false;
      }
      model.save_changes();
    },
  });
  const showsShared = (detail: Parts) =>
    el.dispatchEvent(new CustomEvent(SHOWN, { bubbles: true, detail }));
  const editionOf = () => model.get("_edition") ?? 0;
  let edition = editionOf();
  const showPayload = () => void view.setPayload(payloadOf(model, showsShared), editionOf());
  // The first query may come from a saved notebook or page. The user makes every later change.
  let isOwnQuery = false;
  const showState = () => {
    const of = editionOf();
    // A kernel sends a new graph with the state that it knows; what the view shows is newer.
    const isKept = of !== edition && view.showsGraph();
    edition = of;
    const idsOf = <Ids>(ids: OfGraph<Ids> | null) =>
      isKept || (ids !== null && ids.of !== of) ? undefined : (ids?.ids ?? null);
    const { query, selected, expanded, ...rest } = stateOf(model);
    view.setState({
      ...rest,
      of,
      selected: idsOf(selected),
      expanded: idsOf(expanded),
      [isOwnQuery ? "query" : "broughtQuery"]: query,
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
  if (!isAlone && stateOf(model).query !== "") {
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
  return (question, patience = PATIENCE, tell) =>
    askPatiently<Answer>(model, question, patience, tell);
}

/** Whether a running kernel has the same query: if so, a user has set it there. */
async function isSetInKernel(model: AnyModel<Traits>): Promise<boolean> {
  try {
    const [{ text }] = await asking(model)({ ask: "query" });
    return text === stateOf(model).query;
  } catch {
    return false;
  }
}

/** Graphviz is too large to send with every widget, so the kernel sends it on request. */
function graphvizOf(model: AnyModel): LoadGraphviz {
  return (signal) => scriptOf(model, "graphviz", signal);
}

/** The extras share what the view has: given.ts lists it. */
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

type MakeExtras = (require: (name: string) => object, module: object) => Extras;

const extrasWith = (make: MakeExtras): Extras => make(() => GIVEN, {});

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

export default { render };
