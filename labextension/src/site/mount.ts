/** The view of an explorer that a page of the site holds: its parts are texts in the page. */

import * as WORDS from "../basics/strings";
import { bytesOf } from "../host/shared";
import type { LoadGraphviz } from "../textbook/engine";
import { mountView } from "../view/view";

/** Puts the living explorer in the place of its picture; the picture stays if that fails. */
export async function mountStored(stored: HTMLElement): Promise<void> {
  const payload = partOf(stored, "payload");
  if (payload === null) {
    return;
  }
  const steps = partOf(stored, "steps");
  const place = document.createElement("div");
  const view = mountView(place, {
    graphviz,
    extras: () => import("../draw/extras"),
    played: steps ?? undefined,
  });
  const { step } = stored.dataset;
  if (step !== undefined) {
    view.setState({ step: Number(step) });
  }
  const shown = view.setPayload(bytesOf(payload));
  stored.querySelector(".picture")?.replaceWith(place);
  await shown;
}

function partOf(stored: HTMLElement, name: string): string | null {
  return stored.querySelector(`script.${name}`)?.textContent ?? null;
}

const graphviz: LoadGraphviz = async (signal) => {
  const answer = await fetch(new URL("graphviz.js", import.meta.url), { signal });
  if (!answer.ok) {
    throw new Error(WORDS.graphvizMissing, { cause: answer.status });
  }
  return answer.text();
};
