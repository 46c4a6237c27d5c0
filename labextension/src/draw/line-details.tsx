/** What the details say of a line of the table: where its values go, and why. */

import * as WORDS from "../basics/strings";
import { countWords, sentenceText, visible } from "../basics/text";
import type { Graph } from "../data/graph";
import type { Line, Table } from "../data/table";
import type { State } from "../state/state";
import { cellSign } from "../words/signs";
import { type Accepting, fixedWith } from "./accepting";
import { Fact } from "./facts";
import { SignIcon } from "./icons";
import { Problems } from "./problems";

interface LineDetailsProps {
  readonly state: State;
  readonly table: Table;
  readonly accepting: Accepting;
}

/** The selected line; without one, what no line tells. */
export function LineDetails(props: LineDetailsProps) {
  const { state, table } = props;
  return state.line === null ? (
    <Beside {...props} />
  ) : (
    <OfLine {...props} line={table.line(state.line)} />
  );
}

/** What no line tells. */
function Beside({ table, state }: LineDetailsProps) {
  const { graph } = state;
  return (
    <div class="ckv-evidence">
      <p class="ckv-faint">{WORDS.table.selectLine}</p>
      {table.notes.map((note) => (
        <p key={note}>{sentenceText(note)}</p>
      ))}
      <Problems graph={graph} indices={besideLines(graph)} isMessageOnly />
    </div>
  );
}

function OfLine({ table, line, state, accepting }: LineDetailsProps & { readonly line: Line }) {
  const { graph } = state;
  const { plain, saved, live, values } = line;
  const fixed = fixedWith(table, line, accepting);
  const names =
    saved !== "" && live !== "" && saved !== live ? `${saved} → ${live}` : saved || live;
  const cells = [
    [table.heads[1] ?? "", plain],
    ...(fixed === null ? [] : [[table.heads[2] ?? "", fixed] as const]),
  ] as const;
  return (
    <div class="ckv-evidence">
      <h3>
        <SignIcon sign={cellSign((fixed ?? plain).sign)} /> {visible(names)}
      </h3>
      <h4>
        {graph.overlay?.comparison === "diff" ? WORDS.table.howItDiffers : WORDS.table.whereItGoes}:{" "}
        {countWords(values, ...WORDS.counts.values)}
      </h4>
      <dl class="ckv-value">
        {cells.map(([term, cell]) => (
          <Fact key={term} term={term}>
            <SignIcon sign={cellSign(cell.sign)} /> {visible(cell.words)}
          </Fact>
        ))}
      </dl>
      <Problems graph={graph} indices={problemsOf(graph, table, line)} />
    </div>
  );
}

/** The problems about the nodes of a line and of those inside of it, each once. */
function problemsOf(graph: Graph, table: Table, line: Line): readonly number[] {
  const nodes = (["live", "saved"] as const).flatMap((side) => table.nodesIn(line.id, side));
  return [...new Set(nodes.flatMap((node) => graph.overlay?.problemsOf(node) ?? []))].sort(
    (a, b) => a - b,
  );
}

/** The problems that are about no node. */
function besideLines({ overlay }: Graph): readonly number[] {
  return Array.from({ length: overlay?.problemCount ?? 0 }, (_, index) => index).filter(
    (index) => overlay?.problem(index).nodes.length === 0,
  );
}
