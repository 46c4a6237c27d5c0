/**
 * What is behind a view decides whether it is light or dark. Names and colours of a host's theme do
 * not: some hosts have a white output in a dark theme, some JupyterLab's light colours. style.ts has
 * the rules.
 */

/** Between these luminances, some colour of the palette would lose its contrast. */
const LIGHTEST_DARK = 0.0231;
const DARKEST_LIGHT = 0.87;

/** Grounds are dark below this luminance, and texts are those of a dark ground above it. */
const MIDDLE = 0.25;

/** How long to wait for the end of a host's own transition to a different theme. */
const CHANGE = "color .5s step-start";

/**
 * Gives a view the look for what is behind it in its host's element, now and after each change. Also
 * calls whenever the view has a new size, and so when it gets its place in a page.
 */
export function followGround(
  view: HTMLElement,
  host: HTMLElement,
  signal: AbortSignal,
  onSize = () => {},
): void {
  /** A colour's luminance, and how opaque it is. The browser knows all ways to write colours. */
  const measured = (colour: string) => {
    view.style.outlineColor = `color-mix(in srgb, ${colour}, ${colour})`;
    // As in "color(srgb 1 0.5 0 / 0.8)"
    const parts = getComputedStyle(view).outlineColor.split(/[ )]/).map(Number);
    const [, red = 0, green = 0, blue = 0, , alpha = 1] = parts;
    return [0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2, alpha] as const;
  };
  const look = () => {
    let at: Element | undefined = host;
    let colour = "";
    let [light, alpha] = [0, 0];
    while (at !== undefined && alpha < 0.5) {
      colour = getComputedStyle(at).backgroundColor;
      [light, alpha] = measured(colour);
      at = at.parentElement ?? (at.getRootNode() as Partial<ShadowRoot>).host;
    }
    // A page without a ground of its own still has a colour for its texts.
    const isBare = alpha < 0.5;
    const isDark = isBare ? measured(getComputedStyle(host).color)[0] > MIDDLE : light < MIDDLE;
    const isLegible = alpha === 1 && (light < LIGHTEST_DARK || light > DARKEST_LIGHT);
    view.dataset.ckvScheme = isDark ? "dark" : "light";
    view.style.setProperty("--ckv-ground", isLegible ? colour : isBare ? "" : "var(--ckv-own)");
  };
  // A theme changes attributes of the page, or the colour of its texts, which elements inherit.
  onPageChange(signal, look);
  host.style.setProperty("transition", CHANGE, "important");
  host.ontransitionrun = host.ontransitionend = look;
  new ResizeObserver(() => {
    look();
    onSize();
  }).observe(view);
}

/** Calls whenever attributes of the page change, all or those with these names. */
export function onPageChange(
  signal: AbortSignal,
  call: () => void,
  options: MutationObserverInit = { attributes: true },
): void {
  const observer = new MutationObserver(call);
  observer.observe(document.documentElement, options);
  observer.observe(document.body, options);
  signal.addEventListener("abort", () => observer.disconnect());
}
