/** The front end of the widget of a history, a module for anywidget. */

import type { AnyModel, RenderProps } from "@anywidget/types";
import { PATIENCE } from "../kernel";
import { askKernel, onChanges } from "../messages";
import { bytesOf, type Sharing, sharedParts } from "../shared";
import * as WORDS from "../strings";
import type { Cell, ChangeMap, Row } from "./data";
import { ORDERS } from "./state";
import { type Host, mountTimeline } from "./timeline";

interface Traits extends Sharing {
  readonly _payload: DataView;
  a: number;
  b: number;
  order: string;
}

interface Answer {
  readonly error?: string;
  readonly row?: Row;
  readonly cells?: readonly Cell[];
  readonly map?: ChangeMap;
  readonly code?: string;
  readonly is_named?: boolean;
  readonly name?: string;
  readonly type?: string;
}

/** How long the kernel may read two checkpoints, in ms. */
const READING = 600_000;

function render({ model, el }: Pick<RenderProps<Traits>, "model" | "el">): () => void {
  const view = mountTimeline(el, {
    ...(model.send === undefined ? {} : kernelOf(model)),
    onMove(a, b) {
      model.set("a", a);
      model.set("b", b);
      model.save_changes();
    },
    onOrder(order) {
      model.set("order", order);
      model.save_changes();
    },
  });
  const showEnds = () => view.setEnds(model.get("a"), model.get("b"));
  const showOrder = () => {
    const order = ORDERS.find((one) => one === model.get("order"));
    if (order !== undefined) {
      view.setOrder(order);
    }
  };
  const ignoreChanges = onChanges(model, ["a", "b", "order"], (changed) => {
    if (changed.has("a") || changed.has("b")) {
      showEnds();
    }
    if (changed.has("order")) {
      showOrder();
    }
  });
  void view.setPayload(payload(model));
  showEnds();
  showOrder();
  return () => {
    ignoreChanges();
    view.dispose();
  };
}

function kernelOf(model: AnyModel): Host {
  const asked = async (question: object, patience: number) => {
    let answer: Answer;
    let buffers: readonly DataView[];
    try {
      [answer, buffers] = await askKernel<Answer>(model, question, AbortSignal.timeout(patience));
    } catch (error) {
      throw new Error(WORDS.noAnswer, { cause: error });
    }
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return [answer, buffers] as const;
  };
  const ask = async (question: object, patience: number) => (await asked(question, patience))[0];
  return {
    kernel: {
      cells: async (row) => (await ask({ ask: "row", row }, PATIENCE)).row?.cells ?? [],
      between: async (a, b) => (await ask({ ask: "between", a, b }, READING)).cells ?? [],
    },
    async where(row, a, b) {
      const { map } = await ask({ ask: "where", row, a, b }, READING);
      if (map === undefined) {
        throw new Error(WORDS.nothingSent);
      }
      return map;
    },
    async restoreCode(checkpoint) {
      const { code = "", is_named: isNamed = false } = await ask(
        { ask: "restore", checkpoint },
        PATIENCE,
      );
      return { code, isNamed };
    },
    async file(format) {
      const [{ name = "", type = "" }, [data]] = await asked({ ask: "file", format }, READING);
      if (data === undefined) {
        throw new Error(WORDS.nothingSent);
      }
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      return { name, blob: new Blob([bytes.slice()], { type }) };
    },
  };
}

async function payload(model: AnyModel<Traits>): Promise<Uint8Array> {
  const shared = await sharedParts(model, "_shared_payload");
  if (shared !== null) {
    return bytesOf(shared.payload ?? "");
  }
  const { buffer, byteOffset, byteLength } = model.get("_payload");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export default { render };
