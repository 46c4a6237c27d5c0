"""What the page's worker gives its engine, in a kernel: unpacking alone."""

from pathlib import Path

from pyodide.code import run_js

_unpacking = run_js(Path(__file__).with_name("unpacking.js").read_text("utf-8"))
unpackedZstandard = _unpacking.unpackedZstandard
unpackedSnappy = _unpacking.unpackedSnappy
