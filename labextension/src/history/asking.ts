/** A host of a history that asks Python: a kernel, or the engine of a page. */

import * as WORDS from "../basics/strings";
import { bytesIn } from "../host/shared";
import { PATIENCE } from "../kernel/kernel";
import type { Cell, ChangeMap, Row } from "./data";
import type { Host } from "./timeline";

/** All possible parts of an answer: ckpt_viz/answers/timeline/questions.py. */
export interface Answer {
  readonly error?: string;
  readonly row?: Row;
  readonly cells?: readonly Cell[];
  readonly map?: ChangeMap;
  readonly code?: string;
  readonly is_named?: boolean;
  readonly name?: string;
  readonly type?: string;
}

/** Returns the answer and its buffers; waits so many ms. */
type Asked = (
  question: object,
  patience: number,
) => Promise<readonly [Answer, readonly DataView[]]>;

/** How long Python may read two checkpoints, in ms. */
const READING = 600_000;

export function hostAsking(ask: Asked): Host {
  const asked = async (question: object, patience: number) => {
    const [answer, buffers] = await ask(question, patience);
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return { ...answer, data: buffers[0] };
  };
  return {
    kernel: {
      cells: async (row) => (await asked({ ask: "row", row }, PATIENCE)).row?.cells ?? [],
      between: async (a, b) => (await asked({ ask: "between", a, b }, READING)).cells ?? [],
    },
    async where(row, a, b) {
      const { map } = await asked({ ask: "where", row, a, b }, READING);
      if (map === undefined) {
        throw new Error(WORDS.nothingSent);
      }
      return map;
    },
    async restoreCode(checkpoint) {
      const { code = "", is_named: isNamed = false } = await asked(
        { ask: "restore", checkpoint },
        PATIENCE,
      );
      return { code, isNamed };
    },
    async file(format) {
      const { name = "", type = "", data } = await asked({ ask: "file", format }, READING);
      if (data === undefined) {
        throw new Error(WORDS.nothingSent);
      }
      return { name, blob: new Blob([bytesIn(data).slice()], { type }) };
    },
  };
}
