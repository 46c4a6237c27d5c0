/** All text that users read comes from strings.ts and signs.json; no other module has any. */

import { parseSync } from "vite";
import { expect, it } from "vitest";
import { childrenOf, isTree, MODULES, type Tree } from "../tests/sources.test-data";

const SHOWN_IN = new Set(["alt", "aria-label", "aria-description", "placeholder", "term", "title"]);
const WORD = /\p{L}{2}/u;
const WORDS = /\p{L}{2,}:? \p{L}/u;
/** Lists of classes, selectors and media types, and the multi-word parts of SVG and CSS. */
const CODE =
  /ckv-|ckh-|ckp-|^ckpt-viz(: | modules$)|^\(prefers-|^change:|\[role=|\.ckpt-viz|^translate\(|image\/|^\s*px$/;

const isComparison = ({ operator }: Tree) => operator === "===" || operator === "!==";

/** The texts that an expression may result in: literals, including the parts of templates. */
function textsIn(tree: Tree): readonly string[] {
  switch (tree.type) {
    case "Literal":
      return typeof tree.value === "string" ? [tree.value] : [];
    case "JSXText":
      return [String(tree.value)];
    case "TemplateElement":
      return [(tree.value as { readonly cooked: string }).cooked];
    case "ConditionalExpression":
      return [tree.consequent, tree.alternate].filter(isTree).flatMap(textsIn);
    case "CallExpression":
    case "JSXElement":
    case "MemberExpression":
      return []; // gets its own visit, or is a name for another value
    default:
      return childrenOf(tree).flatMap(textsIn);
  }
}

/** The visible text of an element that does not come from the table. */
function shown(tree: Tree): readonly string[] {
  if (tree.type === "JSXElement" || tree.type === "JSXFragment") {
    return (tree.children as readonly Tree[]).flatMap(textsIn).filter((text) => WORD.test(text));
  }
  if (tree.type === "JSXAttribute" && SHOWN_IN.has((tree.name as { readonly name: string }).name)) {
    return textsIn(tree).filter((text) => WORD.test(text));
  }
  const isText = tree.type === "Literal" || tree.type === "TemplateElement";
  return isText ? textsIn(tree).filter((text) => WORDS.test(text) && !CODE.test(text)) : [];
}

function strangers(name: string, code: string): readonly string[] {
  const walk = (tree: Tree): readonly string[] => [
    ...shown(tree),
    ...childrenOf(tree)
      .filter(({ type }) => !(isComparison(tree) && type === "Literal"))
      .flatMap(walk),
  ];
  const found = walk(parseSync(name, code).program as unknown as Tree);
  return [...new Set(found.map((text) => `${name}: ${text.trim()}`))];
}

/** JupyterLab's part translates its own text; the parser of queries names what it expects. */
const ROOMS = /^(lab|search)\//;
/** The tables themselves; the modules that read bytes and describe the errors there; CSS and DOT. */
const TABLES = new Set([
  "basics/strings.ts",
  "data/contract.ts",
  "history/strings.ts",
  "host/ground.ts",
  "page/strings.ts",
  "view/style.ts",
  "textbook/dot.ts",
  "textbook/places.ts",
]);

it("takes all text from the tables", () => {
  const others = MODULES.filter(({ name }) => !ROOMS.test(name) && !TABLES.has(name));
  expect(others.flatMap(({ name, code }) => strangers(name, code))).toEqual([]);
});

it.each([
  "<p>node {id}</p>",
  '<p>{isOpen ? "open" : WORDS.closed}</p>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is code
  "<p>{`${count} nodes`}</p>",
  '<button title="Zoom in" />',
  '<Fact term="key" />',
  'const how = "declared by the checkpoint";',
])("finds %s", (code) => {
  expect(strangers("a.tsx", code)).toHaveLength(1);
});
