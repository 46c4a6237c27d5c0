/** The engine's script: Python, by Pyodide, opens checkpoints without copying or sending them. */

/*! Pyodide: Mozilla Public License 2.0, https://github.com/pyodide/pyodide, unchanged */

import { whyWords } from "../basics/text";
import { archivedIn, unpacked } from "./archive";
import type { Message, Numbered, PageFile, Result, SiteFiles } from "./protocol";
import * as WORDS from "./strings";
import { unpackedSnappy, unpackedZstandard } from "./unpacking";

/** A Python object as JavaScript holds it. */
interface Held {
  toJs(): unknown;
  destroy(): void;
}

interface Stream {
  readonly read: (...args: readonly unknown[]) => number;
}

interface Python {
  readonly FS: {
    readonly filesystems: { readonly WORKERFS: { readonly stream_ops: { read: Stream["read"] } } };
    readonly ErrnoError: new (code: number) => Error;
    mkdirTree(path: string): void;
    writeFile(path: string, data: Uint8Array, options: { readonly canOwn: boolean }): void;
    mount(type: unknown, options: object, path: string): void;
    chdir(path: string): void;
  };
  pyimport(module: "ckpt_viz_page"): { start(): Session };
  pyimport(module: "site"): { getsitepackages(): { get(index: number): string } };
  toPy(value: unknown): unknown;
  readonly _module: { readonly HEAP8: Int8Array };
  registerJsModule(name: string, module: object): void;
}

type LoadPyodide = (options: object) => Promise<Python>;

interface Session {
  series(files: readonly string[]): string;
  open(show: string, paths: readonly string[]): Held;
  ask(question: string): Held;
}

/** The types of pages lack what only workers have. */
declare function importScripts(url: string): void;

interface Engine {
  readonly python: Python;
  readonly session: Session;
}

const DROPPED = "/dropped";
/** How often the page hears how much was read, in ms. */
const OFTEN = 100;

let base = "";
let site: SiteFiles = {};
/** What the engine needs only later, or has already. */
const NOT_AT_START = new Set(["engine/numpy.zip", "engine/worker.js"]);
let engine: Promise<Engine> | null = null;
let mounts = 0;

const fetchUnchecked = fetch;
let giveUp: (error: unknown) => void = () => {};
/** Rejected when a file does not come: Pyodide goes on without it, or waits for ever. */
const isIncomplete = new Promise<never>((_, reject) => {
  giveUp = reject;
});

/** What Pyodide asks for once its scripts run. */
const AHEAD = ["engine/pyodide.asm.wasm", "engine/python_stdlib.zip", "engine/pyodide-lock.json"];
const ahead = new Map<string, Promise<Response>>();

/** Pyodide, too, gets no file that is another one than this page was built with. */
globalThis.fetch = (address) => {
  const name = String(address).slice(base.length);
  const answer = ahead.get(name) ?? checked(name);
  ahead.delete(name);
  return answer;
};

async function checked(name: string): Promise<Response> {
  try {
    const file = site[name];
    if (file === undefined) {
      throw new Error(WORDS.notInSite);
    }
    const answer = await fetchUnchecked(base + name, { integrity: file[0] });
    loaded.add(name); // all of it: else nothing could be compared with its hash
    send({ type: "loaded", done: bytesOf(loaded), total: bytesOf(needed()) });
    return answer;
  } catch (error) {
    const named = new Error(`${name}: ${whyWords(error)}`, { cause: error });
    giveUp(named);
    throw named;
  }
}

const loaded = new Set<string>();
const needed = () =>
  Object.keys(site).filter((name) => name.startsWith("engine/") && !NOT_AT_START.has(name));
const bytesOf = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + (site[name]?.[1] ?? 0), 0);

const siteFile = async (name: string) => (await checked(name)).arrayBuffer();

async function runScript(name: string): Promise<void> {
  const bytes = await siteFile(name);
  const url = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
  importScripts(url);
  URL.revokeObjectURL(url);
}

const streamOf = (bytes: ArrayBuffer) => new Blob([bytes]).stream();

/** Python with the memory that it had in the build after all imports. */
async function start(): Promise<Engine> {
  const packages = siteFile("engine/packages.files").then((file) => archivedIn(streamOf(file)));
  const memory = siteFile("engine/memory.gz").then((file) => unpacked(streamOf(file)));
  const scripts = [runScript("engine/pyodide.js"), runScript("engine/pyodide.asm.js")];
  for (const name of AHEAD) {
    ahead.set(name, checked(name));
  }
  await Promise.all(scripts);
  const { loadPyodide } = globalThis as unknown as { readonly loadPyodide: LoadPyodide };
  const indexURL = `${base}engine/`;
  const python = await loadPyodide({ indexURL, env: { HOME: "/home" }, _loadSnapshot: memory });
  write(python, await packages);
  python.registerJsModule("ckpt_viz_worker", {
    tell: (done: number, total: number) => tell(done, total),
    fetchNow: (name: string) => fetchNow(name),
    unpackedSnappy,
    unpackedZstandard,
    hashOf: (name: string) => site[name]?.[0] ?? "",
  });
  countReads(python);
  Object.assign(globalThis, { heapBytes: () => python._module.HEAP8.length }); // benchmarks/page.py
  return { python, session: python.pyimport("ckpt_viz_page").start() };
}

/** Puts files where Python looks for packages. */
function write({ FS, pyimport }: Python, files: Awaited<ReturnType<typeof archivedIn>>): void {
  const directory = pyimport("site").getsitepackages().get(0);
  for (const [name, bytes] of files) {
    const path = `${directory}/${name}`;
    FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    FS.writeFile(path, bytes, { canOwn: true });
  }
}

/** The bytes of a file of the site, while Python waits: it asks for a package with `import`. */
function fetchNow(name: string): Uint8Array {
  const request = new XMLHttpRequest();
  request.open("GET", new URL(name, base), false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) {
    throw new Error(`${name}: ${request.status} ${request.statusText}`);
  }
  return new Uint8Array(request.response as ArrayBuffer);
}

let told = 0;
function tell(done: number, total: number): void {
  if (performance.now() - told > OFTEN || done === total) {
    told = performance.now();
    send({ type: "progress", done, total });
  }
}

/** Emscripten's number of the error EIO. */
const INPUT_ERROR = 29;

let bytesRead = 0;
/** Counts what is read. A file that was changed or removed since is an error of Python, no crash. */
function countReads({ FS }: Python): void {
  const operations = FS.filesystems.WORKERFS.stream_ops;
  const { read } = operations;
  operations.read = (...args) => {
    try {
      const count = read(...args);
      bytesRead += count;
      return count;
    } catch {
      throw new FS.ErrnoError(INPUT_ERROR);
    }
  };
}

function mount({ FS }: Python, files: readonly PageFile[]): void {
  const directory = `${DROPPED}/${++mounts}`;
  FS.mkdirTree(directory);
  const blobs = files.map(({ path, file }) => ({ name: path, data: file }));
  FS.mount(FS.filesystems.WORKERFS, { blobs }, directory);
  FS.chdir(directory);
}

async function done(request: Numbered): Promise<Result> {
  if (request.do === "start") {
    ({ base, site } = request);
    engine ??= Promise.race([start(), isIncomplete]);
    await engine;
    return { json: "{}", buffers: [] };
  }
  if (engine === null) {
    throw new Error(WORDS.notStarted);
  }
  const { python, session } = await engine;
  switch (request.do) {
    case "mount":
      mount(python, request.files);
      return { json: "{}", buffers: [] };
    case "series":
      return { json: session.series(python.toPy(request.files) as string[]), buffers: [] };
    case "open": {
      const [json, payload] = taken(session.open(request.show, python.toPy(request.paths) as []));
      return { json: json as string, buffers: [payload as Uint8Array] };
    }
    case "ask": {
      const [json, buffers] = taken(session.ask(request.question));
      return { json: json as string, buffers: buffers as Uint8Array[] };
    }
  }
}

/** A pair that Python returned, in JavaScript; Python forgets it. */
function taken(held: Held): readonly [unknown, unknown] {
  const pair = held.toJs() as [unknown, unknown];
  held.destroy();
  return pair;
}

addEventListener("message", async ({ data }: MessageEvent<Numbered>) => {
  const { id } = data;
  try {
    send({ type: "result", id, result: await done(data) });
  } catch (error) {
    send({ type: "failed", id, why: whyWords(error) });
  }
  send({ type: "read", bytes: bytesRead });
});

function send(message: Message): void {
  postMessage(message);
}
