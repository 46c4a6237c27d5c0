/** The strip below a restore that plays: the queue, what waits, and the timeline. */

import type { ComponentChildren } from "preact";
import * as WORDS from "../basics/strings";
import { formatCount, shortened, visible } from "../basics/text";
import type { Graph } from "../data/graph";
import type { Story } from "../kernel/play";
import { moreWords, placeName } from "../words/words";
import { RoleIcon } from "./icons";
import { type Playing, PlayKeys } from "./play-bar";
import type { Dispatch } from "./props";

interface StripProps {
  readonly graph: Graph;
  readonly story: Story;
  readonly playing: Playing;
  /** The last step that may be seen. */
  readonly last: number;
  readonly dispatch: Dispatch;
}

/** Chips of a list; more have no space. */
const MOST_CHIPS = 16;

export function Strip({ graph, story, playing, last, dispatch }: StripProps) {
  const { at } = playing;
  const { plays } = WORDS;
  const { action, node: current } = story.step(at);
  const [queue, waits] = [story.queue(at, MOST_CHIPS), story.waiting(at)];
  const more = story.queueLength(at) - queue.length;
  const chip = (of: number, note: string, isNext = false) => (
    <Chip key={of} {...{ graph, story, dispatch, note, isNext }} node={of} />
  );
  return (
    <footer class="ckv-play-strip">
      <List name="queue" word={plays.queue} count={story.queueLength(at)} hint={plays.queueHint}>
        {queue.length === 0 ? <li class="ckv-faint">{plays.queueEmpty}</li> : null}
        {queue.map((of, place) =>
          chip(of, action === "bind" && of === current ? plays.joins : "", place === 0),
        )}
        {more > 0 ? <li class="ckv-faint">{moreWords(more)}</li> : null}
      </List>
      <List name="waits" word={plays.waits} count={waits.length} hint="">
        {waits.length === 0 ? <li class="ckv-faint">{plays.nothingWaits}</li> : null}
        {waits
          .slice(0, MOST_CHIPS)
          .map(({ holder, name, node }) =>
            chip(node, WORDS.untilSet(holderName(graph, holder), shortened(visible(name)))),
          )}
        {waits.length > MOST_CHIPS ? (
          <li class="ckv-faint">{moreWords(waits.length - MOST_CHIPS)}</li>
        ) : null}
      </List>
      <Timeline {...{ story, playing }} seen={last} />
      <PlayKeys />
    </footer>
  );
}

function holderName(graph: Graph, id: number | null): string {
  return id === null ? WORDS.node : shortened(visible(placeName(graph, id, true)), MAX_HOLDER);
}

/** Characters of the name of what waits for a name. */
const MAX_HOLDER = 30;

interface ListProps {
  readonly name: string;
  readonly word: string;
  readonly count: number;
  readonly hint: string;
  readonly children: ComponentChildren;
}

function List({ name, word, count, hint, children }: ListProps) {
  return (
    <div class={`ckv-play-list ckv-play-${name}`}>
      <h4>
        {word} {count === 0 ? "" : formatCount(count)} <small>{hint}</small>
      </h4>
      <ul aria-label={word}>{children}</ul>
    </div>
  );
}

interface ChipProps extends Pick<StripProps, "graph" | "story" | "dispatch"> {
  readonly node: number;
  readonly note: string;
  readonly isNext: boolean;
}

function Chip({ graph, story, dispatch, node, note, isNext }: ChipProps) {
  const place = story.place(node);
  const name = place === null ? `#${node}` : chipName(graph, place);
  const full = place === null ? name : visible(placeName(graph, place, true));
  return (
    <li data-node={node} class={isNext ? "ckv-play-chip ckv-play-next" : "ckv-play-chip"}>
      <button
        type="button"
        title={full}
        onClick={() => place !== null && dispatch({ type: "select", id: place })}
      >
        {place === null ? null : <RoleIcon role={graph.role(place)} />}
        {name}
      </button>
      {note === "" ? null : <small>{note}</small>}
    </li>
  );
}

/** The name of a node in a chip: a slot variable has that of its variable. */
function chipName(graph: Graph, id: number): string {
  const parent = graph.treeParent(id);
  const name = shortened(visible(graph.savedLabel(id))) || WORDS.root;
  const isPart = graph.role(id) === "slot" || /^\d+$/.test(name);
  return isPart && parent !== null
    ? `${name} ${WORDS.ofVariable} ${shortened(visible(graph.savedLabel(parent))) || WORDS.root}`
    : name;
}

/** The steps that a timeline shows one by one. */
const MOST_DOTS = 160;
const MOST_PROBLEMS = 200;

type TimelineProps = Pick<StripProps, "story" | "playing"> & {
  readonly seen: number;
};

function Timeline({ story, playing, seen }: TimelineProps) {
  const { at, go } = playing;
  const last = Math.max(1, story.length - 1);
  const left = (step: number) => ({ "--ckv-at": step / last });
  const dots = story.length <= MOST_DOTS ? Array.from({ length: seen + 1 }, (_, i) => i) : [];
  const problems = story.problems.filter((step) => step <= seen);
  return (
    <div class="ckv-play-timeline">
      <div class="ckv-play-dots" aria-hidden="true">
        {dots.map((step) => (
          <i key={step} class={`ckv-dot-${dotOf(story, step)}`} style={left(step)} />
        ))}
        {problems.slice(0, MOST_PROBLEMS).map((step) => (
          <i key={`!${step}`} class="ckv-dot-problem" style={left(step)} />
        ))}
      </div>
      <input
        type="range"
        min={1}
        max={story.length}
        value={at + 1}
        aria-label={WORDS.plays.timeline}
        aria-valuetext={WORDS.stepOf(formatCount(at + 1), formatCount(story.length))}
        onInput={(event) => {
          const to = Math.min(Number(event.currentTarget.value) - 1, seen);
          event.currentTarget.value = String(to + 1);
          go(to);
        }}
      />
      <p class="ckv-play-legend">
        {LEGEND.filter(([look]) => look !== "problem" || problems.length > 0).map(
          ([look, words]) => (
            <span key={look}>
              <i class={`ckv-dot-${look}`} /> {words}
            </span>
          ),
        )}
      </p>
    </div>
  );
}

/** What the dots of a timeline mean, by their look. */
const LEGEND = [
  ["bind", WORDS.fates.bound],
  ["keep", WORDS.plays.known],
  ["visit", WORDS.plays.taken],
  ["restore", WORDS.plays.valueAssigned],
  ["waits", WORDS.fates.waits],
  ["problem", WORDS.problem],
] as const;

/** The shape of a step on the timeline. */
function dotOf(story: Story, at: number): string {
  const { action } = story.step(at);
  if (action === "restore" || action === "keep" || action === "bind") {
    return action;
  }
  if (action.startsWith("defer")) {
    return "waits";
  }
  return story.isVisit(at) ? "visit" : "other";
}
