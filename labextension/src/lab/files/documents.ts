/** Checkpoint files and directories as documents of JupyterLab. It must write nothing for them. */

import type { JupyterFrontEnd } from "@jupyterlab/application";
import { PathExt } from "@jupyterlab/coreutils";
import {
  ABCWidgetFactory,
  DocumentModel,
  type DocumentRegistry,
  DocumentWidget,
  TextModelFactory,
} from "@jupyterlab/docregistry";
import type { Contents } from "@jupyterlab/services";
import { checkpointIcon } from "../icons";
import { FILE_TYPES, FOUND, OF_KERAS, otherType } from "../paths";
import { ExplorerPanel } from "../tabs/panel";
import type { Tabs } from "../tabs/tabs";

/** The file types for Keras' files: those that open in the explorer, and those that only may. */
const KERAS = "keras-file";
const OTHER_KERAS = "other-keras-file";
const FACTORY = "Checkpoint";
const FACTORY_OF_DIRECTORIES = "Checkpoint directory";
const MIME = "application/x-tensorflow-checkpoint";

export type CheckpointDocument = DocumentWidget<ExplorerPanel>;

/** The factory for a file or directory. */
export function factoryOf({ type }: Pick<Contents.IModel, "type">): string {
  return type === "directory" ? FACTORY_OF_DIRECTORIES : FACTORY;
}

/** A type of files that the explorer opens by default. */
export function checkpointType(
  name: string,
  displayName: string,
  pattern: string,
): DocumentRegistry.IFileType {
  return {
    name,
    displayName,
    pattern,
    extensions: [],
    mimeTypes: [MIME],
    fileFormat: null,
    contentType: "file",
    icon: checkpointIcon,
  };
}

/** Registers what opens checkpoints; `compare` opens the comparison of two paths. */
export function addDocuments(
  { docRegistry }: JupyterFrontEnd,
  tabs: Tabs,
  compare: (path: string, against: string) => void,
  created: (document: CheckpointDocument, factory: string) => void,
): void {
  const { trans } = tabs;
  const types = FILE_TYPES.map(({ id, label, pattern }) =>
    checkpointType(`tensorflow-checkpoint-${id}`, trans.__(label), pattern),
  );
  const others = FILE_TYPES.flatMap(({ id, shared }) =>
    shared === undefined
      ? []
      : {
          name: otherType({ id }),
          displayName: trans.__(shared.label),
          extensions: [shared.extension],
        },
  );
  for (const type of types) {
    docRegistry.addFileType(type);
  }
  // "Open With" also offers the explorer for other programs' files with these suffixes.
  for (const type of others) {
    docRegistry.addFileType({ ...type, mimeTypes: ["application/octet-stream"] });
  }
  const names = [...types.map(({ name }) => name), FOUND, KERAS];
  const add = (
    contentType: Contents.ContentType,
    options: DocumentRegistry.IWidgetFactoryOptions,
  ) => {
    const model = new NothingReadFactory(contentType);
    docRegistry.addModelFactory(model);
    const factory = new Factory(
      { ...options, modelName: model.name, readOnly: true },
      tabs,
      compare,
    );
    docRegistry.addWidgetFactory(factory as DocumentRegistry.WidgetFactory);
    factory.widgetCreated.connect((_, document) => created(document, factory.name));
  };
  add("file", {
    name: FACTORY,
    label: trans.__("Checkpoint Explorer"),
    fileTypes: [...names, ...others.map(({ name }) => name), OTHER_KERAS],
    defaultFor: names,
  });
  add("directory", {
    name: FACTORY_OF_DIRECTORIES,
    label: trans.__("Checkpoint Explorer"),
    fileTypes: [],
  });
}

/**
 * Opens Keras' files. If another extension opens some, such as a viewer of HDF5, they stay with it,
 * and the explorer is under "Open With".
 */
export function addFilesOfKeras({ docRegistry }: JupyterFrontEnd, label: string): void {
  const add = (name: string, extensions: readonly string[]) => {
    const type = { ...checkpointType(name, label, ""), extensions };
    docRegistry.addFileType({ ...type, mimeTypes: ["application/octet-stream"] });
  };
  const opened = OF_KERAS.filter((extension) => isOpened(docRegistry, extension));
  add(
    KERAS,
    OF_KERAS.filter((extension) => !opened.includes(extension)),
  );
  add(OTHER_KERAS, opened);
}

/** Whether JupyterLab opens files with an extension otherwise than as text. */
function isOpened(registry: DocumentRegistry, extension: string): boolean {
  return registry.defaultWidgetFactory(`x${extension}`) !== registry.defaultWidgetFactory();
}

/**
 * A document that JupyterLab never loads into the browser and never saves.
 *
 * JupyterLab copies each file that it can save to .ipynb_checkpoints. It does not copy a document
 * that another party saves, as in real-time collaboration.
 */
class NothingRead extends DocumentModel {
  override get collaborative(): boolean {
    return true;
  }
}

class NothingReadFactory extends TextModelFactory {
  readonly #contentType: Contents.ContentType;

  constructor(contentType: Contents.ContentType) {
    super(false);
    this.#contentType = contentType;
  }

  override get name(): string {
    return `ckpt-viz-${this.#contentType}`;
  }

  override get contentType(): Contents.ContentType {
    return this.#contentType;
  }

  override get fileFormat(): Contents.FileFormat {
    return null;
  }

  override createNew(options?: Parameters<TextModelFactory["createNew"]>[0]): DocumentModel {
    const model = new NothingRead(options);
    model.readOnly = true;
    return model;
  }
}

class Factory extends ABCWidgetFactory<CheckpointDocument> {
  readonly #compare: (path: string, against: string) => void;

  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions,
    private readonly tabs: Tabs,
    compare: (path: string, against: string) => void,
  ) {
    super(options as DocumentRegistry.IWidgetFactoryOptions<CheckpointDocument>);
    this.#compare = compare;
  }

  protected override createNewWidget(context: DocumentRegistry.Context): CheckpointDocument {
    const { server, trans } = this.tabs;
    // If we ask Jupyter's server for a file's copies, it creates their directory beside the file.
    context.listCheckpoints = () => Promise.resolve([]);
    context.createCheckpoint = () => Promise.resolve({ id: "", last_modified: "" });
    // Ctrl+S must not replace the files by this empty model.
    context.save = () => Promise.resolve();
    context.saveAs = () => Promise.resolve();
    let shown = context.path;
    const content = new ExplorerPanel(server.source(shown), trans);
    const show = (path: string) => {
      shown = path;
      void content.setSource(server.source(path));
    };
    context.pathChanged.connect((_, path) => show(path));
    const document = new DocumentWidget({ context, content });
    document.title.icon = checkpointIcon;
    // Compare with the latest checkpoint of this moment, not with one that the program saves later.
    let latest: string | null = null;
    content.loaded.connect((_, kept) => {
      const named = [...kept].reverse().filter((one) => one.exists && one.named);
      latest = (named.find((one) => one.latest) ?? named[0])?.path ?? null;
    });
    const compare = (against: string) => this.#compare(latest ?? shown, against);
    const items = this.tabs.toolbar(
      content,
      trans.__("Compare with…"),
      () => PathExt.dirname(shown),
      compare,
      show,
    );
    for (const { name, widget } of items) {
      document.toolbar.addItem(name, widget);
    }
    return document;
  }
}
