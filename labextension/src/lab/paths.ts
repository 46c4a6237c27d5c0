/** What the names of files tell: which are likely a checkpoint's. Their content decides. */

/** Names that checkpoints usually have; others with these suffixes belong to git, faiss, Unity. */
const USUAL = "(ckpt|model|variables|checkpoint|weights)";

/** Patterns for names of files, as JupyterLab's file types have them. */
export const PATTERNS = {
  index: `${USUAL}.*\\.index$`,
  shard: "\\.data-[0-9]{5}-of-[0-9]{5}$",
  state: "^checkpoint$",
  meta: `${USUAL}.*\\.meta$`,
  savedModel: "^saved_model\\.pb(txt)?$",
} as const;

/** Also what only might be one: it is offered, and says so if it is none. */
const PERHAPS = [/\.index$/, /\.meta$/, ...Object.values(PATTERNS).map((one) => new RegExp(one))];

export function mayBeCheckpoint(name: string): boolean {
  return PERHAPS.some((pattern) => pattern.test(name));
}

/** A checkpoint's contents path as people name it: the prefix of its files. */
export function prefixOf(path: string): string {
  return path.replace(/\.(index|meta|data-[0-9]{5}-of-[0-9]{5})$/, "");
}
