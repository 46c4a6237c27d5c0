/**
 * The module that each explorer stores: it runs the module that all explorers share.
 *
 * If every widget stored the whole module, a saved notebook would hold a copy for each explorer.
 */

import type { RenderProps } from "@anywidget/types";
import { notInNotebook } from "../basics/strings";
import { type Parts, type Sharing, sharedParts } from "../host/shared";

type Module = { readonly default: { render(props: RenderProps<Sharing>): () => void } };

// Each explorer has its own loader. All of them find the modules that one has imported here.
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

function imported(id: string, { esm = "", css = "", kind = "ckpt-viz" }: Parts): Promise<Module> {
  addStyle(css, `${kind}-style`);
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

/** Puts the style sheet into the page. As with anywidget, the last one of a kind wins. */
function addStyle(css: string, id: string): void {
  let style = document.getElementById(id);
  if (style === null) {
    style = document.createElement("style");
    style.id = id;
    document.head.append(style);
  }
  if (style.textContent !== css) {
    style.textContent = css;
  }
}

export default { render };
