/** The explorer, or the view of a history, in the lower part of the page. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { decode } from "../data/contract";
import { makeGraph } from "../data/graph";
import { hostAsking } from "../history/asking";
import { mountTimeline } from "../history/timeline";
import type { LoadGraphviz } from "../textbook/engine";
import { mountView } from "../view/view";
import type { Address } from "./address";
import type { Shown } from "./desk";

interface StageProps {
  readonly shown: Shown;
  readonly address: Address;
  readonly follow: (address: Pick<Address, "select" | "step">) => void;
}

interface View {
  dispose(): void;
}

export function Stage({ shown, ...rest }: StageProps) {
  const place = useRef<HTMLDivElement>(null);
  // With the strip above it: nothing in sight is of what was open before.
  useLayoutEffect(() => {
    const { current } = place;
    if (current === null) {
      return;
    }
    const view = mounted(current, { shown, ...rest });
    return () => view.dispose();
  }, [shown]);
  return <div class="ckp-stage" ref={place} />;
}

function mounted(el: HTMLElement, props: StageProps): View {
  return props.shown.show === "history" ? history(el, props) : explorer(el, props);
}

function history(el: HTMLElement, { shown }: StageProps): View {
  const view = mountTimeline(el, hostAsking(shown.ask));
  void view.setPayload(shown.payload);
  return view;
}

function explorer(el: HTMLElement, { shown, address, follow }: StageProps): View {
  const graph = decode(shown.payload).then((payload) => makeGraph(payload));
  const view = mountView(el, {
    ask: shown.ask,
    canStop: true,
    extras: () => import("../draw/extras"),
    graphviz,
    async onChange({ selected, step }) {
      const name = selected === null || selected === 0 ? null : (await graph).name(selected);
      follow({ select: name, step });
    },
  });
  void view.setPayload(shown.payload);
  void graph
    .then(({ name, size }) => {
      const ids = [...Array(size).keys()];
      const selected = ids.find((id) => name(id) === address.select) ?? null;
      view.setState({ of: 0, selected, step: address.step });
    })
    .catch(() => {}); // the view itself tells what is wrong with the payload
  return view;
}

const graphviz: LoadGraphviz = async (signal) => (await fetch("graphviz.js", { signal })).text();
