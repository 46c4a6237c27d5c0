/**
 * What the explorers of a page start with: JupyterLab's settings write it, views read it as they
 * open. It stands in attributes of the page, since the two may come from different modules (the
 * kernel's widget, the extension) of different versions: what one does not know it leaves alone.
 */

export interface Defaults {
  /** How many levels are open; 0: as many as can be taken in at a glance. */
  readonly depth: number;
  /** Whether what Keras tracks for itself is shown. */
  readonly bookkeeping: boolean;
  /** Whether a comparison shows more than what calls for a look. */
  readonly matched: boolean;
}

/** Makes defaults of what was said, as far as it makes sense. */
export function defaultsOf(said: { readonly [key in keyof Defaults]?: unknown }): Defaults {
  const depth = Number.isInteger(said.depth) ? Number(said.depth) : 0;
  return {
    depth: Math.max(depth, 0),
    bookkeeping: said.bookkeeping === true,
    matched: said.matched !== false,
  };
}

/** Reads the defaults off the page: `data-ckpt-viz` of its root. */
export function readDefaults({ ckptViz = "{}" }: DOMStringMap): Defaults {
  try {
    return defaultsOf(JSON.parse(ckptViz));
  } catch {
    return defaultsOf({});
  }
}

/** Sets the defaults, and the colours of TensorFlow's guide: the style sheet turns to those. */
export function setDefaults(page: DOMStringMap, defaults: Defaults, isClassic: boolean): void {
  page.ckptViz = JSON.stringify(defaults);
  if (isClassic) {
    page.ckptVizClassic = "";
  } else {
    delete page.ckptVizClassic;
  }
}
