/** Questions to a running kernel. It answers, or throws an error of one sentence. */

import table from "../../ckpt_viz/render/exports.json";

export interface Value {
  /** The side of a comparison that has the value: program, checkpoint, a or b; "" without one. */
  readonly of: string;
  /** The attribute's name. */
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** The first elements, as text. */
  readonly elements: readonly string[];
}

/** A value that the kernel cannot give, and the reason. */
export interface NoValue extends Pick<Value, "of" | "name"> {
  readonly error: string;
}

/** A file that the kernel has written. */
export interface WrittenFile {
  readonly name: string;
  readonly type: string;
  readonly data: DataView;
}

/** A format that the kernel writes. */
export interface Export {
  readonly format: string;
  readonly label: string;
}

export const EXPORTS: readonly Export[] = table;

export interface Kernel {
  values(node: number): Promise<readonly (Value | NoValue)[]>;
  /** A Python expression for the live object of a node. */
  accessor(node: number): Promise<string>;
  file(format: string): Promise<WrittenFile>;
}

/** Sends a question of ckpt_viz/jupyter/answers.py; returns the answer's data and buffers. */
export type Ask = (question: object) => Promise<readonly [Answer, readonly DataView[]]>;

/** All possible parts of an answer; the answer to one question has some of them. */
export interface Answer {
  readonly error?: string;
  readonly values?: readonly (Value | NoValue)[];
  readonly text?: string;
  readonly name?: string;
  readonly type?: string;
}

export function makeKernel(ask: Ask): Kernel {
  const answered = async (question: object) => {
    const [answer, buffers] = await ask(question);
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return { ...answer, data: buffers[0] };
  };
  return {
    values: async (node) => (await answered({ ask: "values", node })).values ?? [],
    accessor: async (node) => (await answered({ ask: "accessor", node })).text ?? "",
    async file(format) {
      const {
        name = "",
        type = "",
        data = new DataView(new ArrayBuffer(0)),
      } = await answered({
        ask: "file",
        format,
      });
      return { name, type, data };
    },
  };
}
