/** The side panel of live objects. */

import type { TranslationBundle } from "@jupyterlab/translation";
import { Widget } from "@lumino/widgets";
import { render } from "preact";
import { visible } from "../../basics/text";
import { acceptPaths } from "../tabs/drop";
import { Sentence } from "../tabs/sentence";
import type { Kind, LiveObject, LiveObjects } from "./objects";

export interface PanelActions {
  /** Opens the live explorer of a variable. */
  show(name: string): void;
  /** Checks a restore with a checkpoint that the user drops or, without a path, picks. */
  check(name: string, path?: string): void;
  insert(name: string): void;
}

/** The name of the place whose kernel the panel lists; null if there is none. */
type Where = () => string | null;

export class LivePanel extends Widget {
  constructor(
    private readonly objects: LiveObjects,
    private readonly actions: PanelActions,
    private readonly where: Where,
    private readonly trans: TranslationBundle,
  ) {
    super();
    this.addClass("ckpt-viz-live");
    this.node.tabIndex = -1;
    objects.changed.connect(this.update, this);
    // A file dropped on a row is checked against that row's object.
    acceptPaths(
      this,
      (path, { dataset }) => actions.check(dataset.name ?? "", path),
      (target) => target.closest<HTMLElement>("li"),
    );
    this.update();
  }

  override dispose(): void {
    this.objects.setWatched(false);
    this.objects.changed.disconnect(this.update, this);
    render(null, this.node);
    super.dispose();
  }

  protected override onAfterShow(): void {
    this.objects.setWatched(true);
    this.update();
  }

  protected override onAfterHide(): void {
    this.objects.setWatched(false);
  }

  /** The panel itself waits with the focus for a list that the kernel still makes. */
  protected override onActivateRequest(): void {
    (this.node.querySelector("button") ?? this.node).focus();
  }

  protected override onUpdateRequest(): void {
    if (this.isDisposed) {
      return;
    }
    const { listed } = this.objects;
    render(
      <section>
        <header>
          <h3>{this.trans.__("Live TensorFlow Objects")}</h3>
          <p>{visible(this.where() ?? this.trans.__("No notebook or console is open."))}</p>
        </header>
        {this.#messages().map((sentence) => (
          <p key={sentence} class="ckpt-viz-live-said" role="status">
            <Sentence text={sentence} />
          </p>
        ))}
        <ul aria-label={this.trans.__("Checkpointable objects of the kernel")}>
          {listed?.objects.map((one) => (
            <Item key={one.name} one={one} actions={this.actions} trans={this.trans} />
          ))}
        </ul>
      </section>,
      this.node,
    );
    if (this.node === document.activeElement) {
      this.node.querySelector("button")?.focus();
    }
  }

  /** The messages beside the list, or in its place. */
  #messages(): readonly string[] {
    const { listed, problem, kernel } = this.objects;
    const trans = this.trans;
    if (problem !== null) {
      return [problem];
    }
    if (this.where() === null) {
      return [
        trans.__(
          "Open a notebook: the objects of its kernel that TensorFlow can save are listed here.",
        ),
      ];
    }
    if (kernel === null) {
      return [trans.__("The notebook has no kernel yet.")];
    }
    if (listed === null) {
      return [trans.__("Waiting for the kernel …")];
    }
    const messages = [];
    if (!listed.tensorflow) {
      messages.push(trans.__("The kernel has not imported TensorFlow."));
    } else if (listed.objects.length === 0) {
      messages.push(
        trans.__(
          "No variable of the kernel is a checkpoint, model, module, optimizer or manager; objects appear here once a cell creates them.",
        ),
      );
    } else if (listed.ckpt_viz === null) {
      messages.push(
        trans.__(
          "To open them, the kernel's environment needs ckpt-viz: run `%pip install ckpt-viz` in a cell (%1).",
          listed.python,
        ),
      );
    }
    if (listed.left_off > 0) {
      messages.push(trans.__("%1 more are not listed.", listed.left_off));
    }
    if (listed.unread > 0) {
      messages.push(trans.__("%1 names were skipped: the kernel has too many.", listed.unread));
    }
    return messages;
  }
}

interface ItemProps {
  readonly one: LiveObject;
  readonly actions: PanelActions;
  readonly trans: TranslationBundle;
}

function Item({ one: { name, kind, type }, actions, trans }: ItemProps) {
  return (
    <li data-name={name} data-kind={kind}>
      <button
        type="button"
        class="ckpt-viz-live-open"
        title={trans.__("Open the live explorer of %1", name)}
        onClick={() => actions.show(name)}
      >
        <Sign kind={kind} />
        <b>{visible(name)}</b> <span>{visible(type)}</span>
      </button>
      <span class="ckpt-viz-live-more">
        <button
          type="button"
          title={trans.__(
            "Check what restoring a checkpoint into %1 would do. You can also drop a checkpoint here",
            name,
          )}
          onClick={() => actions.check(name)}
        >
          {trans.__("Check…")}
        </button>
        <button
          type="button"
          title={trans.__("Insert cv.show(%1) into the notebook", name)}
          onClick={() => actions.insert(name)}
        >
          {trans.__("Insert code")}
        </button>
      </span>
    </li>
  );
}

/** The shapes of the explorer: a hexagon for optimizers, else a rectangle. */
function Sign({ kind }: { readonly kind: Kind }) {
  return (
    <svg class="ckpt-viz-live-sign" viewBox="0 0 16 12" width="16" height="12" aria-hidden="true">
      {kind === "optimizer" ? (
        <path d="M4 1h8l3 5-3 5H4L1 6z" />
      ) : (
        <rect x="1" y="1" width="14" height="10" rx="2" />
      )}
    </svg>
  );
}
