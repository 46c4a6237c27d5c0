/** The asserts after a restore: whether each passes, and the node that makes it fail. */

export interface Assert {
  readonly name: string;
  readonly passes: boolean;
  /** What the assert does, in a sentence. */
  readonly text: string;
  /** The node of the picture that decides; null without one. */
  readonly node: number | null;
}

/** The asserts in an answer, for a picture of this many nodes; none in a malformed one. */
export function readAsserts(data: unknown, size: number): readonly Assert[] {
  return Array.isArray(data) && data.every((entry) => isAssert(entry, size)) ? data : [];
}

function isAssert(data: unknown, size: number): data is Assert {
  const { name, passes, text, node } = (data ?? {}) as Readonly<Record<keyof Assert, unknown>>;
  return (
    typeof name === "string" &&
    typeof passes === "boolean" &&
    typeof text === "string" &&
    isNodeOrNull(node, size)
  );
}

/** Whether a value names a node of a picture, or none. */
export function isNodeOrNull(node: unknown, size: number): boolean {
  return (
    node === null ||
    (typeof node === "number" && Number.isInteger(node) && node >= 0 && node < size)
  );
}
