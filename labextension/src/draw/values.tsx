/** The values of a node, from the kernel: a scalar at once, others on demand. */

import { useEffect } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { formatCount, onOneLine, visible } from "../basics/text";
import type { Graph } from "../data/graph";
import type { Kernel, NoValue, Value } from "../kernel/kernel";
import { useAsked } from "./asking";
import { Copy } from "./copy";
import { ValueStatistics } from "./statistics";

interface ValuesProps {
  readonly graph: Graph;
  readonly id: number;
  readonly kernel: Kernel;
  /** What the values are, where their place does not tell it. */
  readonly name?: string;
}

export function Values({ graph, id, kernel, name }: ValuesProps) {
  const [asked, ask] = useAsked(
    async () => (await kernel({ ask: "values", node: id })).values ?? [],
  );
  const attributes = graph.attributes(id);
  const isScalar = attributes.length === 1 && attributes[0]?.shape?.length === 0;
  useEffect(() => {
    // A reloaded graph also refreshes values that were on screen before.
    if (isScalar || asked !== null || graph.measures !== null) {
      ask();
    }
  }, [graph]);
  if (attributes.length === 0) {
    return null;
  }
  return (
    <div class="ckv-values" aria-live="polite">
      <ValueStatistics
        values={asked?.answer?.filter(isValue) ?? []}
        isKnown={graph.measures !== null}
      />
      {asked?.answer?.map((value, i) => (
        <OneValue key={i} value={value} name={name} />
      ))}
      {asked?.problem === undefined ? null : <p class="ckv-error">{onOneLine(asked.problem)}</p>}
      {asked?.isWaiting === true ? <p class="ckv-faint">{WORDS.asking}</p> : null}
      <button type="button" class="ckv-jump" onClick={ask} disabled={asked?.isWaiting}>
        {asked === null ? WORDS.showValues : WORDS.showAgain}
      </button>
    </div>
  );
}

function isValue(value: Value | NoValue): value is Value {
  return !("error" in value);
}

interface OneProps {
  readonly name: string | undefined;
  readonly value: Value | NoValue;
}

function OneValue({ name, value }: OneProps) {
  const { of } = value;
  if ("error" in value) {
    return (
      <>
        <h4>{of}</h4>
        <p class="ckv-error">{onOneLine(value.error)}</p>
      </>
    );
  }
  const { dtype, elements, shape } = value;
  const more = shape.reduce((product, dim) => product * dim, 1) - elements.length;
  return (
    <>
      <h4>
        {[of, name ?? WORDS.counts.values[shape.length === 0 ? 0 : 1]]
          .filter((words) => words !== "")
          .join(": ")}{" "}
        <span class="ckv-faint">{[dtype, shape.join("×")].join(" ")}</span>
      </h4>
      <p class="ckv-elements">
        {elements.map(visible).join(", ")}
        {more > 0 ? ` … ${formatCount(more)} ${WORDS.moreElements}` : ""}{" "}
        <Copy what={WORDS.values} text={elements.join(", ")} />
      </p>
    </>
  );
}
