/** Delays what is out of sight at first until the rest is on the screen. */

import { useEffect, useState } from "preact/hooks";

/** In ms: by then the first paint is done, and the page has handled the user's first events. */
const PAUSE = 50;

/** Whether the component has been painted once; it renders again a moment later. */
export function useIsPainted(): boolean {
  const [isPainted, setIsPainted] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsPainted(true), PAUSE);
    return () => clearTimeout(timer);
  }, []);
  return isPainted;
}
