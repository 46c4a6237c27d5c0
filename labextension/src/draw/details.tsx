/** All facts about the selected node, as text that a user can copy. */

import type { ComponentChildren } from "preact";
import * as WORDS from "../basics/strings";
import { countWords, onOneLine, sentenceText, visible } from "../basics/text";
import { type Attribute, type Edge, type Graph, ROOT } from "../data/graph";
import type { Kernel } from "../kernel/kernel";
import { feedsOf } from "../layout/feeds";
import { numbersOf } from "../layout/measured";
import { isNode } from "../state/state";
import { belowSentence, cellMark, isAlarm } from "../words/signs";
import {
  bytesWords,
  chunkCount,
  chunkLabel,
  moreWords,
  partnerWords,
  placeName,
  shapeWords,
  tensorWords,
  typeWords,
  valueWords,
} from "../words/words";
import { Copy } from "./copy";
import { Fact } from "./facts";
import { RoleIcon, SignIcon } from "./icons";
import { Jump } from "./jump";
import { type OnRequest, WithExtras } from "./on-request";
import type { Part } from "./parts";
import { Problems } from "./problems";
import type { Dispatch, Showing } from "./props";
import { NumbersTable } from "./statistics";
import { GraphSummary } from "./summary";

const MAX_LISTED = 50;

interface DetailsProps extends Showing {
  readonly kernel: Kernel | null;
  readonly onRequest: OnRequest | null;
  /** What a comparison says of the selection, in place of the problems in the node's facts. */
  readonly evidence?: ComponentChildren;
  /** What the kernel can do with the selected node. */
  readonly actions: ComponentChildren;
}

export function Details(props: DetailsProps) {
  const { state, kernel, onRequest, dispatch, evidence, actions } = props;
  const { graph, selected } = state;
  return (
    <section
      key={selected}
      class="ckv-details"
      data-part={"details" satisfies Part}
      aria-label={WORDS.details}
      tabIndex={-1}
    >
      {evidence}
      {selected === null ? (
        <>
          <Notes graph={graph} alarms />
          {graph.overlay === null ? (
            <GraphSummary state={state} kernel={kernel} onRequest={onRequest} dispatch={dispatch} />
          ) : evidence === undefined ? (
            <p class="ckv-hint">{WORDS.nothingSelected}</p>
          ) : null}
          {evidence === undefined ? <Notes graph={graph} /> : null}
        </>
      ) : isNode(state, selected) ? (
        <NodeDetails
          graph={graph}
          id={selected}
          {...{ kernel, onRequest }}
          listsProblems={evidence === undefined}
          {...{ actions, dispatch }}
        />
      ) : (
        <ChunkDetails state={state} id={selected} dispatch={dispatch} />
      )}
    </section>
  );
}

interface NodeProps {
  readonly graph: Graph;
  readonly id: number;
  readonly dispatch: Dispatch;
}

function NodeDetails({
  graph,
  id,
  kernel,
  onRequest,
  listsProblems,
  actions,
  dispatch,
}: NodeProps &
  Pick<DetailsProps, "actions" | "kernel" | "onRequest"> & { readonly listsProblems: boolean }) {
  const role = graph.role(id);
  const type = typeWords(graph, id);
  const error = graph.error(id);
  const saver = graph.registeredSaver(id);
  const place = placeName(graph, id);
  return (
    <div class="ckv-facts">
      <h3 class="ckv-node-name">
        {visible(place)} <Copy what={WORDS.name} text={place} part="copy-name" />
      </h3>
      <p>
        <RoleIcon role={role} /> {role}
        {type === "" ? "" : `, ${visible(type)}`}, {WORDS.node} {id}
      </p>
      <p class="ckv-buttons">
        <button type="button" title={WORDS.focus} onClick={() => dispatch({ type: "focus", id })}>
          {WORDS.focusShort}
        </button>
      </p>
      {actions}
      <Compared graph={graph} id={id} />
      <Detours graph={graph} id={id} dispatch={dispatch} />
      {listsProblems ? (
        <Problems graph={graph} indices={graph.overlay?.problemsOf(id) ?? []} />
      ) : null}
      {error === null ? null : (
        <p class="ckv-error">
          {WORDS.problem}: {onOneLine(error)}
        </p>
      )}
      {saver === null ? null : (
        <p>
          {WORDS.saver} {visible(saver)}
        </p>
      )}
      {id === ROOT ? <Notes graph={graph} alarms /> : null}
      {id === ROOT ? <Notes graph={graph} /> : null}
      <SlotWords graph={graph} id={id} dispatch={dispatch} />
      <VariableWords graph={graph} id={id} />
      {graph.attributes(id).map((attribute) => (
        <Value key={attribute.checkpointKey} attribute={attribute} />
      ))}
      <LayerFacts graph={graph} id={id} />
      <FlowOf graph={graph} row={id} dispatch={dispatch} />
      <NumbersTable sides={[{ of: "", at: numbersOf(graph, id) }]} />
      {kernel === null || graph.attributes(id).length === 0 ? null : (
        <WithExtras onRequest={onRequest}>
          {({ Values }) => <Values graph={graph} id={id} kernel={kernel} />}
        </WithExtras>
      )}
      <Place graph={graph} id={id} />
      <NotSavedList graph={graph} id={id} />
      <Aliases graph={graph} id={id} dispatch={dispatch} />
      <Children graph={graph} id={id} dispatch={dispatch} />
    </div>
  );
}

/** What the configuration of a layer says: text of a program or of a file. */
function LayerFacts({ graph, id }: { readonly graph: Graph; readonly id: number }) {
  const facts = graph.facts(id);
  const [gets, gives] = [tensorWords(graph.gets(id)), tensorWords(graph.gives(id))];
  return facts.length === 0 && gets === "" && gives === "" ? null : (
    <dl class="ckv-value">
      {facts.map(({ name, value }) => (
        <Fact key={name} term={visible(name)}>
          {visible(value)}
        </Fact>
      ))}
      {gets === "" ? null : <Fact term={WORDS.feeds.gets}>{visible(gets)}</Fact>}
      {gives === "" ? null : <Fact term={WORDS.feeds.gives}>{visible(gives)}</Fact>}
    </dl>
  );
}

/** The layers that feed a row, and those that it feeds. */
function FlowOf({ graph, row, dispatch }: Pick<NodeProps, "dispatch" | "graph"> & { row: number }) {
  const { inputs, outputs } = feedsOf(graph, row);
  const items = (ids: readonly number[], word: string) =>
    ids.slice(0, MAX_LISTED).map((id, place) => (
      <li key={`${word} ${id}`}>
        <span class="ckv-link-word">{ids.length === 1 ? word : `${word} ${place + 1}`}</span>{" "}
        <Jump graph={graph} id={id} dispatch={dispatch} />{" "}
        <span class="ckv-faint">{tensorWords(graph.gives(id))}</span>
      </li>
    ));
  return inputs.length + outputs.length === 0 ? null : (
    <Links title={WORDS.flow}>
      {items(inputs, WORDS.feeds.input)}
      {items(outputs, WORDS.feeds.output)}
    </Links>
  );
}

/** The path of local names that `path:` takes, and the name that TensorFlow prints. */
function Place({ graph, id }: { readonly graph: Graph; readonly id: number }) {
  const objects = graph.objects ?? graph;
  const names: string[] = [];
  for (let node = id; node !== ROOT; node = objects.treeParent(node) ?? ROOT) {
    names.push(objects.label(node));
  }
  const path = names.reverse().join("/");
  return path === "" ? null : (
    <dl class="ckv-value">
      <Fact term={WORDS.terms.path}>
        {visible(path)} <Copy what={WORDS.path} text={path} />
      </Fact>
      <Fact term={WORDS.terms.printed}>
        {visible(graph.name(id))} <Copy what={WORDS.printedName} text={graph.name(id)} />
      </Fact>
    </dl>
  );
}

/** The selected chunk of a long list, and the range of the list that it covers. */
function ChunkDetails({
  state,
  id,
  dispatch,
}: Pick<DetailsProps, "state" | "dispatch"> & { readonly id: number }) {
  const { graph, tree } = state;
  const chunk = tree.chunk(id);
  if (chunk === null) {
    return null;
  }
  const kind =
    chunk.group === null ? WORDS.chunk : chunk.group.lost === "" ? WORDS.group : WORDS.anAttribute;
  return (
    <div class="ckv-facts">
      <h3 class="ckv-node-name">{chunkLabel(graph, chunk)}</h3>
      <p>
        {chunkCount(chunk)}, {kind}:{" "}
        <Jump graph={graph} id={nodeAbove(graph, chunk.parent)} dispatch={dispatch} />
      </p>
      <FlowOf graph={graph} row={id} dispatch={dispatch} />
    </div>
  );
}

/** The nearest node from a row upwards, since groups may hold groups. */
function nodeAbove(graph: Graph, row: number): number {
  let node = row;
  while (node >= graph.size) {
    node = graph.treeParent(node) ?? ROOT;
  }
  return node;
}

/** What the table says of the node, and its name on the other side. */
function Compared({ graph, id }: { readonly graph: Graph; readonly id: number }) {
  const { overlay } = graph;
  if (overlay === null) {
    return null;
  }
  const { word, ...sign } = cellMark(overlay.cell(id));
  const more = [sentenceText(overlay.detail(id) ?? ""), partnerWords(graph, id)];
  const said = [word, ...more].filter((words) => words !== "");
  const below = belowSentence(overlay, id);
  return (
    <>
      {said.length === 0 ? null : (
        <p>
          <SignIcon sign={{ ...sign, word }} /> {said.join(", ")}
        </p>
      )}
      {below === "" ? null : (
        <p>
          {WORDS.below}: {below}
        </p>
      )}
    </>
  );
}

/** Links to the nodes between which a plain restore and the node exchange values. */
function Detours({ graph, id, dispatch }: NodeProps) {
  const { overlay } = graph;
  const ends = [
    { words: WORDS.restoreTakesFrom, place: overlay?.getsFrom(id), isOfSaved: true },
    { words: WORDS.restorePutsInto, place: overlay?.goesTo(id), isOfSaved: false },
  ];
  return ends.map(({ words, place, isOfSaved }) =>
    place == null ? null : (
      <p key={words}>
        {words}{" "}
        <Jump graph={graph} id={place} dispatch={dispatch}>
          {visible(placeName(graph, place, isOfSaved))}
        </Jump>
        .
      </p>
    ),
  );
}

function SlotWords({ graph, id, dispatch }: NodeProps) {
  const slot = graph.slot(id);
  if (slot === null) {
    return null;
  }
  const how = slot.rule === "declared" ? WORDS.declared : `${WORDS.inferred} ${slot.rule}`;
  return (
    <p>
      {WORDS.slot} <b>{visible(slot.name)}</b> {WORDS.ofVariable}{" "}
      <Jump graph={graph} id={slot.variable} dispatch={dispatch} />
      {slot.optimizer === null ? null : (
        <>
          {" "}
          {WORDS.forOptimizer} <Jump graph={graph} id={slot.optimizer} dispatch={dispatch} />
        </>
      )}
      , {how}
    </p>
  );
}

interface NotesProps {
  readonly graph: Graph;
  /** Only the alarms, which are about missing files; otherwise only all other notes. */
  readonly alarms?: boolean;
}

/** How the source's path was understood, what else its directory holds, what hangs on what. */
function Notes({ graph, alarms = false }: NotesProps) {
  return (
    <>
      {graph.notes
        .filter((note) => isAlarm(note) === alarms)
        .map((note) => (
          <p key={note} class={alarms ? "ckv-error" : "ckv-faint"}>
            {onOneLine(note)}
          </p>
        ))}
    </>
  );
}

/** The facts about a variable in a MetaGraph or a SavedModel. */
function VariableWords({ graph, id }: { readonly graph: Graph; readonly id: number }) {
  const training = graph.training(id);
  const collections = graph.collections(id);
  const words = [
    training === null ? "" : WORDS.training[training],
    collections === null ? "" : `${WORDS.collections} ${visible(collections)}`,
  ].filter((word) => word !== "");
  return words.length === 0 ? null : <p>{words.join(", ")}</p>;
}

function NotSavedList({ graph, id }: { readonly graph: Graph; readonly id: number }) {
  const kinds = [
    { are: true, title: `! ${WORDS.notSaved}`, hint: WORDS.notSavedHint },
    { are: false, title: WORDS.notTracked, hint: WORDS.notTrackedHint },
  ];
  return kinds.map(({ are, title, hint }) => {
    const attributes = graph.notSaved(id).filter(({ isLost }) => isLost === are);
    return attributes.length === 0 ? null : (
      <div key={title} class={are ? "ckv-error" : "ckv-aside"}>
        <h4>
          {title} ({attributes.length})
        </h4>
        <p>{hint}</p>
        <ul class="ckv-links-list">
          {attributes.slice(0, MAX_LISTED).map(({ name, type, values }) => (
            <li key={name}>
              {visible(name)} <span class="ckv-faint">{visible(type)}</span>,{" "}
              {countWords(values, ...WORDS.counts.objects)}
            </li>
          ))}
        </ul>
      </div>
    );
  });
}

function Value({ attribute }: { readonly attribute: Attribute }) {
  const { name, dtype, shape, nbytes, checkpointKey, fullName, slices, error } = attribute;
  return (
    <dl class="ckv-value">
      <Fact term={WORDS.attribute}>{visible(name)}</Fact>
      {dtype === null ? null : <Fact term={WORDS.columns.dtype}>{dtype}</Fact>}
      {shape === null ? null : <Fact term={WORDS.columns.shape}>{shapeWords(attribute)}</Fact>}
      {nbytes === null ? null : <Fact term={WORDS.columns.size}>{bytesWords(nbytes)}</Fact>}
      {slices === 0 ? null : (
        <Fact term={WORDS.savedIn}>{countWords(slices, ...WORDS.counts.slices)}</Fact>
      )}
      {error === null ? null : <Fact term={WORDS.problem}>{onOneLine(error)}</Fact>}
      <Fact term={WORDS.terms.key}>
        {visible(checkpointKey)} <Copy what={WORDS.key} text={checkpointKey} part="copy-key" />
      </Fact>
      {fullName === "" ? null : (
        <Fact term={WORDS.terms.fullName}>
          {visible(fullName)} <Copy what={WORDS.fullName} text={fullName} />
        </Fact>
      )}
    </dl>
  );
}

function Aliases({ graph, id, dispatch }: NodeProps) {
  const objects = graph.objects ?? graph;
  const edges = graph
    .edgesTo(id)
    .filter((edge) => objects.treeParent(id) !== edge.node || objects.label(id) !== edge.localName);
  return edges.length === 0 ? null : (
    <Links title={`${WORDS.alsoReached} (${edges.length})`}>
      {edges.slice(0, MAX_LISTED).map((edge) => (
        <li key={`${edge.node} ${edge.localName}`}>
          <Jump graph={graph} id={edge.node} dispatch={dispatch}>
            {visible(`${placeName(graph, edge.node)}.${edge.localName}`)}
          </Jump>{" "}
          <Copy what={WORDS.name} text={`${placeName(graph, edge.node)}.${edge.localName}`} />
        </li>
      ))}
    </Links>
  );
}

function Children({ graph, id, dispatch }: NodeProps) {
  const edges = graph.children(id);
  const slots: Edge[] = [...graph.treeChildren(id)]
    .filter((child) => graph.slot(child)?.variable === id)
    .map((node) => ({ node, localName: graph.label(node) }));
  const lists = [
    [WORDS.slots, slots],
    [WORDS.children, edges],
  ] as const;
  return lists.map(([title, all]) =>
    all.length === 0 ? null : (
      <Links key={title} title={`${title} (${all.length})`}>
        {all.slice(0, MAX_LISTED).map(({ localName, node }) => (
          <li key={`${node} ${localName}`}>
            <Jump graph={graph} id={node} dispatch={dispatch}>
              {visible(localName)}
            </Jump>{" "}
            <span class="ckv-faint">{valueWords(graph, node) || typeWords(graph, node)}</span>
          </li>
        ))}
        {all.length > MAX_LISTED ? <li>{moreWords(all.length - MAX_LISTED)}</li> : null}
      </Links>
    ),
  );
}

interface LinksProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

function Links({ title, children }: LinksProps) {
  return (
    <>
      <h4>{title}</h4>
      <ul class="ckv-links-list">{children}</ul>
    </>
  );
}
