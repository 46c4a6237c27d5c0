/** Handles the keys in a table of numbers, and keeps them from everything around the element. */
export function onArrows(
  keys: Readonly<Record<string, number>>,
  act: (by: number, event: KeyboardEvent) => void,
) {
  return (event: KeyboardEvent): void => {
    const by = keys[event.key];
    if (by !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      act(by, event);
    }
  };
}
