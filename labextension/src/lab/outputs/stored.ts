import type { INotebookModel } from "@jupyterlab/notebook";
import type { IOutputModel } from "@jupyterlab/rendermime";
import { type Bundle, MIME_TYPE, readBundle } from "./bundle";

type Data = IOutputModel["data"];

/** The part of an output's model that matters here. */
export interface Output {
  readonly data: Data;
  setData(options: { readonly data: Data }): void;
}

interface Outputs {
  readonly length: number;
  get(place: number): IOutputModel;
}

/** What one output holds for all of the same graph: the payload, and the picture beside it. */
interface Whole {
  readonly payload: string;
  readonly picture: Data;
}

const PICTURE = ["text/html", "text/plain"];

/**
 * The payloads that this page has seen, by digest.
 *
 * In a notebook one output holds a payload and the others of the same graph name it. Whoever
 * deletes, clears or runs again the cell of the one leaves the others without; what they lack is
 * put into one of them again when the notebook is saved.
 */
export class Stored {
  readonly #seen = new Map<string, Whole>();

  /** Take note of a payload. The first one with its picture stays. */
  add(digest: string, payload: string, picture: Data = {}): void {
    const has = this.#seen.get(digest);
    if (digest !== "" && (has === undefined || Object.keys(has.picture).length === 0)) {
      this.#seen.set(digest, { payload, picture });
    }
  }

  /** Take note of what outputs hold. */
  look(outputs: Iterable<Output>): void {
    for (const { data } of outputs) {
      const bundle = bundleOf(data);
      if (bundle !== null && bundle.payload !== null) {
        this.add(bundle.digest, bundle.payload, picture(data));
      }
    }
  }

  /** Find a payload: in the outputs of its own notebook, else where this page has seen it. */
  find(digest: string, outputs: Iterable<Output>): string | null {
    for (const { data } of outputs) {
      const bundle = bundleOf(data);
      if (bundle?.digest === digest && bundle.payload !== null) {
        return bundle.payload;
      }
    }
    return this.#seen.get(digest)?.payload ?? null;
  }

  /** Put each payload that outputs name and none of them holds into the first that names it. */
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
        const bundle = { ...(own as object), payload: whole.payload };
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
    return null; // its renderer says what is wrong with it
  }
}

function picture(data: Data): Data {
  return Object.fromEntries(Object.entries(data).filter(([type]) => PICTURE.includes(type)));
}
