/** All text that users read on the page; that of the explorer is in ../strings.ts. */

export const product = "ckpt-viz";
export const subtitle = "look into a TensorFlow checkpoint";
export const nothingUploaded = "Nothing is uploaded.";
export const whyNot = "This page reads the files itself.";
export const worksOffline = "It works offline, too.";
export const policy =
  "The browser lets this page connect to its own site alone, and this site takes nothing in";
export const dark = "Dark";
export const light = "Light";
export const docs = "Docs";
export const install = "pip install ckpt-viz";

export const lookInto = "Look into one";
export const lookHint = "a file, several files, or a folder";
export const dropHere = "Drop a checkpoint here";
export const dropHint =
  "ckpt-40.index and ckpt-40.data-00000-of-00001 belong together: drop both, or their folder";
export const chooseFiles = "Choose files…";
export const chooseFolder = "Choose a folder…";
export const compareTwo = "Compare two";
export const compareHint = "what changed, or what a restore would do";
export const before = "before";
export const beforeHint = "the older checkpoint, or the one to restore";
export const after = "after";
export const afterHint = "the newer one, or that of the program as it is now";
export const choose = "Choose…";
export const opens =
  "Opens checkpoints of TensorFlow 1 and 2, SavedModels, .keras, .weights.h5, .h5, and directories of Orbax.";
export const withoutData =
  "The objects of a checkpoint are in its first data file. Without it, you see names and shapes.";
export const pasteTitle = "Or paste an error message";
export const pasteHint = "Unresolved object in checkpoint, NotFoundError: Key …, a whole traceback";
export const examples = "Examples";
export const examplesHint = "part of this page; press the number";
export const compare = "compare";
export const history = "history";
export const check = "check";

export const reading = (name: string) => `Reading ${name} …`;
export const readingAll = "Reading the checkpoint …";
export const loaded = (done: number, total: number) => `${millions(done)} of ${millions(total)} MB`;
const millions = (bytes: number) => Math.round(bytes / 1e6);
export const starting = "Starting Python in this page …";
export const cancel = "Cancel";
export const cancelled = "Cancelled: nothing was read.";
export const close = "close";
export const dropSecond = "Drop a second one here to compare";
export const swap = "Swap";
export const checkpoint = "Checkpoint";
export const showsHint = "What to show of the two";
export const changed = "What changed";
export const restore = "What a restore would do";
export const rehearse = "Rehearse a restore";
export const rehearseHint =
  "Check a program that would save exactly this, and change that program: rename, remove, insert";
export const asGraph = "Back to the checkpoint";
export const seeHistory = (count: number) => `History of ${count} checkpoints`;
export const filesOf = (files: number, size: string) =>
  `${files} ${files === 1 ? "file" : "files"}, ${size}`;
export const readSoFar = (size: string) => `${size} read so far, nothing uploaded`;
export const notHere = (names: string, count: number) =>
  `${names} ${count === 1 ? "is" : "are"} not here.`;
export const noValuesThere = "Values, and perhaps the graph of objects, are not shown.";
export const addFile = "Add the file…";
export const orDrop = "or drop it anywhere on this page";

export const tooMany = (most: string) =>
  `This folder has more than ${most} files. Choose the folder of the checkpoint alone.`;
export const noFiles = "This drop has no files. Drop files or a folder from the file manager.";
export const noWebAssembly =
  "This browser runs no WebAssembly, or its settings forbid it. Use a current Firefox, Chrome, Edge or Safari, or run: pip install ckpt-viz";
export const noEngine = (why: string) =>
  `Python could not start in this page: ${why}. Load the page again; without a network, open it once with one.`;

export const notInSite = "this site has no such file";
export const notStarted = "The engine was not started.";
