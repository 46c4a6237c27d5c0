/** What the explorers of a kernel share: the code and each payload, once per saved notebook. */

import type { AnyModel } from "@anywidget/types";
import * as WORDS from "../basics/strings";
import { askKernel } from "./messages";

/** The traits that name a shared model; null or missing if a widget holds its own parts. */
export interface Sharing {
  readonly _shared_code?: string | null;
  readonly _shared_payload?: string | null;
}

export interface PayloadTraits extends Sharing {
  /** Absent if a shared model has it, or if a host has not kept it. */
  readonly _payload?: DataView | null;
}

export type Parts = Readonly<Partial<Record<string, string>>>;

/** Bubbles from a widget that shows a payload; code that stores outputs may have to store it. */
export const SHOWN = "ckpt-viz-shown";

const PREFIX = "IPY_MODEL_";
const PATIENCE = 10_000; // milliseconds

/** The parts that the shared model holds; null if the widget has its own. */
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
    // Some hosts of anywidget do not let models find each other; then a running kernel answers.
    const patience = AbortSignal.timeout(PATIENCE);
    const [parts] = await askKernel<Parts | null>(model, { ask: "parts", name }, patience);
    if (parts === null) {
      throw new Error(WORDS.notInKernel(name));
    }
    return parts;
  }
}

export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** The bytes in a part of a message; none in one that is missing. */
export function bytesIn(part: DataView | undefined): Uint8Array {
  return part === undefined
    ? new Uint8Array()
    : new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
}

/** The payload of a widget, its own or a shared one; tells of the parts that it shares. */
export async function payloadOf(
  model: AnyModel<PayloadTraits>,
  tell?: (parts: Parts) => void,
): Promise<Uint8Array> {
  const shared = await sharedParts(model, "_shared_payload");
  if (shared !== null) {
    tell?.(shared);
    return bytesOf(shared.payload ?? "");
  }
  const own = model.get("_payload");
  if (own == null) {
    throw new Error(WORDS.nothingSent);
  }
  return bytesIn(own);
}
