/** TensorFlow's words about a problem. */

import type { Overlay, Problem } from "../data/overlay";

/** What a restore raises; for other failures the assert that names the problem's node. */
export function messageOf({ verdicts }: Overlay, problem: Problem): string | undefined {
  const messages = verdicts.map(({ message }) => message).filter((message) => message !== "");
  if (problem.severity === "error") {
    return messages[0];
  }
  const names = [problem.saved, problem.live].filter((name) => name !== null);
  return problem.severity === "fail"
    ? messages.find((message) => names.some((name) => message.includes(name)))
    : undefined;
}
