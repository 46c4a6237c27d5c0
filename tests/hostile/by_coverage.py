"""Lets atheris look for bytes that reach new code: an index, a V1 file, a state file.

`pip install atheris`, then `python -m tests.hostile.by_coverage -max_total_time=600`; the options
are libFuzzer's. It writes each crash to a file, which can be passed as an argument.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any


def main() -> None:
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["ckpt_viz"]):
        import ckpt_viz as cv  # here first: nothing imported before is instrumented
        import ckpt_viz.api
        import ckpt_viz.files.saved.saved_source
        import ckpt_viz.formats.arrays.tensors
    from tests.hostile.seeds import seeds
    from tests.support import tables

    directory = Path(tempfile.mkdtemp())
    corpus = directory / "corpus"
    corpus.mkdir()
    for name, seed in seeds().items():
        for place, data in enumerate(seed.files.values()):
            # The first block of a table begins where the file does.
            (corpus / f"{name}.{place}").write_bytes(data.removesuffix(tables.MAGIC))

    def open_as_each(data: bytes) -> None:
        # As the bytes of a block, under a right checksum, they get further than as a file.
        (directory / "ckpt.index").write_bytes(tables.table_of_blocks([tables.block(data)]))
        (directory / "v1").write_bytes(data + tables.MAGIC)
        (directory / "checkpoint").write_bytes(data)
        for path in (directory / "ckpt", directory / "v1", directory):
            with suppress(cv.CkptVizError):
                str(cv.graph(path))

    atheris.Setup([*sys.argv, str(corpus)], open_as_each)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
