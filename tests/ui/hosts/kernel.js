/** A page's connection to a kernel, which hosts of widgets share. */

import { KernelManager, ServerConnection } from "@jupyterlab/services";

const VIEW = "application/vnd.jupyter.widget-view+json";

/** Connects to the kernel with this id, or to a new one. */
export async function connect(id) {
  await fetch("/lab"); // gives the page the cookie that requests need
  const serverSettings = ServerConnection.makeSettings({ baseUrl: `${location.origin}/` });
  const manager = new KernelManager({ serverSettings });
  await manager.ready;
  const kernel = id
    ? manager.connectTo({ model: { id, name: "python3" } })
    : await manager.startNew({ name: "python3" });
  await kernel.info;
  return kernel;
}

/** Runs code; returns the text that it prints or the error, and the model of the last widget. */
export async function run(kernel, code) {
  let text = "";
  let view = null;
  const future = kernel.requestExecute({ code });
  future.onIOPub = ({ content, header: { msg_type: type } }) => {
    text += type === "stream" ? content.text : type === "error" ? content.traceback.join("\n") : "";
    view = content.data?.[VIEW]?.model_id ?? view;
  };
  await future.done;
  return { text, view };
}

/** What Python calls: `start` and `run`, in a page that shows widgets with `show`. */
export function host(makeShow) {
  let kernel;
  let show;
  window.host = {
    async start(id) {
      kernel = await connect(id);
      show = await makeShow(kernel, document.querySelector("#output"));
      return kernel.id;
    },
    async run(code) {
      const { text, view } = await run(kernel, code);
      if (view !== null) {
        await show(view);
      }
      return text;
    },
  };
}
