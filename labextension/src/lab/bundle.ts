import { VERSION } from "../contract";

/** What ckpt-viz leaves in a notebook's output; ckpt_viz/explorer.py writes it. */
export const MIME_TYPE = "application/vnd.ckpt-viz.graph.v1+json";

export interface Bundle {
  /** The widget that made the output; empty where there never was one. */
  readonly modelId: string;
  readonly payload: Uint8Array;
}

/** Read the data of an output. What is wrong with it is thrown as one sentence for the reader. */
export function readBundle(data: unknown): Bundle {
  if (!isRecord(data)) {
    throw new Error("This output holds no checkpoint graph: its data is not a JSON object.");
  }
  const { version, model_id: modelId, payload } = data;
  if (version !== VERSION) {
    throw new Error(
      `This checkpoint graph has format version ${JSON.stringify(version) ?? "none"}, ` +
        `but the installed ckpt-viz reads version ${VERSION}; run the cell again to renew it.`,
    );
  }
  if (typeof payload !== "string" || payload === "") {
    throw new Error("This output holds no checkpoint graph: its payload is missing.");
  }
  return { modelId: typeof modelId === "string" ? modelId : "", payload: fromBase64(payload) };
}

function isRecord(data: unknown): data is Readonly<Partial<Record<string, unknown>>> {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    throw new Error("This checkpoint graph cannot be read: its payload is not base64.");
  }
}
