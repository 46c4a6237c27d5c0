/** What is out of sight at first can wait until the rest is on the screen. */

import { useEffect, useState } from "preact/hooks";

/** Whether the component has been painted once; it is drawn again when it has. */
export function useIsPainted(): boolean {
  const [isPainted, setIsPainted] = useState(false);
  useEffect(() => setIsPainted(true), []);
  return isPainted;
}
