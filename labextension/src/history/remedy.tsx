/** What is wrong with the selected variable, and the way back to finite values. */

import { useState } from "preact/hooks";
import { sentenceText, visible, whyWords } from "../basics/text";
import { copyText } from "../draw/copy";
import { type Finding, type History, isBroken, type Row } from "./data";
import * as WORDS from "./strings";

export interface RestoreCode {
  readonly code: string;
  /** Whether it has the program's name for the checkpoint, and so runs. */
  readonly isNamed: boolean;
}

export interface Restoring {
  /** The code for a checkpoint; undefined without a kernel. */
  readonly code?: ((checkpoint: number) => Promise<RestoreCode>) | undefined;
  /** Puts code into a new cell below; null where there are no cells. */
  readonly insert: ((code: string) => void) | null;
}

interface FindingsProps {
  readonly history: History;
  readonly row: Row;
  readonly restoring: Restoring;
}

/** The findings of a variable, by the first checkpoint concerned. */
export function Findings({ history, row, restoring }: FindingsProps) {
  const found = history.findings.filter(({ names }) => names.includes(row.place));
  const times = [...new Set(found.map(({ first }) => first))].sort((one, other) => one - other);
  return times.map((time) => (
    <section key={time}>
      <h4>{WORDS.inCheckpoint(visible(history.checkpoints[time]?.title ?? ""))}</h4>
      {found
        .filter(({ first }) => first === time)
        .map((finding) => (
          <One key={finding.kind} {...{ history, row, finding, restoring }} />
        ))}
    </section>
  ));
}

function One({ history, row, finding, restoring }: FindingsProps & { readonly finding: Finding }) {
  const { why, is_alarm, restore } = finding;
  const isBad = finding.kind === "nan" || finding.kind === "inf";
  const title = visible(history.checkpoints[restore?.checkpoint ?? -1]?.title ?? "");
  return (
    <div class={is_alarm ? "ckh-finding ckh-of-alarm" : "ckh-finding"}>
      <p class={is_alarm ? "ckh-alarm" : ""}>
        {is_alarm ? "▲ " : ""}
        {isBad ? brokenWords(row, finding) : sentenceText(why)}
      </p>
      {isBad && haveSlots(history, row, finding.first) ? <p>{WORDS.slotsToo}</p> : null}
      {restore === undefined ? null : (
        <>
          <p>{WORDS.lastWhole(title)}</p>
          <Restore {...{ title, restore, restoring }} />
        </>
      )}
    </div>
  );
}

/** NaN in 12 of 192 elements. */
export function brokenWords(row: Row, { kind, first }: Pick<Finding, "kind" | "first">): string {
  const count = row.cells[first]?.values?.[kind === "nan" ? "nan" : "inf"] ?? 0;
  const all = (row.shape ?? []).reduce((product, size) => product * size, 1);
  return WORDS.brokenElements(kind === "nan" ? "NaN" : "Inf", count, all);
}

const VALUE = "/.ATTRIBUTES/VARIABLE_VALUE";

/** Whether an optimizer keeps values for a variable that are not finite either. */
export function haveSlots(history: History, { key }: Row, time: number): boolean {
  const own = key.endsWith(VALUE) ? `${key.slice(0, -VALUE.length)}/.OPTIMIZER_SLOT/` : `${key}/`;
  return history.rows.some(
    (row) => row.is_state && row.key.startsWith(own) && isBroken(row.cells[time]) !== null,
  );
}

interface RestoreProps {
  readonly title: string;
  readonly restore: NonNullable<Finding["restore"]>;
  readonly restoring: Restoring;
}

function Restore({ title, restore, restoring }: RestoreProps) {
  const [said, setSaid] = useState("");
  const { insert } = restoring;
  const act = async () => {
    try {
      // The kernel knows what the program calls its checkpoint.
      const known = await restoring.code?.(restore.checkpoint);
      const code = known?.code ?? restore.code;
      if (insert === null || known?.isNamed !== true) {
        await copyText(code);
        setSaid(insert === null ? WORDS.copiedCode : WORDS.copiedUnnamed);
      } else {
        insert(code.trimEnd());
        setSaid("");
      }
    } catch (error) {
      setSaid(whyWords(error));
    }
  };
  return (
    <p>
      <button
        type="button"
        class="ckh-button ckh-remedy"
        title={visible(restore.code)}
        onClick={() => void act()}
      >
        {insert === null ? WORDS.copyRestore(title) : WORDS.insertRestore(title)}
      </button>{" "}
      <span role="status">{said}</span>
    </p>
  );
}

/** The path of an object-based key; a key of any other kind as it is. */
export function pathOf(key: string): readonly string[] {
  const end = key.indexOf("/.ATTRIBUTES/");
  return end < 0
    ? [key]
    : key
        .slice(0, end)
        .split("/")
        .map((part) => part.replace(/\.S|\.\./g, (sign) => (sign === ".S" ? "/" : ".")));
}
