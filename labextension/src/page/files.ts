/** The files of a drop or of a dialog, with their paths; folders are walked. */

import type { PageFile } from "./protocol";

/** The most files of a drop: a folder with more has other things in it. */
export const MOST_FILES = 20_000;

export class TooManyFiles extends Error {}

/** The files that a person dropped. Must be called during the event: later, the list is empty. */
export async function droppedFiles(items: DataTransfer): Promise<readonly PageFile[]> {
  const entries = [...items.items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  const loose = [...items.files];
  return entries.length === 0 ? chosenFiles(loose) : walked(entries);
}

/** The files that a person chose in a dialog. */
export function chosenFiles(files: Iterable<File>): readonly PageFile[] {
  const chosen = [...files];
  if (chosen.length > MOST_FILES) {
    throw new TooManyFiles();
  }
  return chosen.map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

async function walked(entries: readonly FileSystemEntry[]): Promise<readonly PageFile[]> {
  const files: PageFile[] = [];
  const waiting = [...entries];
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    if (isDirectory(entry)) {
      for await (const inner of entriesIn(entry)) {
        waiting.push(inner);
        if (waiting.length + files.length > MOST_FILES) {
          throw new TooManyFiles();
        }
      }
    } else if (entry.isFile) {
      const file = await fileOf(entry as FileSystemFileEntry);
      if (file !== null) {
        files.push({ path: entry.fullPath.replace(/^\/+/, ""), file });
      }
    }
  }
  return files;
}

const isDirectory = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry =>
  entry.isDirectory;

/** A browser gives the entries of a directory in pieces, until there is an empty one. */
async function* entriesIn(directory: FileSystemDirectoryEntry): AsyncGenerator<FileSystemEntry> {
  const reader = directory.createReader();
  for (;;) {
    const piece = await new Promise<readonly FileSystemEntry[]>((resolve) =>
      reader.readEntries(resolve, () => resolve([])),
    );
    if (piece.length === 0) {
      return;
    }
    yield* piece;
  }
}

/** Null for a file that was removed, or that may not be read. */
function fileOf(entry: FileSystemFileEntry): Promise<File | null> {
  return new Promise((resolve) => entry.file(resolve, () => resolve(null)));
}

/**
 * The files of two sides in one folder, and for each side how its paths begin there. The sides keep
 * their own paths if no path is in both.
 */
export function together(
  before: readonly PageFile[],
  after: readonly PageFile[],
): readonly [readonly PageFile[], string, string] {
  const own = new Set(before.map(({ path }) => path));
  if (!after.some(({ path }) => own.has(path))) {
    return [[...before, ...after], "", ""];
  }
  const below = (files: readonly PageFile[], folder: string) =>
    files.map(({ path, file }) => ({ path: folder + path, file }));
  return [[...below(before, BEFORE), ...below(after, AFTER)], BEFORE, AFTER];
}

const BEFORE = "before/";
const AFTER = "after/";
