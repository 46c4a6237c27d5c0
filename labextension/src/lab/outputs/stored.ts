import type { INotebookModel } from "@jupyterlab/notebook";
import type { IOutputModel } from "@jupyterlab/rendermime";
import { type Bundle, MIME_TYPE, readBundle } from "./bundle";

type Data = IOutputModel["data"];

/** The part of an output's model that this module needs. */
export interface Output {
  readonly data: Data;
  setData(options: { readonly data: Data }): void;
}

interface Outputs {
  readonly length: number;
  get(place: number): IOutputModel;
}

/** The data that one output holds for all outputs of the same graph: payload, steps and picture. */
interface Whole {
  readonly payload: string;
  readonly steps: string | null;
  readonly picture: Data;
}

const PICTURE = ["text/html", "text/plain"];

/**
 * The payloads that this page has seen, by digest.
 *
 * In a notebook one output holds a payload, and the other outputs of the same graph name it. If the
 * user deletes, clears or reruns the holder's cell, the others lose the payload. When the notebook
 * is saved, one of them gets it back.
 */
export class Stored {
  readonly #seen = new Map<string, Whole>();

  /** Adds a payload; keeps the first one with its picture. */
  add(digest: string, payload: string, picture: Data = {}, steps: string | null = null): void {
    const has = this.#seen.get(digest);
    if (digest !== "" && (has === undefined || Object.keys(has.picture).length === 0)) {
      this.#seen.set(digest, { payload, picture, steps });
    }
  }

  /** Adds the payloads in these outputs. */
  look(outputs: Iterable<Output>): void {
    for (const { data } of outputs) {
      const bundle = bundleOf(data);
      if (bundle !== null && bundle.payload !== null) {
        this.add(bundle.digest, bundle.payload, picture(data), bundle.steps);
      }
    }
  }

  /**
   * Finds a payload: in the outputs of its own notebook, else among those that this page has seen.
   */
  find(digest: string, outputs: Iterable<Output>): string | null {
    for (const { data } of outputs) {
      const bundle = bundleOf(data);
      if (bundle?.digest === digest && bundle.payload !== null) {
        return bundle.payload;
      }
    }
    return this.#seen.get(digest)?.payload ?? null;
  }

  /** Finds the steps that belong to a payload, in the same places. */
  steps(digest: string, outputs: Iterable<Output>): string | null {
    this.look(outputs);
    return this.#seen.get(digest)?.steps ?? null;
  }

  /** Puts each payload that outputs name but none of them holds into the first that names it. */
  heal(outputs: readonly Output[]): void {
    this.look(outputs);
    const bundles = outputs.map(({ data }) => bundleOf(data));
    const held = new Set(bundles.map((bundle) => (bundle?.payload ? bundle.digest : "")));
    outputs.forEach((output, place) => {
      const digest = bundles[place]?.digest ?? "";
      const whole = this.#seen.get(digest);
      if (whole !== undefined && !held.has(digest)) {
        held.add(digest);
        const own = output.data[MIME_TYPE];
        const { payload, steps } = whole;
        const bundle = { ...(own as object), payload, ...(steps === null ? {} : { steps }) };
        output.setData({ data: { ...output.data, ...whole.picture, [MIME_TYPE]: bundle } });
      }
    });
  }
}

/** All outputs of a notebook's cells. */
export function* outputsOf(model: INotebookModel | null): Generator<IOutputModel> {
  for (const cell of model?.cells ?? []) {
    if (cell.type === "code") {
      const { outputs } = cell as unknown as { readonly outputs: Outputs };
      for (let place = 0; place < outputs.length; place++) {
        yield outputs.get(place);
      }
    }
  }
}

function bundleOf(data: Data): Bundle | null {
  if (!(MIME_TYPE in data)) {
    return null;
  }
  try {
    return readBundle(data[MIME_TYPE]);
  } catch {
    return null; // its renderer describes the error
  }
}

function picture(data: Data): Data {
  return Object.fromEntries(Object.entries(data).filter(([type]) => PICTURE.includes(type)));
}
