/**
 * Graphviz as a file of the extension, for outputs without a kernel.
 *
 * `npm run build` puts the file beside this module, and the builder finds it there by its URL. With
 * the suffix .js, the builder would treat it as a module and include it in the extension's code.
 */
export async function graphviz(signal: AbortSignal): Promise<string> {
  const answer = await fetch(new URL("./graphviz.source", import.meta.url), { signal });
  if (!answer.ok) {
    throw new Error(`${answer.url}: no Graphviz there (${answer.status} ${answer.statusText})`);
  }
  return answer.text();
}
