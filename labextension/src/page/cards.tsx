/** The examples as cards, each with a picture of its parameters. */

import { useEffect, useState } from "preact/hooks";
import { decode } from "../data/contract";
import { type Graph, makeGraph } from "../data/graph";
import { decodeHistory, type History } from "../history/data";
import { segmentsOf } from "../layout/ribbon";
import { stripsOf } from "../layout/strips";
import { EXAMPLES, type Example, payloadOf } from "./examples";
import * as WORDS from "./strings";

interface CardsProps {
  readonly shown: Example | null;
  readonly open: (example: Example) => void;
}

export function Cards({ shown, open }: CardsProps) {
  return (
    <ul class="ckp-cards">
      {EXAMPLES.map((example, place) => (
        <li key={example.id}>
          <button
            type="button"
            aria-current={example === shown}
            onClick={() => open(example)}
            data-example={example.id}
          >
            <span class="ckp-card-title">
              <strong>{example.title}</strong>
              <Badge example={example} />
              <kbd>{place + 1}</kbd>
            </span>
            <Picture example={example} />
            <span class="ckp-card-words">{example.words}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Badge({ example: { show } }: { readonly example: Example }) {
  const word = { graph: "", diff: WORDS.compare, check: WORDS.check, history: WORDS.history }[show];
  return word === "" ? null : <span class="ckp-badge">{word}</span>;
}

/** The ribbon of a graph, one for each side of two, and the changes of a history. */
function Picture({ example }: { readonly example: Example }) {
  const [picture, setPicture] = useState<Graph | History | null>(null);
  useEffect(() => {
    void pictured(example).then(setPicture, () => {}); // opening it tells what is wrong
  }, []);
  return (
    <span class="ckp-picture" aria-hidden="true">
      {picture === null ? null : "rows" in picture ? (
        <Heat history={picture} />
      ) : (
        <Ribbons graph={picture} />
      )}
    </span>
  );
}

async function pictured(example: Example): Promise<Graph | History> {
  const payload = await payloadOf(example);
  return example.show === "history" ? decodeHistory(payload) : makeGraph(await decode(payload));
}

function Ribbons({ graph }: { readonly graph: Graph }) {
  const strips = stripsIn(graph).filter((parts) => parts.length > 0);
  return strips.length === 0 ? (
    <span class="ckp-ribbon">
      <span />
    </span>
  ) : (
    strips.map((parts, side) => (
      <span key={side} class="ckp-ribbon">
        {parts.map(({ isMarked, share }, place) => (
          <span key={place} class={isMarked ? "ckp-marked" : ""} style={{ flexGrow: share }} />
        ))}
      </span>
    ))
  );
}

interface RibbonPart {
  readonly share: number;
  readonly isMarked: boolean;
}

function stripsIn(graph: Graph): readonly (readonly RibbonPart[])[] {
  const { table } = graph;
  return table === null
    ? [segmentsOf(graph).map(({ share }) => ({ share, isMarked: false }))]
    : stripsOf(graph).map((parts) =>
        parts.map(({ cell, share }) => ({ share, isMarked: cell.sign !== "here" })),
      );
}

/** The most rows of a history that fit into a card. */
const MOST_ROWS = 3;

function Heat({ history: { rows } }: { readonly history: History }) {
  return (
    <>
      {rows.slice(0, MOST_ROWS).map(({ key, cells }) => (
        <span key={key} class="ckp-ribbon">
          {cells.map(({ relative }, time) => (
            <span key={time} class="ckp-heat" style={{ opacity: shade(relative ?? 0) }} />
          ))}
        </span>
      ))}
    </>
  );
}

const shade = (change: number) => 0.15 + 0.85 * Math.min(1, change);
