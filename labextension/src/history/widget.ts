/** The front end of the widget of a history, a module for anywidget. */

import type { AnyModel, RenderProps } from "@anywidget/types";
import { PATIENCE } from "../kernel";
import { askKernel } from "../messages";
import { bytesOf, type Sharing, sharedParts } from "../shared";
import * as WORDS from "../strings";
import type { Cell, Row } from "./data";
import { type Kernel, mountTimeline } from "./timeline";

interface Traits extends Sharing {
  readonly _payload: DataView;
  a: number;
  b: number;
}

interface Answer {
  readonly error?: string;
  readonly row?: Row;
  readonly cells?: readonly Cell[];
}

/** How long the kernel may read two checkpoints, in ms. */
const READING = 600_000;

function render({ model, el }: Pick<RenderProps<Traits>, "model" | "el">): () => void {
  const view = mountTimeline(el, {
    kernel: model.send === undefined ? undefined : kernelOf(model),
    onMove(a, b) {
      model.set("a", a);
      model.set("b", b);
      model.save_changes();
    },
  });
  const showEnds = () => view.setEnds(model.get("a"), model.get("b"));
  model.on("change:a change:b", showEnds);
  void view.setPayload(payload(model));
  showEnds();
  return () => {
    model.off("change:a change:b", showEnds);
    view.dispose();
  };
}

function kernelOf(model: AnyModel): Kernel {
  const ask = async (question: object, patience: number): Promise<Answer> => {
    let answer: Answer;
    try {
      [answer] = await askKernel<Answer>(model, question, AbortSignal.timeout(patience));
    } catch (error) {
      throw new Error(WORDS.noAnswer, { cause: error });
    }
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return answer;
  };
  return {
    cells: async (row) => (await ask({ ask: "row", row }, PATIENCE)).row?.cells ?? [],
    between: async (a, b) => (await ask({ ask: "between", a, b }, READING)).cells ?? [],
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
