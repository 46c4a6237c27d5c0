import type { Drag } from "@lumino/dragdrop";
import type { Widget } from "@lumino/widgets";

/** What JupyterLab's file browser drags: a list of contents paths. */
const PATHS = "application/x-jupyter-icontents";
const OVER = "ckpt-viz-drop";

/**
 * Calls back after a drop of paths on a widget, with the first path and the zone of the drop. The
 * zone is the whole widget, or a part of it.
 */
export function acceptPaths(
  widget: Widget,
  call: (path: string, zone: HTMLElement) => void,
  zoneOf: (target: Element) => HTMLElement | null = () => widget.node,
): void {
  const { node } = widget;
  const listener = (event: Event) => {
    const drag = event as Drag.Event;
    const zone = zoneOf(event.target as Element);
    for (const marked of [node, ...node.querySelectorAll(`.${OVER}`)]) {
      marked.classList.remove(OVER);
    }
    if (zone === null || !drag.mimeData.hasData(PATHS)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    zone.classList.toggle(OVER, event.type === "lm-dragenter" || event.type === "lm-dragover");
    // The file browser proposes "move" and cancels the drop for any other action.
    drag.dropAction = drag.proposedAction;
    if (event.type === "lm-drop") {
      const [path] = drag.mimeData.getData(PATHS) as readonly string[];
      if (path !== undefined) {
        call(path, zone);
      }
    }
  };
  const types = ["lm-dragenter", "lm-dragleave", "lm-dragover", "lm-drop"];
  for (const type of types) {
    node.addEventListener(type, listener);
  }
  widget.disposed.connect(() => {
    for (const type of types) {
      node.removeEventListener(type, listener);
    }
  });
}
