/**
 * A frame of an output, as Colab has one: apart from the notebook, with the states of models and one
 * channel of messages for each, and Jupyter's own manager of widgets for pages (`html-manager`).
 */

import { host } from "./kernel";

const required = (...names) =>
  new Promise((resolve, reject) =>
    window.requirejs(names, (...modules) => resolve(modules), reject),
  );

/** A channel of messages, in the words that widgets use. It keeps those that come too early. */
function channel(comm) {
  const early = [];
  comm.onMsg = (message) => early.push(message);
  return {
    comm_id: comm.commId,
    target_name: comm.targetName,
    open: () => "",
    close: () => "",
    on_close: () => {},
    on_msg(callback) {
      comm.onMsg = callback;
      early.splice(0).forEach(callback);
    },
    send(data, callbacks, metadata, buffers) {
      const future = comm.send(JSON.parse(JSON.stringify(data)), metadata, buffers);
      future.done.then(() =>
        callbacks?.iopub?.status?.({ content: { execution_state: "idle" } }),
      );
      return future.msg.header.msg_id;
    },
  };
}

host(async (kernel, output) => {
  const [{ HTMLManager }, { put_buffers: putBuffers }] = await required(
    "@jupyter-widgets/html-manager",
    "@jupyter-widgets/base",
  );
  window.requirejs.config({ paths: { anywidget: "/hosts/anywidget" } });
  const opened = new Map();
  kernel.registerCommTarget("jupyter.widget", (comm, { content, buffers }) => {
    const { state, buffer_paths: paths } = content.data;
    putBuffers(state, paths ?? [], buffers ?? []);
    opened.set(comm.commId, { state, comm: channel(comm) });
  });

  class FrameManager extends HTMLManager {
    async get_model(id) {
      if (this.has_model(id)) {
        return super.get_model(id);
      }
      const { state, comm } = opened.get(id);
      const described = {
        model_id: id,
        model_name: state._model_name,
        model_module: state._model_module,
        model_module_version: state._model_module_version,
        comm,
      };
      return this.new_model(described, state);
    }
  }
  const manager = new FrameManager({ loader: async (name) => (await required(name))[0] });
  return async (id) => {
    const view = await manager.create_view(await manager.get_model(id));
    await manager.display_view(view, output);
  };
});
