/** What the names of files say: which are probably a checkpoint's. Their contents decide. */

import table from "../../../ckpt_viz/saved/file_types.json";

/** A type of file in the table that Python reads, too (ckpt_viz/saved/file_types.py). */
interface Entry {
  readonly id: string;
  readonly label: string;
  /** What follows the checkpoint's prefix, or else the whole name: patterns. */
  readonly suffix?: string;
  readonly name?: string;
  /** Other programs have files with this suffix, too: git, faiss, Unity. */
  readonly shared?: { readonly label: string; readonly extension: string };
}

interface FileType extends Entry {
  /** For names of files, as JupyterLab's file types have them. */
  readonly pattern: string;
}

const ENTRIES: readonly Entry[] = table.types;

/** Every type of file that opens in the explorer by default. */
export const FILE_TYPES: readonly FileType[] = ENTRIES.map((entry) => ({
  ...entry,
  pattern:
    entry.suffix === undefined
      ? `^${entry.name ?? ""}$`
      : `${entry.shared === undefined ? "" : `(${table.usual}).*`}${entry.suffix}$`,
}));

/** Also what only might be a checkpoint: opening it tells. */
const PERHAPS = ENTRIES.map(({ suffix, name }) => new RegExp(`${suffix ?? `^${name ?? ""}`}$`));

export function mayBeCheckpoint(name: string): boolean {
  return PERHAPS.some((pattern) => pattern.test(name));
}

const SUFFIX = new RegExp(`(${ENTRIES.flatMap(({ suffix }) => suffix ?? []).join("|")})$`);

/** A checkpoint's contents path as people name it: the prefix of its files. */
export function prefixOf(path: string): string {
  return path.replace(SUFFIX, "");
}
