/** The worker's script: runs Graphviz, takes sizes and answers with places. */

/*! @hpcc-js/wasm-graphviz: Apache-2.0, https://github.com/hpcc-systems/hpcc-js-wasm
 *  Graphviz, in it: Eclipse Public License, without any warranty; its source code is available
 *  under that licence at https://gitlab.com/graphviz/graphviz */

import { type Format, Graphviz } from "@hpcc-js/wasm-graphviz";
import { whyWords } from "../basics/text";
import { type Sizes, toDot } from "./dot";
import type { Answer } from "./engine";
import { readPlaces } from "./places";

/** "json" without its drawing operations; the package's types lack it. */
const PLACES: string = "json0";

const loaded = Graphviz.load();

addEventListener("message", async ({ data }: MessageEvent<string>) => {
  let graphviz: Graphviz;
  try {
    graphviz = await loaded;
  } catch (error) {
    return answer({ type: "broken", message: String(error) });
  }
  try {
    const sizes: Sizes = JSON.parse(data);
    const json = graphviz.dot(toDot(sizes), PLACES as Format);
    answer({ type: "drawn", places: readPlaces(json, sizes) });
  } catch (error) {
    answer({ type: "failed", message: whyWords(error) });
  }
});
answer({ type: "ready" });

function answer(message: Answer): void {
  postMessage(message);
}
