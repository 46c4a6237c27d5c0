/** The widget host of VS Code's notebooks: its own bundle, loaded as its notebooks do. */

import { host } from "./kernel";

host((kernel, output) => {
  window.vscIPyWidgets8.load();
  const loader = {
    widgetsRegisteredInRequireJs: new Set([
      "@jupyter-widgets/base",
      "@jupyter-widgets/controls",
      "@jupyter-widgets/output",
    ]),
    loadWidgetScriptsRequired: true,
    // The extension finds the script in the environment of the kernel.
    async loadWidgetScript(name) {
      window.requirejs.config({ paths: { [name]: `/hosts/${name}` } });
    },
    errorHandler: (...parts) => console.error("widget", ...parts.map(String)),
    successHandler: () => {},
  };
  const manager = new window.vscIPyWidgets.WidgetManager(kernel, output, loader, () => {});
  return async (id) => {
    const view = await manager.create_view(await manager.get_model(id));
    await manager.display_view(null, view, { node: output });
  };
});
