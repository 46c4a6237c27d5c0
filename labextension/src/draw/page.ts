/** Deeds that change no state of the view but the page: where the focus is, what is copied. */

import { type Deed, deedOf, isOurs, type PageAction } from "../commands";
import type { Dispatch } from "./props";

/** What does any deed in an explorer. */
export type Run = (deed: Deed) => void;

export function makeRun(root: HTMLElement, dispatch: Dispatch): Run {
  return (deed) => {
    if (isOfPage(deed)) {
      runOnPage(root, deed);
    } else {
      dispatch(deed);
    }
  };
}

function isOfPage(deed: Deed): deed is PageAction {
  return PAGE_ACTIONS.has(deed.type);
}

const PAGE_ACTIONS: ReadonlySet<string> = new Set<PageAction["type"]>([
  "goToSearch",
  "goToDetails",
  "toggleHelp",
  "copy",
]);

function runOnPage(root: HTMLElement, action: PageAction): void {
  const click = (button: string) => root.querySelector<HTMLElement>(button)?.click();
  switch (action.type) {
    case "goToSearch":
      root.querySelector<HTMLInputElement>(".ckv-search input")?.select();
      break;
    case "goToDetails":
      click(".ckv-tabs [data-tab=details]");
      // Where there are tabs the details are there once this one is drawn.
      setTimeout(() => root.querySelector<HTMLElement>(".ckv-details")?.focus());
      break;
    case "toggleHelp":
      click(".ckv-help-button");
      break;
    case "copy":
      click(`.ckv-${action.what === "name" ? "node-name" : "key"} .ckv-copy`);
  }
}

/** Does what keys stand for while the explorer has the focus. */
export function answerKeys(root: HTMLElement, run: Run, signal: AbortSignal): void {
  const act = (event: KeyboardEvent) => {
    const deed = deedOf(event);
    const isStep = deed?.type === "stepProblem" && !isTyped(event);
    if (deed !== undefined && (isStep || !isTakenByControl(event))) {
      event.preventDefault();
      event.stopPropagation();
      run(deed);
    }
  };
  // JupyterLab would take "a" or "dd" for commands of the notebook. It leaves a key alone if the
  // focused element itself says so, and asks at the document, so this must come earlier.
  const claim = (event: KeyboardEvent) => {
    if (event.target instanceof Element && root.contains(event.target)) {
      const isOfBox = isTextBox(event.target) && !(event.ctrlKey || event.metaKey || event.altKey);
      event.target.toggleAttribute(
        "data-lm-suppress-shortcuts",
        isOfBox || isOurs(event) || closesPanel(event.target, event),
      );
    }
  };
  root.addEventListener("keydown", act, { signal });
  window.addEventListener("keydown", claim, { capture: true, signal });
}

/** Boxes take all that is typed, buttons what presses them; steps through problems are neither. */
function isTakenByControl({ key, target }: KeyboardEvent): boolean {
  const isControl = target instanceof Element && target.matches("button, input, summary");
  return isTextBox(target) || (isControl && (key === " " || key.length > 1));
}

/** Whether Escape is about what stands over the explorer. */
function closesPanel(target: Element, { key }: KeyboardEvent): boolean {
  return key === "Escape" && target.closest(".ckv-help, .ckv-menu[open]") !== null;
}

function isTextBox(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === "search";
}

/** Whether a key writes something, a bracket say, which elsewhere steps through problems. */
function isTyped({ key, target }: KeyboardEvent): boolean {
  return key.length === 1 && isTextBox(target);
}
