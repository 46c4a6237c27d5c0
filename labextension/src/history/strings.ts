/** All text that users read in the view of a history. */

import signs from "../../../ckpt_viz/graphs/render/signs.json";
import { countWords, formatCount } from "../basics/text";

export const BROKEN = signs.severities.error.glyph;
export const OTHER = signs.states.shape.glyph;
const DELTA = signs.states.value.glyph;

export const view = "History of checkpoints";
export const strip = "Checkpoints; arrow keys move b, with Shift a";
export const table = "Variables; arrow keys select a row";
export const details = "Details of the selected variable";
export const loading = "Reading the history…";
export const order = "Order of the rows";
export const orders = {
  tree: "Tree order",
  largest: "Largest change first",
  layer: "By layer",
} as const;
export const search = "Filter by name (/)";
export const searchHint = "name, is:nan, change>10%";
export const computedFirst = "changes that were computed; press Compute a → b";
export const oneOf = (known: string) => `one of ${known}`;
export const mistake = (character: number, expected: string) =>
  `At character ${character}: expected ${expected}`;
export const columns = {
  name: "variable",
  shape: "shape",
  heat: "change at each save",
  norm: "norm over time",
  change: "a → b, relative",
  spread: "spread of the members",
  max: `max |${DELTA}|`,
  norms: "norm a → b",
} as const;
export const normsOfMembers = "norm of each";
export const distanceColumn = "distance to the mean";
export const histogram = "Values of a and b";
export const statistics = {
  l2: "norm",
  mean: "mean",
  std: "std",
  min: "min",
  max: "max",
  zeros: "zeros",
  nan: "NaN",
  inf: "Inf",
} as const;
export const path = "Restores by this path";
export const name = "Restores by this name";
export const keyWhat = "the checkpoint key";
export const compute = "Compute a → b";
export const computing = "Computing a → b…";
export const boundsNote =
  "The history has the changes from the checkpoint before and from the first one. " +
  "For this a and b, ≥ is the least change that the norms allow.";
export const computedNote = "a and b were read again: these changes are exact.";
export const goToNaN = "Go to the first NaN (n)";
export const goToInf = "Go to the first Inf (n)";
export const nothingFound = "No variable has this name or property.";
export const nothingSelected = "Select a row to see its values.";
export const equal = "equal, bit by bit";
export const notInA = "+ not in a";
export const notInB = "− not in b";
export const inNeither = "in neither";
export const reshaped = `${OTHER} other shape or dtype`;
export const gone = "deleted";
export const goneHint = "deleted since it was read";
export const damaged = `${BROKEN} cannot be read`;
export const unread = "? not read";
export const waiting = "…";
export const fromZero = "from 0";
export const fromNearZero = "from ≈ 0";
export const ofRoot = "of the root";
export const where = "Where it changed,";
export const whereMembers = "Where a and b differ,";
export const difference = "|b − a|";
export const whereNeedsKernel =
  "A running kernel can show where it changed: it reads both tensors.";
export const rows = "rows";
export const columnsOfMatrix = "columns";
export const slotsToo = "The values that the optimizer keeps for it are not finite either.";
export const copiedCode = "Copied.";
export const copiedUnnamed = "Copied. Put your name for the checkpoint into it.";
export const exportWord = "Export ▾";
export const exportHint = "Save the history as a file";
export const exports = {
  json: "JSON",
  csv: "Table, CSV",
  html: "Picture, HTML",
} as const;
export const scalar = "scalar";
export const legendChange = "change at a save";
export const legendSpread = "distance to the mean of the members";
export const logScale = "of the norm, log scale";
export const legend = { equal: "equal", bad: "NaN or Inf", first: "new" } as const;
export const keys = {
  b: "move b",
  a: "move a",
  alarm: "first NaN",
} as const;
export const noHistogram = "no histogram";
export const asking = "reading…";
export const object = "the object";
export const noHistory = "This is no history of ckpt-viz: ";

export const checkpoints = (count: number) => countWords(count, "checkpoint", "checkpoints");
export const members = (count: number) => countWords(count, "member", "members");
export const step = (count: number) => `step ${formatCount(count)}`;
export const variables = (shown: number, all: number) =>
  shown === all
    ? countWords(all, "variable", "variables")
    : `${formatCount(shown)} of ${countWords(all, "variable", "variables")}`;
export const states = (count: number, isShown: boolean) =>
  `${isShown ? "Hide" : "Show"} ${countWords(count, "value of optimizers", "values of optimizers")}`;
export const bad = (kind: "NaN" | "Inf", count: number) =>
  `${kind} in ${countWords(count, "variable", "variables")}`;
export const elements = (kind: "NaN" | "Inf", count: number) =>
  `${kind} in ${countWords(count, "element", "elements")}`;
export const atLeast = (share: string) => `≥ ${share}`;
export const changedBy = (title: string, share: string) => `${title}: changed by ${share}`;
export const apartBy = (title: string, share: string) => `${title}: ${share} from the mean`;
export const isAs = (title: string, what: string) => `${title}: ${what}`;
export const range = (first: string, last: string) => `${first} … ${last}`;
export const normWords = (first: string, last: string) => `norm ${first} to ${last}`;
export const distance = (share: string) => `a and b differ by ${share} of the mean's norm.`;
export const maxAt = (max: string, at: string) => `max |${DELTA}| ${max} at ${at}`;
export const relativeChange = (share: string) => `relative change ${share}`;
export const legendRange = (low: string, high: string, isCut: boolean) =>
  `${low} … ${high}${isCut ? " and more" : ""}`;
export const inCheckpoint = (title: string) => `In ${title}`;
export const brokenElements = (kind: "NaN" | "Inf", count: number, all: number) =>
  `${kind} in ${formatCount(count)} of ${countWords(all, "element", "elements")}`;
export const lastWhole = (title: string) => `${title} is the last whole checkpoint before it.`;
export const insertRestore = (title: string) => `Insert restore of ${title}`;
export const copyRestore = (title: string) => `Copy restore of ${title}`;
export const readBoth = (bytes: number) =>
  `Read both tensors, ${formatCount(Math.round(bytes / 1e6))} MB each`;
export const whereWords = (high: string, rule: string) =>
  `Map of the change, from 0 to ${high}: ${rule}`;
export const mean = (mean: string) => `mean ${mean}`;
export const notFinite = (count: number) =>
  `${countWords(count, "element is", "elements are")} NaN or infinite`;
export const leftOut = (count: number) =>
  `The change leaves out ${countWords(count, "element that is", "elements that are")} NaN or infinite in a or b.`;
export const othersChange = (share: string) => `The others changed by ${share}.`;
export const toOrFromBroken = (count: number) =>
  `${countWords(count, "element", "elements")} changed to or from NaN or infinity`;
export const without = (count: number) =>
  `without ${countWords(count, "element", "elements")} NaN or infinite here or before`;
export const layerWords = (count: number, largest: string) =>
  `${countWords(count, "variable", "variables")} · ${largest}`;
export const largestChange = (share: string) => `largest change ${share}`;
export const version = (found: string) => `expected version 1, found ${found}`;
export const missing = (name: string) => `${name} is missing or malformed`;
export const cellStates: Readonly<Record<string, string>> = {
  first: "new",
  equal: "equal",
  reshaped: "other shape or dtype",
  absent: "not in this checkpoint",
  damaged: "cannot be read",
  unread: "not read",
  waiting: "not read yet",
  changed: "changed",
};
