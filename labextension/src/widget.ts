/** The widget's front end, a module for anywidget: the view, tied to the kernel's traits. */

import type { AnyModel, RenderProps } from "@anywidget/types";
import type { Mode } from "./state";
import { mountView } from "./view";

interface Traits {
  readonly _payload: DataView;
  selected: number | null;
  expanded: readonly number[] | null;
  query: string;
  mode: Mode;
}

const FOLLOWED = "change:selected change:expanded change:query change:mode";

function render({ model, el }: RenderProps<Traits>): () => void {
  const view = mountView(el, {
    onChange({ selected, expanded, query, mode }) {
      model.set("selected", selected);
      model.set("expanded", expanded);
      model.set("query", query);
      model.set("mode", mode);
      model.save_changes();
    },
  });
  const showPayload = () => void view.setPayload(payload(model));
  const showState = () =>
    view.setState({
      selected: model.get("selected"),
      expanded: model.get("expanded"),
      query: model.get("query"),
      mode: model.get("mode"),
    });
  model.on("change:_payload", showPayload);
  model.on(FOLLOWED, showState);
  showPayload();
  showState();
  return () => {
    model.off("change:_payload", showPayload);
    model.off(FOLLOWED, showState);
    view.dispose();
  };
}

function payload(model: AnyModel<Traits>): Uint8Array {
  const { buffer, byteOffset, byteLength } = model.get("_payload");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export default { render };
