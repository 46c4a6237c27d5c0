/** Checkpoints that only their content shows: the server finds them in the listed directories. */

import type { DocumentRegistry } from "@jupyterlab/docregistry";
import type { FileBrowser, IFileBrowserFactory } from "@jupyterlab/filebrowser";
import type { Contents } from "@jupyterlab/services";
import { LabIcon } from "@jupyterlab/ui-components";
import type { IDisposable } from "@lumino/disposable";
import { FOUND, mayHideCheckpoint, patternOf } from "../paths";
import type { CheckpointServer } from "../server";
import { checkpointType } from "./documents";

const ICON_CLASS = "jp-DirListing-itemIcon";

/** Keeps the file type of such files up to date with what the file browsers list. */
export function followListings(
  registry: DocumentRegistry,
  server: CheckpointServer,
  label: string,
  { tracker }: IFileBrowserFactory,
): void {
  const follow = (browser: FileBrowser) => {
    const listing = new Listing(registry, server, label, browser);
    browser.disposed.connect(() => listing.dispose());
  };
  tracker.forEach(follow);
  tracker.widgetAdded.connect((_, browser) => follow(browser));
}

/** What one file browser lists. */
class Listing {
  /** The listed files about which this asked the server last. */
  #asked = "";
  #path = "";
  #asking = new AbortController();
  #names: readonly string[] = [];
  #pattern = "";
  #type: IDisposable | null = null;

  constructor(
    private readonly registry: DocumentRegistry,
    private readonly server: CheckpointServer,
    private readonly label: string,
    private readonly browser: FileBrowser,
  ) {
    browser.model.refreshed.connect(this.#look, this);
    this.#look();
  }

  dispose(): void {
    this.#asking.abort();
    this.#type?.dispose();
  }

  /** JupyterLab lists a directory again every ten seconds; asks only if something has changed. */
  #look(): void {
    const { path } = this.browser.model;
    const files = [...this.browser.model.items()].filter((item) => this.#isUnclear(item));
    const asked = JSON.stringify([path, files.map((file) => [file.name, file.last_modified])]);
    if (asked === this.#asked) {
      return;
    }
    this.#asked = asked;
    if (path !== this.#path) {
      this.#path = path;
      this.#register([]); // the same names elsewhere may be other files
    }
    this.#asking.abort();
    this.#asking = new AbortController();
    void this.#ask(
      path,
      files.map(({ name }) => name),
      this.#asking.signal,
    );
  }

  #isUnclear({ name, type }: Contents.IModel): boolean {
    const types = this.registry.getFileTypesForPath(name).map((one) => one.name);
    return type === "file" && mayHideCheckpoint(types);
  }

  async #ask(path: string, names: readonly string[], signal: AbortSignal): Promise<void> {
    let found: ReadonlySet<string> = new Set();
    try {
      if (names.length > 0) {
        found = new Set(await this.server.checkpoints(path, signal));
      }
    } catch {
      // A server without ckpt-viz, or a drive that it does not know: names alone decide.
    }
    if (!signal.aborted) {
      this.#register(names.filter((name) => found.has(name)));
    }
  }

  #register(names: readonly string[]): void {
    const pattern = patternOf(names);
    if (pattern === this.#pattern) {
      return;
    }
    this.#pattern = pattern;
    this.#type?.dispose();
    this.#type =
      pattern === "" ? null : this.registry.addFileType(checkpointType(FOUND, this.label, pattern));
    const changed = new Set([...this.#names, ...names]);
    this.#names = names;
    // JupyterLab, too, draws icons in the next frame.
    requestAnimationFrame(() => this.#drawIcons(changed));
  }

  /** JupyterLab draws an icon again only if its file's name, time or size has changed. */
  #drawIcons(names: ReadonlySet<string>): void {
    for (const row of this.browser.node.querySelectorAll(".jp-DirListing-item")) {
      const name = row.querySelector(".jp-DirListing-itemText")?.textContent ?? "";
      const container = row.querySelector<HTMLElement>(`.${ICON_CLASS}`);
      if (container !== null && names.has(name)) {
        const { icon } = this.registry.getFileTypeForModel({ name, type: "file" });
        const style = {
          className: ICON_CLASS,
          iconClass: "jp-Icon",
          stylesheet: "listing",
        } as const;
        LabIcon.resolveElement({ icon, container, ...style });
      }
    }
  }
}
