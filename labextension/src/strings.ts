/** What the view says, word by word: every text that stands by itself. */

export const outline = "Outline of the object graph";
export const drawing =
  "Drawing of the object graph; arrow keys move the selection, plus and minus zoom";
export const details = "Details of the selected node";
export const columns = {
  name: "name",
  role: "role",
  shape: "shape",
  dtype: "dtype",
  size: "size",
  state: "state",
} as const;
export const fit = "Fit the graph into view (0)";
export const zoomIn = "Zoom in (+)";
export const zoomOut = "Zoom out (−)";
export const nothingSelected = "Select a node to see what it is.";
/** What is shown: a graph, by its origin, or a comparison. */
export const kinds = {
  live: "live object",
  saved: "saved checkpoint",
  check: "restore check",
  diff: "diff a → b",
} as const;
export const alsoReached = "Also reached as";
export const children = "Children";
export const slots = "Slot variables";
export const loading = "Reading the graph…";
export const legend = "Roles";
export const bookkeeping = "Show what Keras tracks for itself, without a value below it";
export const problem = "problem";
export const valueMissing = "value missing";
export const notSaved = "Not saved";
export const notSavedHint =
  "TensorFlow does not follow these attributes; a checkpoint will lack what they hold.";
export const trainable = "trainable";
export const notTrainable = "not trainable";
export const collections = "in collections";
export const verdict = "Result of the comparison";
export const previous = "Previous ([ or Shift+F8)";
export const next = "Next (] or F8)";
export const listAll = "List all";
export const states = "Show nodes by state";
export const onlyProblems = "problems only";
export const onlyDifferences = "differences only";
export const onlyHint = "Show these nodes, and what holds them";
export const alsoAbout = "Also about";
export const below = "Below";
export const search = "Search (/)";
export const searchHint =
  "name, role:slot, size>1MB, is:shared, /regex/, or an error text of TensorFlow";
export const nextMatch = "Next match (n, in the box Enter)";
export const previousMatch = "Previous match (N, in the box Shift+Enter)";
export const filter = "filter";
export const filterHint = "Show what is found, and what holds it, alone";
export const noMatch = "nothing found";
export const otherPlace = "Go to the other place";
export const chunk = "part of a long list";
export const sharedHint = "Led to under more than one name; a goes through its parents";
export const overview = "Where the drawing stands in the whole; up and down move it";
export const focus = "Show this node and what is below it alone (f)";
export const neighbours = "Show what is one edge away, either way";
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
export const asking = "asking the kernel…";
export const showValues = "Show values";
export const showAgain = "Read again";
export const moreElements = "more";
export const accessor = "Python expression";
export const exportWord = "Export";
export const exportHint = "Hand the graph over as a file";
/** What the page draws; ckpt_viz/render/exports.json has what the kernel writes. */
export const drawings = { svg: "Drawing, SVG", png: "Drawing, PNG" } as const;
export const noPng =
  "The browser cannot draw a picture of this size; fold something, or take the SVG.";
export const noAnswer =
  "The kernel does not answer: it is busy, or gone. What is shown stays as it was.";
export const focusShort = "Focus";
export const neighboursShort = "Neighbours";
export const panes = "Parts of the explorer";
export const tabs = { outline: "Outline", drawing: "Graph", details: "Details" } as const;
export const textbook = "Textbook view";
export const textbookHint =
  "Draw what is visible with Graphviz and with every edge, as TensorFlow's guide does";
export const textbookDrawing =
  "Graphviz's drawing of what is visible; arrow keys move the selection, plus and minus zoom";
export const loadingGraphviz = "Loading Graphviz…";
export const drawingGraphviz = "Drawing with Graphviz…";
export const cancel = "Cancel";
export const cancelled = "Cancelled: nothing new is drawn.";
export const drawAgain = "Draw again";
export const loadedTooLate =
  "Graphviz did not arrive within 30 s: the kernel is busy or gone. Draw again once it is idle.";
export const drawnTooLate =
  "Graphviz did not finish within 10 s: fold some nodes away, or search with filter.";
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
export const before = "before these";
export const terms = { path: "path", key: "key", fullName: "full name" } as const;
export const counts = {
  nodes: ["node", "nodes"],
  below: ["node below", "nodes below"],
  objects: ["object", "objects"],
  slices: ["slice", "slices"],
} as const;
export const noDrawing = "The drawing is not on the page.";
export const help = "Keys (?)";
export const close = "Close";
export const keys = {
  "↑ ↓ Home End PgUp PgDn": "move",
  "→ ←": "open, enter; close, leave",
  "Space *": "open or close; open all beside it",
  Enter: "details",
  "/": "search",
  "n N": "next, previous match",
  "] [": "next, previous problem",
  f: "show what is below alone",
  s: "slot variables",
  a: "through the parents of a shared node",
  "c k": "copy name, checkpoint key",
  "0 + −": "fit, zoom; also Ctrl and wheel",
  Esc: "back to the notebook",
} as const;
export const workersForbidden =
  "This page forbids workers from Blobs (its Content-Security-Policy), which Graphviz needs.";
