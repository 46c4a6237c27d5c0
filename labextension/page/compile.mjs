/**
 * Compiles the packages of the page for its engine: `node compile.mjs SOURCES.zip COMPILED.zip`.
 *
 * Pyodide itself compiles, because a compiled module fits one version of Python alone. The archive
 * has no sources, and no times: the same sources give the same bytes.
 */

import { readFileSync, writeFileSync } from "node:fs";
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

const [sources, target] = process.argv.slice(2);
try {
  const python = await loadPyodide();
  python.FS.writeFile("/sources.zip", new Uint8Array(readFileSync(sources)));
  writeFileSync(target, python.runPython(COMPILE).toJs());
} catch (error) {
  console.error(`${error}`.slice(-2_000)); // Node itself would also print the engine's source
  process.exit(1);
}
