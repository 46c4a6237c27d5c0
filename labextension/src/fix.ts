/** The fix of a check: where each saved value belongs, as the kernel answers (docs/explorer.md). */

/** How sure it is that a saved node and a live object belong together; or they do not fit. */
export const BONDS = ["certain", "likely", "guess", "misfit"] as const;
export type Bond = (typeof BONDS)[number];

/** Whether the code of a fix restores such a pair. */
export function isSure(bond: Bond): boolean {
  return bond === "certain" || bond === "likely";
}

/** A saved node and the live object that it belongs to: itself, if the graph lacks saved nodes. */
export interface Placed {
  readonly saved: number;
  readonly live: number;
  readonly bond: Bond;
  /** Why they belong together. */
  readonly why: string;
}

/** The part of the answer beside its columns of nodes. */
export interface FixAnswer {
  /** How many live objects get their values. */
  readonly restored: number;
  /** How many saved values stay unused; the graph may lack some of them. */
  readonly unused: number;
  /** Whether the program has all these values now. */
  readonly is_applied: boolean;
  readonly code: string;
  /** The notebook's variable for the checked object, if it has one. */
  readonly source: string | null;
  readonly evidence: readonly string[];
  /** What happened to the program since the file was written, a sentence each. */
  readonly changes: readonly string[];
}

export interface Fix extends Omit<FixAnswer, "is_applied" | "evidence"> {
  readonly isApplied: boolean;
  /** How many live objects keep their values. */
  readonly kept: number;
  /** Without what is restored where it was. */
  readonly pairs: readonly Placed[];
  /** Where the value of a saved node goes, except to its own place. */
  goesTo(saved: number): readonly Placed[];
  /** Where the value of a live object comes from, except from its own place. */
  comesFrom(live: number): Placed | null;
  /** The guess that a saved part is, by its place among all guesses. */
  guessOf(saved: number): number | undefined;
  keeps(live: number): boolean;
  isUnused(saved: number): boolean;
}

/** How many numbers a pair has: two nodes, the certainty and the evidence. */
const WIDTH = 4;
const INT = 4;

/** The fix in an answer of the kernel, for a graph of this size; null for a malformed one. */
export function makeFix(answer: FixAnswer, buffers: readonly DataView[], size: number): Fix | null {
  const columns = Array.from({ length: 5 }, (_, index) => numbersIn(buffers[index]));
  const [pairs, misfits, kept, unused, guesses] = columns;
  if (!pairs || !misfits || !kept || !unused || !guesses || !isText(answer)) {
    return null;
  }
  const placed = [
    ...placedIn(pairs, answer.evidence, null),
    ...placedIn(misfits, answer.evidence, "misfit"),
  ];
  const nodes = [...placed.flatMap(({ saved, live }) => [saved, live]), ...kept, ...unused];
  if (nodes.some((id) => !(id >= 0 && id < size))) {
    return null;
  }
  const to = new Map<number, Placed[]>();
  const from = new Map<number, Placed>();
  for (const one of placed) {
    to.set(one.saved, [...(to.get(one.saved) ?? []), one]);
    from.set(one.live, one);
  }
  const [keeping, left] = [new Set(kept), new Set(unused)];
  const guessOf = new Map(guesses.map((saved, place) => [saved, place]));
  const { changes, code, restored, source, unused: unusedCount } = answer;
  return {
    ...{
      changes,
      code,
      restored,
      source,
      unused: unusedCount,
      isApplied: answer.is_applied,
      pairs: placed,
    },
    kept: keeping.size,
    goesTo: (saved) => to.get(saved) ?? NOWHERE,
    comesFrom: (live) => from.get(live) ?? null,
    guessOf: (saved) => guessOf.get(saved),
    keeps: (live) => keeping.has(live),
    isUnused: (saved) => left.has(saved),
  };
}

const NOWHERE: readonly Placed[] = [];

function isText({ changes, code, evidence, restored, source, unused }: FixAnswer): boolean {
  return (
    typeof code === "string" &&
    Number.isSafeInteger(restored) &&
    Number.isSafeInteger(unused) &&
    (source === null || typeof source === "string") &&
    Array.isArray(changes) &&
    Array.isArray(evidence)
  );
}

/** The numbers in a buffer, which may begin anywhere in memory; null for a part of a number. */
function numbersIn(buffer: DataView | undefined): readonly number[] | null {
  if (buffer === undefined || buffer.byteLength % INT !== 0) {
    return null;
  }
  return Array.from({ length: buffer.byteLength / INT }, (_, i) => buffer.getInt32(i * INT, true));
}

function placedIn(
  numbers: readonly number[],
  evidence: readonly string[],
  bond: Bond | null,
): readonly Placed[] {
  return Array.from({ length: Math.floor(numbers.length / WIDTH) }, (_, index): Placed => {
    const [saved = -1, live = -1, certainty = 0, why = 0] = numbers.slice(
      index * WIDTH,
      (index + 1) * WIDTH,
    );
    return {
      saved,
      live,
      bond: bond ?? BONDS[certainty] ?? "guess",
      why: `${evidence[why] ?? ""}`,
    };
  });
}

/** Whether a pair is a part of another: its two holders belong together, too. */
export function movesAlong(
  fix: Fix,
  { saved, live }: Placed,
  parent: (id: number) => number | null,
): boolean {
  const [from, to] = [parent(saved), parent(live)];
  return from !== null && to !== null && fix.goesTo(from).some((one) => one.live === to);
}
