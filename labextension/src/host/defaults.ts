/**
 * The defaults of the explorers on a page. JupyterLab's settings write them. Views read them as they
 * open, and follow them until a user acts. Attributes of the page hold them, since two
 * modules share them: the kernel's widget and the extension. Their versions may differ, so each
 * ignores what it does not know.
 */

/** The views of a graph that a user can choose as the first. */
export const FIRST_VIEWS = ["layers", "objects"] as const;
export type FirstView = (typeof FIRST_VIEWS)[number];

export interface Defaults {
  /** What an explorer shows first: layers by name, or every object. */
  readonly view: FirstView;
  /** How many levels are open; 0: as many as a reader can take in at a glance. */
  readonly depth: number;
  /** Whether the view shows the objects that Keras tracks for itself. */
  readonly bookkeeping: boolean;
  /** Whether a comparison shows more than the nodes that need attention. */
  readonly matched: boolean;
}

/** Makes defaults from untrusted settings; invalid ones keep the built-in default. */
export function defaultsOf(settings: { readonly [key in keyof Defaults]?: unknown }): Defaults {
  const depth = Number.isInteger(settings.depth) ? Number(settings.depth) : 0;
  return {
    view: FIRST_VIEWS.find((view) => view === settings.view) ?? "layers",
    depth: Math.max(depth, 0),
    bookkeeping: settings.bookkeeping === true,
    matched: settings.matched !== false,
  };
}

/** The attribute of the page's root element that holds the defaults: `ckptViz` in its dataset. */
export const DEFAULTS_ATTRIBUTE = "data-ckpt-viz";

/** Reads the defaults from the dataset of the page's root element. */
export function readDefaults({ ckptViz = "{}" }: DOMStringMap): Defaults {
  try {
    return defaultsOf(JSON.parse(ckptViz));
  } catch {
    return defaultsOf({});
  }
}

/** Sets the defaults, and switches the style sheet to the colours of TensorFlow's guide or back. */
export function setDefaults(page: DOMStringMap, defaults: Defaults, isClassic: boolean): void {
  page.ckptViz = JSON.stringify(defaults);
  if (isClassic) {
    page.ckptVizClassic = "";
  } else {
    delete page.ckptVizClassic;
  }
}
