/** The line at the top: what this is, that nothing is uploaded, and the theme. */

import { useState } from "preact/hooks";
import { Copy } from "../draw/copy";
import { stateSign } from "../words/signs";
import * as WORDS from "./strings";

export function Header() {
  const [isDark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const change = () => {
    document.documentElement.style.colorScheme = isDark ? "light" : "dark";
    setDark(!isDark);
  };
  return (
    <header class="ckp-header">
      <h1>{WORDS.product}</h1>
      <span class="ckp-subtitle">{WORDS.subtitle}</span>
      <span class="ckp-promise" title={WORDS.policy}>
        <span aria-hidden="true">{stateSign("matched").glyph}</span>{" "}
        <strong>{WORDS.nothingUploaded}</strong>{" "}
        <span>
          {WORDS.whyNot} <span class="ckp-offline">{WORDS.worksOffline}</span>
        </span>
      </span>
      <button type="button" onClick={change}>
        {isDark ? WORDS.light : WORDS.dark}
      </button>
      <a href="docs/index.html">{WORDS.docs}</a>
      <code class="ckp-install">
        {WORDS.install} <Copy what="" text={WORDS.install} />
      </code>
    </header>
  );
}
