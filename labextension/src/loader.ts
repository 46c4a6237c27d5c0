/**
 * What each explorer stores as its module: it runs the one that all share.
 *
 * The whole module in every widget would be in a saved notebook as often as there are explorers.
 */

import type { RenderProps } from "@anywidget/types";
import { type Parts, type Sharing, sharedParts } from "./shared";
import { notInNotebook } from "./strings";

type Module = { readonly default: { render(props: RenderProps<Sharing>): () => void } };

const STYLE_ID = "ckpt-viz-style";
// Every explorer has a loader of its own; here they find the modules that another has imported.
const MODULES = Symbol.for("ckpt-viz modules");
const page = globalThis as typeof globalThis & { [MODULES]?: Map<string, Promise<Module>> };

async function render(props: RenderProps<Sharing>): Promise<() => void> {
  const { model, el, signal } = props;
  try {
    const [code] = await Promise.all([
      sharedParts(model, "_shared_code"),
      sharedParts(model, "_shared_payload"),
    ]);
    const module = await imported(model.get("_shared_code") ?? "", code ?? {});
    return signal?.aborted ? () => {} : module.default.render(props);
  } catch (error) {
    console.error(error);
    el.textContent = notInNotebook;
    return () => {};
  }
}

function imported(id: string, { esm = "", css = "" }: Parts): Promise<Module> {
  addStyle(css);
  page[MODULES] ??= new Map();
  const known = page[MODULES].get(id);
  if (known !== undefined) {
    return known;
  }
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const module: Promise<Module> = import(url).finally(() => URL.revokeObjectURL(url));
  page[MODULES].set(id, module);
  return module;
}

/** Put the style into the page; that of the last explorer counts, as with anywidget. */
function addStyle(css: string): void {
  let style = document.getElementById(STYLE_ID);
  if (style === null) {
    style = document.createElement("style");
    style.id = STYLE_ID;
    document.head.append(style);
  }
  if (style.textContent !== css) {
    style.textContent = css;
  }
}

export default { render };
