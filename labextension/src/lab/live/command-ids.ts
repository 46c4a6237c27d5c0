/** The ids of JupyterLab's commands for live objects; `commands` says what each does. */
export const COMMANDS = {
  panel: "ckpt-viz:live-objects",
  show: "ckpt-viz:show-live",
  check: "ckpt-viz:check-live",
  insert: "ckpt-viz:insert-code",
} as const;
