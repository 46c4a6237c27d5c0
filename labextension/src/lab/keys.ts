/** Keys of the explorer that somebody wants elsewhere, of live widgets as of tabs. */

/** By what is pressed what it stands for; an empty text for nothing. */
export type Keys = Readonly<Partial<Record<string, string>>>;

/** Have the explorers of a page take keys for others, `keys()` being what holds now. */
export function remapKeys(page: Window, keys: () => Keys): void {
  const remap = (event: KeyboardEvent) => {
    const { key, target } = event;
    const meant = keys()[key];
    const isChord = event.ctrlKey || event.altKey || event.metaKey;
    // What is sent below is not trusted, and so not taken for another key again.
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
  // Before the explorer and JupyterLab, which listen at the window and at the document.
  page.addEventListener("keydown", remap, { capture: true });
}

/** Whether a key is for the explorer, and not typed into a box. */
function isInExplorer(target: EventTarget | null): target is Element {
  return (
    target instanceof Element &&
    target.closest(".ckpt-viz") !== null &&
    target.closest("input, textarea, select") === null
  );
}

export function keysOf(said: unknown): Keys {
  const isRecord = typeof said === "object" && said !== null;
  return Object.fromEntries(
    Object.entries(isRecord ? said : {}).filter(([, meant]) => typeof meant === "string"),
  );
}
