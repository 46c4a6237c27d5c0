/** What the explorers of a kernel share: their code, and each payload, once in a saved notebook. */

import type { AnyModel } from "@anywidget/types";

/** The traits that name a shared model; null or missing where a widget holds its own. */
export interface Sharing {
  readonly _shared_code?: string | null;
  readonly _shared_payload?: string | null;
}

export type Parts = Readonly<Partial<Record<string, string>>>;

/** Bubbles from a widget that shows a payload: those who keep outputs may have to store it. */
export const SHOWN = "ckpt-viz-shown";

// ckpt_viz/shared_models.py has the same.
const ASKED = "ckpt-viz:parts";
const PREFIX = "IPY_MODEL_";
const PATIENCE = 10_000; // milliseconds

/** What the shared model holds; null where the widget has its own. */
export async function sharedParts(
  model: AnyModel<Sharing>,
  name: keyof Sharing,
): Promise<Parts | null> {
  const reference = model.get(name);
  if (!reference) {
    return null;
  }
  try {
    const id = reference.slice(PREFIX.length);
    const shared = await model.widget_manager.get_model<{ readonly parts: Parts }>(id);
    return shared.get("parts");
  } catch {
    // Not every host of anywidget lets models find each other; a kernel, if there is one, answers.
    return ask(model, name);
  }
}

function ask(model: AnyModel<Sharing>, name: keyof Sharing): Promise<Parts> {
  return new Promise((resolve, reject) => {
    const answer = (message: { kind?: unknown; name?: unknown; parts?: Parts } | null) => {
      if (message?.kind === ASKED && message.name === name && message.parts) {
        stop();
        resolve(message.parts);
      }
    };
    const stop = () => {
      clearTimeout(timer);
      model.off("msg:custom", answer);
    };
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`no answer to ${name}`));
    }, PATIENCE);
    model.on("msg:custom", answer);
    model.send({ kind: ASKED, name });
  });
}

export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
