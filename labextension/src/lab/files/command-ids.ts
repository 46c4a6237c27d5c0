/** The ids of JupyterLab's commands for checkpoints in files; `commands` says what each does. */
export const COMMANDS = {
  open: "ckpt-viz:open",
  openSelected: "ckpt-viz:open-selected",
  compare: "ckpt-viz:compare",
  compareSelected: "ckpt-viz:compare-selected",
  compareWith: "ckpt-viz:compare-with",
  history: "ckpt-viz:history",
  historySelected: "ckpt-viz:history-selected",
  refresh: "ckpt-viz:refresh",
} as const;
