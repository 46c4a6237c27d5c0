/** The part of the style sheet that comes from tables: colours, signs, the outline's columns. */

import palette from "../../../ckpt_viz/graphs/render/palette.json";
import signs from "../../../ckpt_viz/graphs/render/signs.json";
import { COLUMNS, type Column, type Widths } from "../draw/outline-columns";

type Colours = Readonly<Record<string, string>>;

type Scheme = "light" | "dark";

/** What is around a view, by the theme of JupyterLab or VS Code. */
const THEMES: Readonly<Record<keyof typeof palette.hosts, Readonly<Record<Scheme, string>>>> = {
  jupyterlab: { light: '[data-jp-theme-light="true"]', dark: '[data-jp-theme-light="false"]' },
  vscode: {
    light: ":is(.vscode-light, .vscode-high-contrast-light)",
    dark: ":is(.vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light))",
  },
};

/**
 * The text of style/generated.css, which esbuild bundles into widget.css and JupyterLab's style.
 */
export function generatedStyle(columns: readonly Column[] = COLUMNS): string {
  return [
    "/* Written by `npm run build:style` from the tables in src/view/style.ts. */",
    // The panel of live objects, the view of a history and the page also use these colours.
    rule(
      ":is(.ckpt-viz, .ckpt-viz-live, .ckpt-viz-timeline, .ckpt-viz-page)",
      colourRules(palette.light, palette.dark),
    ),
    // Paper is light, whatever was behind the view on the screen.
    ":is(.ckpt-viz, .ckpt-viz-live, .ckpt-viz-timeline) { color-scheme: light; }",
    `@media screen {\n${screenRules()}\n}`,
    `:is(.ckpt-viz, .ckpt-viz-timeline) { --ckv-pick: color-mix(in srgb, var(--ckv-accent) 18%, transparent); }`,
    // The colours of TensorFlow's guide, if the settings turn them on (defaults.ts).
    `@media (forced-colors: none) {\n${rule(
      "[data-ckpt-viz-classic] .ckpt-viz",
      colourRules(palette.classic.light, palette.classic.dark),
    )}\n}`,
    levelRules(),
    `.ckpt-viz-tab { --ckv-sign-failed: ${JSON.stringify(signs.states.failed.glyph)}; }`,
    gridRules(columns),
  ].join("\n");
}

function rule(selector: string, lines: readonly string[]): string {
  return `${selector} {\n${lines.map((line) => `  ${line}`).join("\n")}\n}`;
}

/** Both versions of each colour: the view's scheme decides which of them is shown. */
function colourRules(light: Colours, dark: Colours): readonly string[] {
  return Object.keys(light).map((name) => `--ckv-${name}: ${ownColour(name, light, dark)};`);
}

function ownColour(name: string, light: Colours, dark: Colours): string {
  const [colour = "", other = colour] = [light[name], dark[name]];
  return colour === other ? colour : `light-dark(${colour}, ${other})`;
}

/**
 * The ground that is really there, as ground.ts sees it, and the colours of a host where its theme is
 * as light or dark. The selectors weigh as much as those before them and those of forced colours.
 */
function screenRules(): string {
  const own = `--ckv-own: ${ownColour("back", palette.light, palette.dark)};`;
  const back = "--ckv-back: var(--ckv-ground, var(--ckv-own));";
  return [
    rule("[data-ckv-scheme]", [own, back]),
    `[data-ckv-scheme="dark"] { color-scheme: dark; }`,
    // JupyterLab's panel is always on the ground of the theme.
    `:where(${THEMES.jupyterlab.dark}) .ckpt-viz-live { color-scheme: dark; }`,
    ...hostRules(),
  ].join("\n");
}

function hostRules(): readonly string[] {
  return Object.entries(palette.hosts).flatMap(([host, colours]) =>
    Object.entries(THEMES[host as keyof typeof THEMES]).map(([scheme, theme]) =>
      rule(
        `:where(${theme}) :is([data-ckv-scheme="${scheme}"], .ckpt-viz-live)`,
        Object.entries(colours).map(([name, variable]) => hostColour(name, variable)),
      ),
    ),
  );
}

function hostColour(name: string, variable: string): string {
  const colour = `var(${variable}, ${ownColour(name, palette.light, palette.dark)})`;
  return `--ckv-${name}: ${name === "back" ? `var(--ckv-ground, ${colour})` : colour};`;
}

/** How much of the mark's colour is in each level of a measure; the first is zero. */
const LEVELS = [0, 18, 28, 38, 48, 58, 71, 85, 100];

function levelRules(): string {
  return LEVELS.map(
    (part, level) =>
      `.ckv-level-${level} { --ckv-level: color-mix(in srgb, var(--ckv-mark) ${part}%, var(--ckv-back)); }`,
  ).join("\n");
}

function widthsOf({ alone, compared }: Column, isCompared: boolean): Widths {
  return isCompared ? compared : alone;
}

/** The width of a column in an outline of this width; 0 if the column is left out. */
function widthIn(column: Column, isCompared: boolean, outline: number): number {
  return (
    widthsOf(column, isCompared)
      .filter(([from]) => from <= outline)
      .at(-1)?.[1] ?? 0
  );
}

/** The rules of the outline's grid, for every width at which a column appears, goes or changes. */
function gridRules(columns: readonly Column[]): string {
  return [false, true].flatMap((isCompared) => rulesOf(columns, isCompared)).join("\n");
}

function rulesOf(columns: readonly Column[], isCompared: boolean): readonly string[] {
  const steps = columns.flatMap((column) => widthsOf(column, isCompared).map(([from]) => from));
  return [...new Set([0, ...steps])]
    .sort((a, b) => a - b)
    .map((from, place, all) => {
      const next = all[place + 1];
      const range = `(min-width: ${from}px)${next === undefined ? "" : ` and (width < ${next}px)`}`;
      return `@container ckv-outline ${range} {\n${rulesAt(columns, isCompared, from)}\n}`;
    });
}

function rulesAt(columns: readonly Column[], isCompared: boolean, outline: number): string {
  const outlineClass = isCompared ? ".ckv-compared" : ".ckv-outline:not(.ckv-compared)";
  const width = (column: Column) => widthIn(column, isCompared, outline);
  const isShown = (column: Column) => width(column) > 0;
  const shown = columns.filter(isShown);
  const tracks = shown.map((column) => ` ${width(column)}px`).join("");
  const leftOut = columns.filter(
    (column) => !isShown(column) && widthsOf(column, isCompared).length > 0,
  );
  const rules = [
    `${outlineClass} :is(.ckv-outline-head, .ckv-row) { grid-template-columns: minmax(0, 1fr)${tracks}; }`,
    ...leftOut.map(({ name }) => `${outlineClass} .ckv-cell-${name} { display: none; }`),
  ];
  // A node without values shows its name and class in the space of shape and dtype.
  const isOther = shown.findIndex((column) => column.isOfValues !== true);
  const own = isCompared ? [] : shown.slice(0, isOther < 0 ? shown.length : isOther);
  if (own.length > 0) {
    const bare = `${outlineClass} .ckv-bare >`;
    rules.push(
      `${bare} .ckv-cell-name { grid-area: 1 / 1 / 2 / ${own.length + 2}; }`,
      ...own.map(({ name }, place) => `${bare} .ckv-cell-${name} { grid-area: 1 / ${place + 2}; }`),
    );
  }
  return rules.map((rule) => `  ${rule}`).join("\n");
}
