/** What is out of sight at first can wait until the rest is on the screen. */

import { useEffect, useState } from "preact/hooks";

/** In ms: the first paint is out, and what somebody did at once has been answered. */
const PAUSE = 50;

/** Whether the component has been painted once; it is drawn again a moment after that. */
export function useIsPainted(): boolean {
  const [isPainted, setIsPainted] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsPainted(true), PAUSE);
    return () => clearTimeout(timer);
  }, []);
  return isPainted;
}
