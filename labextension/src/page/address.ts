/** Links to what the page shows: an example, a node by its name, a step. They hold no data. */

export interface Address {
  /** The id of an example; null for a person's own files. */
  readonly example: string | null;
  /** The full name of the selected node. */
  readonly select: string | null;
  /** The number of the step of a restore. */
  readonly step: number | null;
}

export function readAddress(hash: string): Address {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const step = Number(parts.get("step") ?? "");
  return {
    example: parts.get("example"),
    select: parts.get("select"),
    step: Number.isSafeInteger(step) && step > 0 ? step : null,
  };
}

export function writeAddress({ example, select, step }: Address): string {
  const parts = new URLSearchParams();
  if (example !== null) {
    parts.set("example", example);
  }
  if (select !== null) {
    parts.set("select", select);
  }
  if (step !== null) {
    parts.set("step", `${step}`);
  }
  const text = parts.toString();
  return text === "" ? "" : `#${text}`;
}
