/** Which file names probably belong to a checkpoint. The file's content decides. */

import table from "../../../ckpt_viz/files/saved/file_types.json";

/** An entry of the table of file types; Python reads it, too (ckpt_viz/files/saved/file_types.py). */
interface Entry {
  readonly id: string;
  readonly label: string;
  /** A pattern for the part after the checkpoint's prefix, or for the whole name. */
  readonly suffix?: string;
  readonly name?: string;
  /** Other programs use this suffix, too: git, faiss, Unity. */
  readonly shared?: { readonly label: string; readonly extension: string };
}

interface FileType extends Entry {
  /** A pattern for file names, in the form of JupyterLab's file types. */
  readonly pattern: string;
}

const ENTRIES: readonly Entry[] = table.types;

/** How the names of Keras' own files end. */
export const OF_KERAS: readonly string[] = table.keras;

/** Every type of file that opens in the explorer by default. */
export const FILE_TYPES: readonly FileType[] = ENTRIES.map((entry) => ({
  ...entry,
  pattern:
    entry.suffix === undefined
      ? `^${entry.name ?? ""}$`
      : `${entry.shared === undefined ? "" : `(${table.usual}).*`}${entry.suffix}$`,
}));

/** Includes files that may not be checkpoints: opening one shows whether it is. */
const PERHAPS = ENTRIES.map(({ suffix, name }) => new RegExp(`${suffix ?? `^${name ?? ""}`}$`));

export function mayBeCheckpoint(name: string): boolean {
  return (
    PERHAPS.some((pattern) => pattern.test(name)) ||
    OF_KERAS.some((extension) => name.toLowerCase().endsWith(extension))
  );
}

/** JupyterLab's name of the file type for checkpoints that only their content shows. */
export const FOUND = "tensorflow-checkpoint-found";

/** The name of the file type for other programs' files with a suffix of checkpoints. */
export function otherType({ id }: Pick<Entry, "id">): string {
  return `other-${id}`;
}

const UNCLEAR: ReadonlySet<string> = new Set(["text", FOUND, ...ENTRIES.map(otherType)]);

/** Whether a file that has only these file types of JupyterLab may be a checkpoint all the same. */
export function mayHideCheckpoint(types: readonly string[]): boolean {
  return types.every((type) => UNCLEAR.has(type));
}

/** A pattern for exactly these names; "" for none. */
export function patternOf(names: readonly string[]): string {
  const escaped = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return names.length === 0 ? "" : `^(?:${escaped.join("|")})$`;
}

const SUFFIX = new RegExp(`(${ENTRIES.flatMap(({ suffix }) => suffix ?? []).join("|")})$`);

/** The contents path by which users name a checkpoint: the prefix of its files. */
export function prefixOf(path: string): string {
  return path.replace(SUFFIX, "");
}
