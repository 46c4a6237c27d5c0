/**
 * Prepares the packages of the page for its engine:
 * `node compile.mjs SOURCES.zip COMPILED.zip [MEMORY.gz]`.
 *
 * Pyodide itself compiles, because a compiled module fits one version of Python alone. The archive
 * has no sources. Then Pyodide imports all that opens a checkpoint, and stores its memory, with
 * which the page starts in a third of the time. The same sources give the same bytes.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";

const COMPILE = `
import io, os, py_compile, zipfile
sources, compiled = zipfile.ZipFile("/sources.zip"), io.BytesIO()
with zipfile.ZipFile(compiled, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name in sorted(sources.namelist()):
        data = sources.read(name)
        if name.endswith(".py"):
            with open("/tmp/source.py", "wb") as file:
                file.write(data)
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile("/tmp/source.py", "/tmp/compiled.pyc", name, True, 0, mode)
            with open("/tmp/compiled.pyc", "rb") as file:
                name, data = name + "c", file.read()
        archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
compiled.getvalue()
`;

// The picture of a memory would differ at each build by its times and by what is random.
let milliseconds = Date.UTC(2026, 0);
Date.now = () => milliseconds++;
crypto.getRandomValues = (array) => array.fill(7);

const [sources, target, memory] = process.argv.slice(2);
try {
  const compiler = await loadPyodide();
  compiler.FS.writeFile("/sources.zip", new Uint8Array(readFileSync(sources)));
  const compiled = compiler.runPython(COMPILE).toJs();
  writeFileSync(target, compiled);
  if (memory !== undefined) {
    const python = await loadPyodide({ _makeSnapshot: true, env: { HOME: "/home" } });
    const extractDir = python.pyimport("site").getsitepackages().get(0);
    python.unpackArchive(compiled, "zip", { extractDir });
    python.runPython("import ckpt_viz_page; ckpt_viz_page.prepare()");
    writeFileSync(memory, gzipSync(python.makeMemorySnapshot(), { level: 9 }));
  }
} catch (error) {
  console.error(`${error}`.slice(-2_000)); // Node itself would also print the engine's source
  process.exit(1);
}
