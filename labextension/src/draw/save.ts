/** An object URL must stay valid until the browser has started to save the file, in ms. */
const LIFE = 60_000;

/** Lets the browser save a file. */
export function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), LIFE);
}
