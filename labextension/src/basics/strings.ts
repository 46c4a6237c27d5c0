/** All text that users read in the view. words.ts and signs.ts fill the gaps in sentences. */

export const outline = "Outline of the object graph";
export const drawing =
  "Drawing of the object graph; arrow keys move the selection, plus and minus zoom";
export const details = "Details of the selected node";
export const columns = {
  name: "name",
  role: "role",
  shape: "shape",
  dtype: "dtype",
  parameters: "parameters",
  size: "size",
  state: "state",
} as const;
export const measures = {
  change: "change",
  largest: "largest change",
  norm: "norm",
  mean: "mean",
  std: "std",
  min: "min",
  max: "max",
  zeros: "zeros",
  nan: "NaN",
  inf: "Inf",
} as const;
/** What measures mean whose names do not tell. */
export const measureHints: Readonly<Partial<Record<keyof typeof measures, string>>> = {
  change: "Size of the change, relative to the other side",
  largest: "Largest change of one element",
  norm: "Euclidean norm of the parameters",
  zeros: "Part of the elements that are zero",
};
export const colourBy = "Colour by";
export const nodeType = "node type";
export const colourHint = "Fill nodes by a measure of their values, which reads them";
export const needsValues = "This search needs the values, which were not read.";
export const readValues = "Read values";
export const readOn = "Read on";
export const readingValues = "Reading the values";
export const stopHint = "To stop, interrupt the kernel: what was read stays";
export const stop = "Stop";
export const zero = "zero";
export const andMore = "and more";
export const logScale = "(log)";
export const notANumber = "NaN";
export const infinite = "Inf";
export const histogramOf = (low: string, high: string) => `Histogram, ${low} … ${high}`;
export const parametersHint =
  "Elements of variables here and below, without optimizers and counters";
export const showAll = "Show all";
export const sortHint = "Sort by this column";
export const sizeHint =
  "Bytes of a node's own values; of an object, all values below with their slot variables";
export const inAll = "in all";
export const withSlots = "with its slot variables";
export const ribbon = "Parameters of the parts, in the order of the outline";
export const nearlyAll = "> 99 %";
export const summary = "In this graph";
export const variables = "variables";
export const including = "including";
export const noValues = "no values";
export const largest = "Most parameters";
export const nothingSelected = "Select a node to see what it is.";
/** What the view shows: a graph, by its origin, or a comparison. */
export const kinds = {
  live: "live object",
  saved: "saved checkpoint",
  check: "restore check",
  diff: "diff a → b",
} as const;
export const alsoReached = "Also reached as";
export const children = "Children";
export const flow = "Flow";
export const feeds = { input: "input", output: "output", gets: "gets", gives: "gives" } as const;
export const slots = "Slot variables";
export const loading = "Reading the graph…";
export const legend = "Roles and lines";
/** What the lines of a drawing mean, by their class. */
export const lines = { edge: "holds", call: "gives its result to" } as const;
export const bookkeepingShort = "Keras' own objects";
export const bookkeeping = "Show Keras' own objects without values";
export const problem = "problem";
export const valueMissing = "value missing";
export const notSaved = "Not saved";
export const notSavedHint =
  "TensorFlow does not track these attributes: no checkpoint holds their values.";
export const notTracked = "Not tracked";
export const notTrackedIn = (count: string) => `Not tracked in ${count}: no trained value is lost`;
export const notTrackedHint =
  "TensorFlow does not track these attributes, but no trained value is lost. They hold seeds, metrics, counters or a vocabulary, or the graph has their values elsewhere.";
/** What a training does to a variable. */
export const training = {
  trained: "trained",
  frozen: "frozen",
  never: "never trained",
  omitted: "trainable, but in no optimizer",
} as const;
export const frozenSign = "❄ frozen";
export const freezes = (count: string) =>
  `has trainable = False. Training leaves ${count} parameters there as they are.`;
export const collections = "in collections";
export const verdict = "Result of the comparison";
export const below = "Below";
export const search = "Search (/)";
export const searchHint =
  "name, role:slot, size>1MB, is:shared, /regex/, or an error text of TensorFlow";
export const suggestions = "Terms of a search";
/** What the fields of a search compare; search/fields.ts has the fields. */
export const fieldHints = {
  "role:": "variable, slot, layer, optimizer…",
  "path:": "the path in the outline, such as **/kernel",
  "key:": "the checkpoint key",
  "name:": "a local or full name",
  "dtype:": "float32, int*…",
  "shape:": "[*,768], [...,3], ()",
  "is:": "a property, such as shared",
  "size>": "bytes, such as 1MB",
  "params>": "elements, such as 1e6",
  "change>": "relative change, such as 5%",
  "largest>": "largest change of one element",
  "norm>": "Euclidean norm",
  "mean>": "mean of the elements",
  "std>": "standard deviation",
  "min>": "smallest element",
  "max>": "largest element",
  "zeros>": "part that is zero, such as 50%",
  "nan>": "number of NaNs",
  "inf>": "number of infinities",
} as const;
export const waitingQuery = "Press Enter to search";
export const nextMatch = "Next match (n, in the box Enter)";
export const previousMatch = "Previous match (N, in the box Shift+Enter)";
export const filter = "filter";
export const filterHint = "Show only the matches and the nodes above them";
export const noMatch = "nothing found";
export const restorePutsInto = "A plain restore puts the saved value into";
export const restoreTakesFrom = "A plain restore puts here the saved value of";
export const sameAgain = "the same";
export const chunk = "part of a long list";
export const group = "a group of layers";
export const anAttribute = "an attribute of";
export const overview = "Position in the whole drawing; up and down move it";
export const focus = "Show only this node and what is below it (f)";
export const unfocus = "Show the whole graph";
export const above = "Above";
export const resizeOutline = "Width of the outline";
export const resizeDetails = "Width of the details";
export const resizeHeight = "Height of the explorer";
export const fullWindow = "Full screen";
export const copy = "Copy";
export const copied = "copied";
export const name = "the name";
export const path = "the path";
export const key = "the checkpoint key";
export const fullName = "the full name";
export const expression = "the expression";
export const values = "these values";
export const asking = "reading…";
export const showValues = "Show values";
export const showAgain = "Read again";
export const moreElements = "more";
export const accessor = "Python expression";
export const moreItems = "More";
export const exportWord = "Export";
export const exportHint = "Save the graph as a file";
/**
 * The files that the page writes; ckpt_viz/graphs/render/exports.json has those that the kernel writes.
 */
export const drawings = { svg: "Drawing, SVG", png: "Drawing, PNG" } as const;
export const noPng =
  "The browser cannot draw a picture of this size. Close some nodes, or save it as SVG.";
export const noAnswer = "The kernel does not answer: it is busy or gone. The view has not changed.";
export const focusShort = "Focus";
export const panes = "Parts of the explorer";
export const tabs = { outline: "Outline", drawing: "Graph", details: "Details" } as const;
export const viewsOf = "View";
export const views = {
  table: {
    label: "Table",
    hint: "Where each value goes, a line for each part (t)",
  },
  layers: {
    label: "Graph",
    hint: "Layers by name; repeated blocks share a row",
  },
  objects: {
    label: "Object graph",
    hint: "Every object that TensorFlow tracks, by its local name",
  },
  guide: {
    label: "TensorFlow's guide",
    hint: "The visible objects and all their edges, drawn by Graphviz as in TensorFlow's guide",
  },
} as const;
export const tabsOfTable = { outline: "", drawing: "Table", details: "Details" } as const;
/** The table of a comparison. */
export const table = {
  label: "Where each value goes, a line for each part; arrow keys move the selection",
  columns: { restored: "restored", plain: "plain:", fixed: "fix:" },
  notes: {
    ofAll: (count: string, of: string) => `${count} of ${of}`,
    equal: (count: string, of: string) => `${count} of ${of} equal`,
  },
  asserts: "The asserts",
  staying: (count: string, of: string) => `${count} of ${of} stay in the file`,
  differing: (count: string, of: string) => `${count} of ${of} differ`,
  keeping: (count: string, of: string) => `${count} of ${of} keep their own`,
  selectLine: "Select a line to see why its values go there.",
  whereItGoes: "Where it goes",
  howItDiffers: "How it differs",
  moreProblems: (count: number) => (count === 1 ? "1 more reason" : `${count} more reasons`),
  restore: (count: number, of: number) =>
    count === of ? `Restore ${count} values` : `Restore ${count} of ${of} values`,
  restoreHint: "Restore these values in the program now, all or none (x)",
  undo: "Undo",
  undoHint: "Put back the values from before the restore (x)",
  working: "Restoring…",
  copyCode: "Copy the code",
  code: "Code",
  codeHint: "The same as code",
  withUs: "With ckpt-viz",
  withTensorFlow: "With TensorFlow alone",
  steps: "Step by step",
  whatIf: "What if…",
  soFar: "so far",
  byHowMuch: (size: string) => `By how much? Reads ${size}`,
  fromZero: "from 0",
  byChange: "Sort by change, the largest first; again: as saved",
  showWorst: (what: string) => `Show the ${what}`,
  onlyChanges: "Only changes",
  onlyChangesHint: "Leave out what needs no attention",
} as const;
export const errorText = "The text of the error";
export const code = "the code";
export const insertBelow = "Insert below";
export const insertHint = "Put this code into a new cell below";
export const message = "the message";
export const playHint =
  "Play the restore step by step, or show the verdicts of the check again (p)";
/** While a restore plays. */
export const plays = {
  part: "The restore, step by step",
  loading: "Asking for the steps of this restore…",
  needsKernel:
    "This page has no steps of the restore: a kernel has them. Run the cell again, or call cv.check().",
  broken: "The kernel sent steps that this page cannot read. Update ckpt-viz.",
  first: "First step (Home)",
  back: "Back (←)",
  forward: "Forward (→)",
  node: "To the next node (Shift+→)",
  problem: "To the next step at which something goes wrong (])",
  nextProblem: "next problem",
  question: "To the step of the next question (])",
  nextQuestion: "next question",
  play: "Play (Space)",
  pause: "Pause (Space)",
  speed: "Speed",
  close: "Close (Esc)",
  timeline: "Steps of the restore",
  soFar: "So far",
  bound: "bound",
  assigned: "values assigned",
  waiting: "waiting",
  inQueue: "in the queue",
  sameInTensorFlow: "The same in TensorFlow",
  showSource: "Show the source",
  queue: "Queue",
  queueHint: "the first goes next",
  queueEmpty: "empty",
  waits: "Waits",
  nothingWaits: "nothing",
  joins: "joins now",
  known: "known already",
  taken: "taken from the queue",
  valueAssigned: "value assigned",
  keys: "Keys while it plays",
  showRow: "Show its row",
} as const;
export const fates = {
  unseen: "not looked at",
  queued: "in the queue",
  bound: "bound",
  waits: "waits",
  forgotten: "forgotten",
  restored: "restored",
  failed: "fails",
} as const;
/** What a step does with its node. */
export const deeds = {
  bind: "bound",
  keep: "known already",
  defer: "waits",
  drop: "forgotten",
  gather: "its value now",
  repeat: "has values already",
  unused: "values unused",
  valueless: "its children now",
  "skip saver": "left out",
  create: "made",
  "defer slot": "waits",
  "drop slot": "forgotten",
  restore: "restored",
  fail: "fails",
} as const;
/** The action of each key while a restore plays. */
export const playKeys = {
  toggle: "play or pause",
  step: "step back, forward",
  node: "previous, next node",
  ends: "first, last step",
  problem: "next problem; in Predict first, the next question",
  close: "close",
} as const;
export const changeHint =
  "Change the program in thought, and see what the restore comes to then (e). Nothing touches the program.";
/** While someone changes the program of a check. */
export const changing = {
  part: "What if…",
  hint: "Type another name in the last column: a path moves a part, and no name removes it. Your program stays as it is.",
  edits: "Your edits",
  asCode: "Show as code",
  drop: (edit: string) => `Take back: ${edit}`,
  nameOf: (name: string) => `Name of ${name} in the program`,
  selectFirst: "Select a row first.",
  selectOne: "This row has several parts, or none of the program. Open it, and select one.",
  others: "Other edits",
  deeds: { insert: "Insert", build: "Build what waits", undo: "Undo" },
  hints: {
    insert: "Insert what only the checkpoint has, or a part like the selected one",
    build: "Build before the restore what waits for it",
    undo: "Undo the last edit",
  },
  method: (other: string, usual: string) => `${other}() for ${usual}()`,
  methodHint: "read() makes no save_counter, so one that was saved finds no object",
  partialHint:
    "Silence the warnings about saved values without an object. The asserts stay as they are.",
  reordered: "saved in another order",
  reorderedHint: "The program that saved had set its attributes in the opposite order",
  counts: { restored: "values restored", warnings: "warnings", steps: "steps" },
  passes: "passes",
  fails: "fails",
  raises: (error: string) => `raises ${error}`,
  sameResult: "The result is the same.",
  sameSteps: "All steps are the same.",
  firstStep: (number: string) => `Play from the first step that differs, ${number}`,
} as const;
/** Predict first: the questions of a restore. */
export const predicts = {
  mode: "Watch, or predict first",
  watch: "Watch",
  watchHint: "Watch the restore, without questions",
  first: "Predict first",
  firstHint: "Say what becomes of a node before the step that shows it",
  part: "Predict",
  goOn: "The next question comes before a step that decides. Press ] to go to it, or Space or → to watch the steps to it.",
  yours: "yours",
  right: "right",
  again: "Again",
  asked: "what becomes of it?",
} as const;
/** What the possible answers mean. */
export const outcomes = {
  "restored now": "the program has an object for it",
  waits: "until the program has one",
  forgotten: "nothing gets it, and nothing waits",
  error: "the restore raises",
} as const;
export const whatBecomesOf = (name: string) => `What becomes of ${name}?`;
export const chooseBy = (last: string) => `Choose with the keys 1 to ${last}.`;
export const doesPass = (name: string) => `Does ${name}() pass?`;
export const looksForNext = (name: string) => `TensorFlow looks for “${name}” next.`;
export const isRight = (right: string) => `Right: ${right}.`;
export const isWrong = (right: string) => `Not right. The right answer is: ${right}.`;
export const rightSoFar = (right: string, made: string) => `${right} of ${made} right so far`;
export const questionsInAll = (all: string) => (all === "1" ? "1 question" : `${all} questions`);
export const yoursAndRight = (yours: string, right: string) =>
  yours === right ? `Yours, and right: ${right}.` : `Yours: ${yours}. Right: ${right}.`;
export const scoreWords = (right: string, all: string) => `${right} of ${all} right.`;
export const toStep = (number: string) => `Step ${number}`;
export const boundTo = (word: string, name: string) => `${word}: ${name}`;
export const untilSet = (holder: string, name: string) => `until ${holder} has “${name}”`;
export const boundBelow = (done: string, of: string) => `${done} of ${of} bound below`;
export const workingOnFix = "Looking for the place of each saved value…";
export const unknownSource = "In this code, ckpt is the object that you checked.";
/** Edited copies of a checkpoint, of the selected row or of all matches. */
export const copies = {
  part: "Edited copies",
  ofMatches: (number: string) => (number === "1" ? "The match" : `All ${number} matches`),
  deeds: {
    one: {
      without: "Copy without this…",
      only: "Copy this alone…",
      renamed: "Rename…",
    },
    several: {
      without: "Copy without these…",
      only: "Copy with these alone…",
      renamed: "Rename…",
    },
  },
  hints: {
    without: "Code for a checkpoint without what you have selected",
    only: "Code for a checkpoint of what you have selected",
    renamed: "Code for a checkpoint in which what you have selected has another name",
  },
  newName: (name: string) => `New name of ${name}`,
  newNames: "New name of each",
  asking: "Asking for the code…",
  inserted: "The code is in the cell below. Run it to see what changes; it writes no file.",
  notInserted: "This code shows what changes. It writes no file.",
  close: "Close",
} as const;
export const textbookDrawing =
  "Graphviz's drawing of the visible nodes; arrow keys move the selection, plus and minus zoom";
export const loadingGraphviz = "Loading Graphviz…";
export const drawingGraphviz = "Drawing with Graphviz…";
export const partOfPicture =
  "This is a part: the whole picture would be too small to read. Close nodes, or focus on one (f).";
export const cancel = "Cancel";
export const cancelled = "Cancelled: the drawing has not changed.";
export const drawAgain = "Draw again";
export const loadedTooLate =
  "Graphviz did not arrive within 30 s: the kernel is busy or gone. Draw again once it is idle.";
export const drawnTooLate =
  "Graphviz did not finish within 10 s. Close some nodes, or search with the filter on.";
export const root = "(root)";
export const node = "node";
export const saver = "registered saver";
export const savedIn = "saved in";
export const attribute = "attribute";
export const slot = "slot variable";
export const ofVariable = "of";
export const forOptimizer = "for optimizer";
export const declared = "declared by the checkpoint";
export const inferred = "inferred by";
export const printedName = "the name that TensorFlow prints";
export const terms = {
  path: "path",
  printed: "printed as",
  key: "key",
  fullName: "full name",
} as const;
export const counts = {
  broken: ["node cannot be read", "nodes cannot be read"],
  unsaved: ["object has values that are not saved", "objects have values that are not saved"],
  folded: ["hidden object without values", "hidden objects without values"],
  slots: ["slot variable", "slot variables"],
  alike: ["alike", "alike"],
  variables: ["variable", "variables"],
  layers: ["layer", "layers"],
  nodes: ["node", "nodes"],
  below: ["node below", "nodes below"],
  matchesBelow: ["match below", "matches below"],
  objects: ["object", "objects"],
  slices: ["slice", "slices"],
  lines: ["line", "lines"],
  children: ["child", "children"],
  values: ["value", "values"],
  matches: ["match", "matches"],
  nodesAre: ["node is", "nodes are"],
  edgesAre: ["edge is", "edges are"],
  edges: ["edge", "edges"],
} as const;
export const countsOfFix = { moreLines: ["more line", "more lines"] } as const;
export const noDrawing = "The drawing is not on the page.";
export const help = "Keys (?)";
export const close = "Close";
/** The action of each key. */
export const keys = {
  move: "move",
  enter: "open, enter; close, leave",
  open: "open or close; open all beside it",
  details: "details",
  search: "search",
  matches: "next, previous match",
  changes: "next, previous change",
  tick: "take a guess",
  fix: "to the button that restores or copies the code; Enter presses it",
  table: "table or graph",
  play: "play the restore step by step",
  change: "change the program of a check",
  focus: "show only this node and what is below it",
  copy: "copy name, checkpoint key",
  copies: "copy without the selected row, with it alone, renamed",
  copiesOfMatches: "the same for all matches",
  zoom: "fit, zoom; also Ctrl and wheel",
  help: "these keys",
  leave: "back to the notebook",
} as const;
/** The parts of the help: their titles, and what of the keys is in each. */
export const keyGroups = {
  moving: "Move",
  finding: "Find",
  showing: "Show",
  checking: "A check",
  copying: "Copy",
} as const;
export const signsOfStates = "Signs";
/** The label on the key, if it differs from the key's name in a page. */
const keyNames: Readonly<Partial<Record<string, string>>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowRight: "→",
  ArrowLeft: "←",
  PageUp: "PgUp",
  PageDown: "PgDn",
  " ": "Space",
  "-": "−",
  Escape: "Esc",
  Insert: "Ins",
};
/** A key as people know it, also one with others: Shift+←. */
export const keyLabel = (key: string) =>
  key
    .split("+")
    .map((one) => keyNames[one] ?? one)
    .join("+");
export const workersForbidden =
  "Graphviz needs workers from Blobs, which this page's Content-Security-Policy forbids.";

// Names for nodes that have no name of their own.
export const rootWord = "root";
export const optimizerWord = "optimizer";
export const valueWord = "value";
/** A size that a layer takes or makes whatever it is, such as the length of a sequence. */
export const anySize = "any";
export const inNone = (amount: string) => `${amount}, in no checkpoint`;
export const heldAlone = (variables: string) => `${variables}, held by the optimizer alone`;
export const objectWord = "object";
export const scalar = "scalar";
export const unreachable = (id: number) => `(unreachable node ${id})`;

// Sentences with gaps; a count arrives as words.
export const elementsWith = (what: string, count: string) => `${what} in ${count} elements`;
export const unreadTensors = (count: string) => `${count} not read`;
export const unreadableTensors = (count: string) => `${count} unreadable`;
export const doneOf = (done: string, total: string) => `${done} of ${total}`;
export const place = (count: string, of: string) => `${count} of ${of}`;
export const inAllLines = (more: string) => `… and ${more}; Copy has them all`;
export const stepOf = (number: string, of: string) => `step ${number} of ${of}`;
export const times = (count: string) => `×${count}`;
export const more = (count: string) => `… and ${count} more`;
export const mistake = (character: string, expected: string) =>
  `At character ${character}: expected ${expected}`;
export const graphvizBroken = (why: string) => `Graphviz does not run in this page: ${why}`;
export const graphvizFailed = (why: string) =>
  `Graphviz failed (${why}). Close some nodes, or search with the filter on.`;
export const tooMany = (found: string, most: string) =>
  `${found} visible; this drawing shows at most ${most}. Close some nodes, or search with the filter on.`;

// Messages about missing things.
export const notInNotebook =
  "The notebook lacks this explorer's data, and no kernel has it. Run the cell again.";
export const notInKernel = (name: string) => `The kernel has no ${name}.`;
export const nothingSent = "The kernel sent nothing.";
export const graphvizMissing = "This site lacks its copy of Graphviz.";
