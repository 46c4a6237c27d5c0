/** What can be asked of a kernel while there is one. It answers or throws one sentence. */

export interface Value {
  /** The side of a comparison that has it: program, checkpoint, a, b; "" without one. */
  readonly of: string;
  /** The attribute's name. */
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** The first elements, in words. */
  readonly elements: readonly string[];
  /** Why there is no value. */
  readonly error: string | null;
}

/** A file that the kernel has written. */
export interface WrittenFile {
  readonly name: string;
  readonly type: string;
  readonly data: DataView;
}

export const FORMATS = ["svg", "dot", "json", "html"] as const;
export type Format = (typeof FORMATS)[number];

export interface Kernel {
  values(node: number): Promise<readonly Value[]>;
  /** A Python expression for the live object of a node. */
  accessor(node: number): Promise<string>;
  file(format: Format): Promise<WrittenFile>;
}

/** Puts a question, as ckpt_viz/answers.py knows them; gives data and buffers. */
export type Ask = (question: unknown) => Promise<readonly [unknown, readonly DataView[]]>;

export function makeKernel(ask: Ask): Kernel {
  const answered = async (question: unknown) => {
    const [data, buffers] = await ask(question);
    const answer = record(data);
    if (typeof answer.error === "string") {
      throw new Error(answer.error);
    }
    return { answer, buffers };
  };
  return {
    async values(node) {
      const { answer } = await answered({ ask: "values", node });
      return list(answer.values).map(readValue);
    },
    async accessor(node) {
      const { answer } = await answered({ ask: "accessor", node });
      return String(answer.text);
    },
    async file(format) {
      const { answer, buffers } = await answered({ ask: "file", format });
      const [data] = buffers;
      if (data === undefined) {
        throw new Error("The kernel sent no file.");
      }
      return { name: String(answer.name), type: String(answer.type), data };
    },
  };
}

function readValue(data: unknown): Value {
  const value = record(data);
  return {
    of: String(value.of ?? ""),
    name: String(value.name ?? ""),
    dtype: String(value.dtype ?? ""),
    shape: list(value.shape).map(Number),
    elements: list(value.elements).map(String),
    error: typeof value.error === "string" ? value.error : null,
  };
}

function record(data: unknown): Readonly<Partial<Record<string, unknown>>> {
  return typeof data === "object" && data !== null ? { ...data } : {};
}

function list(data: unknown): readonly unknown[] {
  return Array.isArray(data) ? data : [];
}
