/** Keys that an element keeps for itself: those that a table gives a number. */
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
