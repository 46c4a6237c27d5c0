/**
 * Graphviz as a file of the extension, for outputs without a kernel.
 *
 * `npm run build` puts the file beside this module, where the builder finds it by its URL. Were it
 * called .js, the builder would take it for a module and put it inside the extension.
 */
export async function graphviz(signal: AbortSignal): Promise<string> {
  const answer = await fetch(new URL("./graphviz.source", import.meta.url), { signal });
  if (!answer.ok) {
    throw new Error(`${answer.url}: no Graphviz there (${answer.status} ${answer.statusText})`);
  }
  return answer.text();
}
