import { VERSION } from "../../data/contract";
import { bytesOf } from "../../host/shared";

/** The data of ckpt-viz in a notebook's output; ckpt_viz/entrances/jupyter/snapshots.py writes it. */
export const MIME_TYPE = "application/vnd.ckpt-viz.graph.v1+json";

export interface Bundle {
  /** The widget that made the output; empty if there never was one. */
  readonly modelId: string;
  /** Identifies the payload. */
  readonly digest: string;
  /** In base64; null if another output of the notebook holds it. */
  readonly payload: string | null;
  /** The steps of a check's restore, packed; null if the output has none. */
  readonly steps: string | null;
  /** The number of the step at which the output opens; null for the check itself. */
  readonly step: number | null;
}

/** Reads the data of an output. Throws one sentence for the user if the data is malformed. */
export function readBundle(data: unknown): Bundle {
  if (!isRecord(data)) {
    throw new Error("This output holds no checkpoint graph: its data is not a JSON object.");
  }
  const { version, model_id: modelId, digest, payload, steps, step } = data;
  if (version !== VERSION) {
    const isNewer = typeof version === "number" && version > VERSION;
    throw new Error(
      `This checkpoint graph has format version ${JSON.stringify(version) ?? "none"}, ` +
        `but the installed ckpt-viz reads version ${VERSION}; ${
          isNewer
            ? "upgrade ckpt-viz in JupyterLab's environment, and load the page again."
            : "run the cell again to renew it."
        }`,
    );
  }
  if (!isText(digest) || !(payload === undefined || isText(payload))) {
    throw new Error("This output holds no checkpoint graph: its payload is missing.");
  }
  return {
    modelId: isText(modelId) ? modelId : "",
    digest,
    payload: payload ?? null,
    steps: isText(steps) ? steps : null,
    step: Number.isInteger(step) ? Number(step) : null,
  };
}

export function decoded(payload: string): Uint8Array {
  try {
    return bytesOf(payload);
  } catch {
    throw new Error("This checkpoint graph cannot be read: its payload is not base64.");
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isRecord(data: unknown): data is Readonly<Partial<Record<string, unknown>>> {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}
