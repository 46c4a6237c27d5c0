import { useLayoutEffect } from "preact/hooks";

/** Calls `act`, in its first version, after the first layout and at each new size of an element. */
export function useResized<E extends Element>(
  elementOf: () => E | null | undefined,
  act: (element: E) => void,
): void {
  useLayoutEffect(() => {
    const element = elementOf();
    if (element == null) {
      return;
    }
    const observer = new ResizeObserver(() => act(element));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}
