import { LabIcon } from "@jupyterlab/ui-components";
import palette from "../../../ckpt_viz/graphs/render/palette.json";

const { edge, object, slot, variable } = palette.icon;

/** A root, and below it a variable with its slot, in the explorer's shapes and colours. */
export const checkpointIcon = new LabIcon({
  name: "ckpt-viz:checkpoint",
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path fill="none" stroke="${edge}" stroke-width="1.5" d="M8 6h4v12h3M12 6h3"/>
  <rect class="jp-icon3 jp-icon-selectable" x="2" y="3" width="7" height="6" rx="1" fill="${object}"/>
  <rect class="jp-icon-selectable" x="14" y="3.5" width="8" height="5" rx="2.5" fill="${variable}"/>
  <rect x="14.5" y="14.5" width="7" height="7" fill="none" stroke="${slot}" stroke-width="1.8" stroke-dasharray="2.4 1.2"/>
</svg>`,
});
