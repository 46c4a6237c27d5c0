// Presses keys in an explorer, one after the other's paint, and says how long each took, in ms.
async (explorer, keys) => {
  const treegrid = explorer.querySelector("[role=treegrid]");
  treegrid.focus();
  // A message posted in an animation frame is delivered after that frame is painted.
  const painted = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => resolve(performance.now());
        channel.port2.postMessage(null);
      });
    });
  const figures = [];
  for (const key of keys) {
    const start = performance.now();
    treegrid.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    figures.push([key, (await painted()) - start]);
  }
  const [first] = performance.getEntriesByName("ckpt-viz: payload to first paint").slice(-1);
  return { painted: figures, firstPaint: first.duration };
};
