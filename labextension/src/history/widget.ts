/** The front end of the widget of a history, a module for anywidget. */

import type { AnyModel, RenderProps } from "@anywidget/types";
import { askPatiently, onChanges } from "../host/messages";
import { type PayloadTraits, payloadOf } from "../host/shared";
import { type Answer, hostAsking } from "./asking";
import { ORDERS } from "./state";
import { type Host, mountTimeline } from "./timeline";

interface Traits extends PayloadTraits {
  a: number;
  b: number;
  order: string;
}

function render({ model, el }: Pick<RenderProps<Traits>, "model" | "el">): () => void {
  const view = mountTimeline(el, {
    ...(model.send === undefined ? {} : kernelOf(model)),
    onMove(a, b) {
      model.set("a", a);
      model.set("b", b);
      model.save_changes();
    },
    onOrder(order) {
      model.set("order", order);
      model.save_changes();
    },
  });
  const showEnds = () => view.setEnds(model.get("a"), model.get("b"));
  const showOrder = () => {
    const order = ORDERS.find((one) => one === model.get("order"));
    if (order !== undefined) {
      view.setOrder(order);
    }
  };
  const ignoreChanges = onChanges(model, ["a", "b", "order"], (changed) => {
    if (changed.has("a") || changed.has("b")) {
      showEnds();
    }
    if (changed.has("order")) {
      showOrder();
    }
  });
  void view.setPayload(payloadOf(model));
  showEnds();
  showOrder();
  return () => {
    ignoreChanges();
    view.dispose();
  };
}

function kernelOf(model: AnyModel): Host {
  return hostAsking((question, patience) => askPatiently<Answer>(model, question, patience));
}

export default { render };
