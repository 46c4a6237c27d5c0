/**
 * The page's service worker: keeps all files of the page after the first visit, so that it opens
 * without a network. The build puts `FILES` in front: the hash of each file by its name.
 */

declare const FILES: Readonly<Record<string, string>>;
/** The hash of all of them: other files, another cache. */
declare const EDITION: string;

/** What of the service worker's scope is used here; the types of pages lack it. */
interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Extendable {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

const NAME = `ckpt-viz ${EDITION}`;

async function keepAll(): Promise<void> {
  const cache = await caches.open(NAME);
  for (const [name, integrity] of Object.entries(FILES)) {
    await cache.put(name, await fetch(name, { integrity, cache: "no-cache" }));
  }
}

async function forgetOthers(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith("ckpt-viz ") && name !== NAME) {
      await caches.delete(name);
    }
  }
}

/** Files that were kept come from there: they are those that this edition was built with. */
async function answered(request: Request): Promise<Response> {
  const cache = await caches.open(NAME);
  return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request);
}

addEventListener("install", (event) => (event as Extendable).waitUntil(keepAll()));
addEventListener("activate", (event) => (event as Extendable).waitUntil(forgetOthers()));
addEventListener("fetch", (event) => {
  const { request } = event as Fetching;
  if (request.method === "GET" && new URL(request.url).origin === location.origin) {
    (event as Fetching).respondWith(answered(request));
  }
});
