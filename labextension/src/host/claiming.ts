/**
 * Keeps keys of a view from JupyterLab, which would treat "a" or "dd" as commands of the notebook.
 * It ignores a key if an attribute of the focused element asks for that, and checks at the document,
 * so this must run earlier.
 */
export function claimKeys(
  root: Element,
  claims: (event: KeyboardEvent, target: Element) => boolean,
  signal: AbortSignal,
): void {
  const claim = (event: KeyboardEvent) => {
    const { target } = event;
    if (target instanceof Element && root.contains(target)) {
      target.toggleAttribute("data-lm-suppress-shortcuts", claims(event, target));
    }
  };
  window.addEventListener("keydown", claim, { capture: true, signal });
}
