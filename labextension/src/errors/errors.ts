/**
 * The box into which one pastes an error message.
 *
 * On the page of all errors, it shows those that the text has. On other pages, it leads there with
 * the text in the address. docs/sitebuild/errors_page.py writes the box and every word in it.
 */

import { errorsIn, type KnownError } from "./match";

const PASTED = "#paste=";
const LONGEST = 30_000; // characters of an address; the error is at the end of a traceback

function start(box: HTMLFormElement): void {
  const field = box.querySelector("textarea");
  const data = document.getElementById("known-errors");
  if (field === null) {
    return;
  }
  if (data === null) {
    leadAway(box, field);
    return;
  }
  const known: readonly KnownError[] = JSON.parse(data.textContent ?? "[]");
  const show = () => showAnswer(box, field.value, known);
  const follow = () => {
    if (location.hash.startsWith(PASTED)) {
      field.value = decoded(location.hash.slice(PASTED.length));
      show();
      field.scrollIntoView({ block: "start" });
    }
  };
  field.addEventListener("input", show);
  box.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  addEventListener("hashchange", follow);
  follow();
  show(); // what the browser has kept in the field
}

function leadAway(box: HTMLFormElement, field: HTMLTextAreaElement): void {
  const go = () => {
    location.href = `${box.action}${PASTED}${encodeURIComponent(field.value.slice(-LONGEST))}`;
  };
  box.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  field.addEventListener("paste", () => setTimeout(go)); // when the field has the text
}

function showAnswer(box: HTMLFormElement, text: string, known: readonly KnownError[]): void {
  const ids = text.trim() === "" ? [] : errorsIn(text, known);
  const answers = ids.flatMap((id) => document.getElementById(id)?.closest("section") ?? []);
  const place = box.querySelector(".answers");
  place?.replaceChildren(...answers.map(copyOf));
  showOnly(box, ".fits", answers.length > 0);
  showOnly(box, ".fits-none", text.trim() !== "" && answers.length === 0);
}

/** A copy without ids: those lead to the entry in the list. */
function copyOf(section: Element): Node {
  const copy = section.cloneNode(true) as Element;
  for (const element of [copy, ...copy.querySelectorAll("[id]")]) {
    element.removeAttribute("id");
  }
  return copy;
}

function showOnly(box: HTMLFormElement, selector: string, is: boolean): void {
  for (const element of box.querySelectorAll<HTMLElement>(selector)) {
    element.hidden = !is;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a link that someone has written by hand
  }
}

for (const box of document.querySelectorAll<HTMLFormElement>("form.paste-box")) {
  start(box);
}
