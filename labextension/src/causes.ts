/** The causes of a comparison's problems: what one thing explains is below it. */

import { starts } from "./columns";
import { ABSENT, type OverlayColumnName, type Payload } from "./contract";

export interface Cause {
  readonly title: string;
  /** The node, by its local names; "" for the whole comparison. */
  readonly place: string;
  readonly sentence: string;
  /** How many variables it concerns. */
  readonly count: number;
  /** The problems that it explains, the worst first. */
  readonly problems: readonly number[];
}

export interface Causes {
  /** The worst first. */
  readonly causes: readonly Cause[];
  /** All problems in the order of their causes: steps lead through them in this order. */
  readonly inOrder: readonly number[];
  /** The index of the cause that explains the problem. */
  causeOf(problem: number): number;
}

type Columns = NonNullable<Payload["overlay"]>["columns"];

export function makeCauses(columns: Columns, strings: Payload["strings"]): Causes {
  const text = (name: OverlayColumnName, index: number): string =>
    strings[columns[name][index] ?? ABSENT] ?? "";
  const problemStart = starts(columns.cause_problem_count);
  const inOrder = Array.from(columns.cause_problem);
  const holders = new Int32Array(inOrder.length);
  const causes = Array.from(columns.cause_title, (_, index): Cause => {
    const problems = inOrder.slice(problemStart[index], problemStart[index + 1]);
    for (const problem of problems) {
      holders[problem] = index;
    }
    return {
      title: text("cause_title", index),
      place: text("cause_place", index),
      sentence: text("cause_sentence", index),
      count: columns.cause_count[index] ?? 0,
      problems,
    };
  });
  return { causes, inOrder, causeOf: (problem) => holders[problem] ?? 0 };
}
