/** The script of the page that opens checkpoints in a browser. */

import type { Site } from "./engine";
import { mountPage } from "./page";
import type { SiteFiles } from "./protocol";
import * as WORDS from "./strings";

/** The site's files, which index.html holds. */
const files: SiteFiles = JSON.parse(document.getElementById("files")?.textContent ?? "{}");

const site: Site = {
  base: new URL(".", location.href).href,
  files,
  async script() {
    const name = "engine/worker.js";
    const answer = await fetch(name, { integrity: files[name]?.[0] ?? "" });
    return answer.text();
  },
};

// The newest of what scripts and styles need. In an older browser, index.html's sentence stays.
const isCurrent =
  CSS.supports("color", "light-dark(red, red)") && CSS.supports("selector(:has(a))");
const root = document.getElementById("page");
if (root !== null && isCurrent) {
  mountPage(root, site, typeof WebAssembly === "object" ? null : WORDS.noWebAssembly);
}

addEventListener("load", () => void keepForOffline());

/** The page runs without it, too, but not without a network: for example, if storage is denied. */
async function keepForOffline(): Promise<void> {
  try {
    await navigator.serviceWorker.register("offline.js");
    await navigator.serviceWorker.ready;
    document.documentElement.dataset.offline = "";
  } catch {
    // The header then does not promise it.
  }
}
