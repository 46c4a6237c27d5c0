/** Replacement keys that the user has set for the explorer, in live widgets and in tabs. */

/** For each pressed key, the explorer's key that it means; an empty text turns the key off. */
export type Keys = Readonly<Partial<Record<string, string>>>;

/** Makes the explorers of a page use replacement keys; `keys()` returns the current ones. */
export function remapKeys(page: Window, keys: () => Keys): void {
  const remap = (event: KeyboardEvent) => {
    const { key, target } = event;
    const meant = keys()[key];
    const isChord = event.ctrlKey || event.altKey || event.metaKey;
    // The event that we dispatch below is not trusted, so we do not replace its key again.
    if (meant === undefined || isChord || !event.isTrusted || !isInExplorer(target)) {
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    if (meant !== "") {
      const options = { key: meant, shiftKey: false, bubbles: true, cancelable: true };
      target.dispatchEvent(new KeyboardEvent("keydown", options));
    }
  };
  // Runs before the explorer and JupyterLab, which listen at the window and at the document.
  page.addEventListener("keydown", remap, { capture: true });
}

/** Whether a key is for the explorer, outside of text boxes. */
function isInExplorer(target: EventTarget | null): target is Element {
  return (
    target instanceof Element &&
    target.closest(".ckpt-viz") !== null &&
    target.closest("input, textarea, select") === null
  );
}

export function keysOf(setting: unknown): Keys {
  const isRecord = typeof setting === "object" && setting !== null;
  return Object.fromEntries(
    Object.entries(isRecord ? setting : {}).filter(([, meant]) => typeof meant === "string"),
  );
}
