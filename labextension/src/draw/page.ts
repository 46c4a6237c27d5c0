/** Actions that change the page but not the state of the view: moving the focus, copying a text. */

import { claimKeys } from "../host/claiming";
import { type Deed, deedOf, isOurs, type PageAction } from "../state/deeds";
import { partOf, showTab } from "./parts";
import type { Dispatch } from "./props";

function isOfPage(deed: Deed): deed is PageAction {
  const { type } = deed;
  return (
    type === "press" || type === "goToSearch" || type === "goToDetails" || type === "goToRestore"
  );
}

function runOnPage(root: HTMLElement, action: PageAction): void {
  switch (action.type) {
    case "goToSearch": {
      const box = partOf(root, "search");
      if (box instanceof HTMLInputElement) {
        box.select();
      }
      break;
    }
    case "goToDetails":
      showTab(root, "details");
      // If the panes are tabs, the details exist only after their tab is drawn.
      setTimeout(() => partOf(root, "details")?.focus());
      break;
    case "goToRestore":
      partOf(root, "fix")?.focus();
      break;
    case "press":
      partOf(root, action.part)?.click();
  }
}

/** Runs the actions of keys while the explorer has the focus. */
export function answerKeys(root: HTMLElement, dispatch: Dispatch, signal: AbortSignal): void {
  const act = (event: KeyboardEvent) => {
    const deed = deedOf(event);
    const isStep = deed?.type === "stepChange" && !isTyped(event);
    if (deed !== undefined && (isStep || !isTakenByControl(event))) {
      event.preventDefault();
      event.stopPropagation();
      if (isOfPage(deed)) {
        runOnPage(root, deed);
      } else {
        dispatch(deed);
      }
    }
  };
  root.addEventListener("keydown", act, { signal });
  const claims = (event: KeyboardEvent, target: Element) => {
    const isOfBox = isTextBox(target) && !(event.ctrlKey || event.metaKey || event.altKey);
    return isOfBox || isOurs(event) || closesPanel(target, event);
  };
  claimKeys(root, claims, signal);
}

/**
 * Whether a control uses the key: a text box uses all keys, a button those that press it, and code
 * those that scroll it.
 */
function isTakenByControl({ key, target }: KeyboardEvent): boolean {
  const isControl = target instanceof Element && target.matches("button, input, summary, pre");
  return isTextBox(target) || (isControl && (key === " " || key.length > 1));
}

/** Whether Escape closes a panel over the explorer. */
function closesPanel(target: Element, { key }: KeyboardEvent): boolean {
  return (
    key === "Escape" &&
    target.closest(".ckv-help, .ckv-menu[open], .ckv-play, .ckv-copies-open") !== null
  );
}

function isTextBox(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === "search";
}

/**
 * Whether the key types a character into a text box: a bracket there must not step to a change.
 */
function isTyped({ key, target }: KeyboardEvent): boolean {
  return key.length === 1 && isTextBox(target);
}
