/** The page: where one drops checkpoints, what is open, and the stage below. */

import { type ComponentChildren, render } from "preact";
import { readAddress, writeAddress } from "./address";
import { Cards } from "./cards";
import { Chooser } from "./choosing";
import { Desk, type DeskState, type Zone } from "./desk";
import { Engine, type Site } from "./engine";
import { EXAMPLES } from "./examples";
import { droppedFiles } from "./files";
import { Header } from "./header";
import { Stage } from "./stage";
import * as WORDS from "./strings";
import { Strip } from "./strip";

/** Draws the page and keeps it up to date; `problem` is what keeps Python from running at all. */
export function mountPage(root: HTMLElement, site: Site, problem: string | null): void {
  root.replaceChildren();
  let address = readAddress(location.hash);
  const draw = () => render(<Content desk={desk} problem={problem} {...links} />, root);
  const desk = new Desk((hears) => new Engine(site, hears), draw);
  const links: Links = {
    address: () => address,
    follow(change) {
      address = { ...address, ...change, example: desk.state.example?.id ?? null };
      window.history.replaceState(null, "", writeAddress(address) || location.pathname);
    },
  };
  draw();
  acceptDrops(desk);
  answerKeys(desk);
  if (problem === null) {
    desk.warmUp();
  }
  const first = EXAMPLES.find(({ id }) => id === address.example) ?? EXAMPLES[0];
  if (first !== undefined) {
    void desk.openExample(first);
  }
}

interface Links {
  readonly address: () => ReturnType<typeof readAddress>;
  readonly follow: Parameters<typeof Stage>[0]["follow"];
}

interface ContentProps extends Links {
  readonly desk: Desk;
  readonly problem: string | null;
}

function Content({ desk, problem, address, follow }: ContentProps) {
  const { state } = desk;
  const isStart = state.sides.length === 0;
  return (
    <>
      <Header />
      {problem === null ? null : <Notice kind="alert">{problem}</Notice>}
      {isStart ? <Start desk={desk} /> : <Strip desk={desk} />}
      <Notices desk={desk} state={state} />
      {state.shown === null ? null : (
        <div class={isStart ? "ckp-below" : "ckp-filling"}>
          <Stage
            key={`${state.example?.id} ${state.shown.show}`}
            shown={state.shown}
            address={address()}
            follow={follow}
          />
        </div>
      )}
    </>
  );
}

function Notices({ desk, state }: { readonly desk: Desk; readonly state: DeskState }) {
  const missing = state.shown?.missing ?? [];
  return (
    <>
      {state.busy === null ? null : (
        <Notice kind="status">
          <span class="ckp-spinner" aria-hidden="true" /> {state.busy}{" "}
          {state.busy === WORDS.starting && state.loading !== null
            ? WORDS.loaded(...state.loading)
            : null}
          <button type="button" onClick={() => desk.cancel()}>
            {WORDS.cancel}
          </button>
        </Notice>
      )}
      {state.problem === null ? null : <Notice kind="alert">{state.problem}</Notice>}
      {missing.length === 0 ? null : (
        <Notice kind="note">
          <strong>{WORDS.notHere(missing.join(", "), missing.length)}</strong> {WORDS.noValuesThere}
          <Chooser words={WORDS.addFile} take={(given) => desk.add(given)} />
          {WORDS.orDrop}
        </Notice>
      )}
    </>
  );
}

interface NoticeProps {
  readonly kind: "alert" | "status" | "note";
  readonly children: ComponentChildren;
}

function Notice({ kind, children }: NoticeProps) {
  return (
    <p role={kind} class={`ckp-notice ckp-${kind}`}>
      {children}
    </p>
  );
}

function Start({ desk }: { readonly desk: Desk }) {
  return (
    <main class="ckp-start">
      <section class="ckp-zones">
        <div>
          <h2>
            {WORDS.lookInto} <small>{WORDS.lookHint}</small>
          </h2>
          <ZoneBox zone="one" title={WORDS.dropHere} hint={WORDS.dropHint} isFirst>
            <Chooser
              words={WORDS.chooseFiles}
              take={(given) => desk.take("one", given)}
              isPrimary
              key="files"
            />
            <Chooser
              words={WORDS.chooseFolder}
              take={(given) => desk.take("one", given)}
              isFolder
            />
          </ZoneBox>
        </div>
        <div>
          <h2>
            {WORDS.compareTwo} <small>{WORDS.compareHint}</small>
          </h2>
          <div class="ckp-pair">
            <ZoneBox zone="before" title={WORDS.before} hint={WORDS.beforeHint}>
              <Chooser words={WORDS.choose} take={(given) => desk.take("before", given)} />
            </ZoneBox>
            <span aria-hidden="true">→</span>
            <ZoneBox zone="after" title={WORDS.after} hint={WORDS.afterHint}>
              <Chooser words={WORDS.choose} take={(given) => desk.take("after", given)} />
            </ZoneBox>
          </div>
        </div>
      </section>
      <p class="ckp-opens">
        {WORDS.opens} {WORDS.withoutData}
      </p>
      <Paste />
      <h2>
        {WORDS.examples} <small>{WORDS.examplesHint}</small>
      </h2>
      <Cards shown={desk.state.example} open={(example) => void desk.openExample(example)} />
    </main>
  );
}

/** A text that is pasted here is looked up among the errors of TensorFlow and Keras. */
function Paste() {
  const look = (text: string) => {
    if (text.trim() !== "") {
      location.href = `docs/errors.html#paste=${encodeURIComponent(text.slice(-MOST_PASTED))}`;
    }
  };
  return (
    <form
      class="ckp-paste"
      onSubmit={(event) => {
        event.preventDefault();
        look(new FormData(event.currentTarget).get("error")?.toString() ?? "");
      }}
    >
      <label>
        {WORDS.pasteTitle}
        <input
          name="error"
          type="search"
          placeholder={WORDS.pasteHint}
          onPaste={(event) => {
            event.preventDefault();
            look(event.clipboardData?.getData("text") ?? "");
          }}
        />
      </label>
    </form>
  );
}

/** The error is at the end of a traceback. */
const MOST_PASTED = 8_000;

interface ZoneBoxProps {
  readonly zone: Zone;
  readonly title: string;
  readonly hint: string;
  readonly isFirst?: boolean;
  readonly children: ComponentChildren;
}

function ZoneBox({ zone, title, hint, isFirst = false, children }: ZoneBoxProps) {
  return (
    <section
      class={isFirst ? "ckp-zone ckp-first" : "ckp-zone"}
      data-zone={zone}
      aria-label={title}
    >
      <h3>{title}</h3>
      <p>{hint}</p>
      <div>{children}</div>
    </section>
  );
}

/** Files may be dropped anywhere; the zone below the pointer is lit. */
function acceptDrops(desk: Desk): void {
  const zoneOf = ({ target }: Event) =>
    target instanceof Element ? target.closest<HTMLElement>("[data-zone]") : null;
  const light = (zone: HTMLElement | null, isOver: boolean) => {
    for (const lit of document.querySelectorAll(".ckp-over")) {
      lit.classList.remove("ckp-over");
    }
    document.body.classList.toggle("ckp-dragging", isOver);
    zone?.classList.toggle("ckp-over", isOver);
  };
  addEventListener("dragover", (event) => {
    event.preventDefault();
    light(zoneOf(event), true);
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) {
      light(null, false);
    }
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    light(null, false);
    if (event.dataTransfer !== null) {
      const files = droppedFiles(event.dataTransfer); // now: the list is empty after the event
      const zone = (zoneOf(event)?.dataset.zone ?? "anywhere") as Zone;
      void desk.take(zone, () => files);
    }
  });
}

/** The keys of the page, where no part of it takes them. */
function answerKeys(desk: Desk): void {
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "o") {
      event.preventDefault();
      document.querySelector<HTMLElement>(".ckp-primary, .ckp-strip button")?.click();
      return;
    }
    const isFree = (target as Element).closest(".ckp-stage, input, select") === null;
    if (!isFree || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const example = desk.state.sides.length === 0 ? EXAMPLES[Number(key) - 1] : undefined;
    if (example !== undefined) {
      event.preventDefault();
      void desk.openExample(example);
    } else if (key === "Escape" && desk.state.sides.length > 0) {
      void desk.close(0);
    } else if (target === document.body) {
      passOn(event);
    }
  });
}

/** The page has nothing else that this key could mean. */
function passOn(event: KeyboardEvent): void {
  const view = document.querySelector(".ckp-stage > .ckpt-viz, .ckp-stage > .ckpt-viz-timeline");
  if (view?.dispatchEvent(new KeyboardEvent("keydown", event)) === false) {
    event.preventDefault();
  }
}
