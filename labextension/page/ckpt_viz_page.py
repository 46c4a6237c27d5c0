"""What the engine adds to Python: the packages of the site load when an import needs them.

The build imports this, prepares, and stores a picture of Python's memory; the page goes on there.
So nothing of JavaScript is imported before `start`.
"""

import base64
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import io
import site
import sys
import types
import warnings
import zipfile

_LATER = {"numpy": "engine/numpy.zip"}


def prepare():
    """Import all that opens a checkpoint."""
    warnings.simplefilter("ignore")
    # pyfive imports one checksum from it, of files that neither Keras nor h5py write by default.
    sys.modules["numcodecs"] = types.ModuleType("numcodecs")
    sys.modules["numcodecs"].Fletcher32 = _NoFletcher32
    importlib.import_module("ckpt_viz.web.session")


def start():
    """Return the session that answers the page."""
    import ckpt_viz_worker

    from ckpt_viz.web.session import Session

    importlib.invalidate_caches()  # what is on the disk was put there since
    sys.meta_path.append(_Later())
    sys.modules["cramjam"] = _cramjam(
        ckpt_viz_worker.unpackedZstandard, ckpt_viz_worker.unpackedSnappy
    )
    return Session(ckpt_viz_worker.tell)


def _cramjam(zstandard, snappy):
    """Return what ckpt_viz uses of cramjam, which has no build for this engine."""
    module = types.ModuleType("cramjam")
    module.DecompressionError = _DecompressionError
    module.zstd = types.SimpleNamespace(decompress_into=_into(zstandard))
    module.snappy = types.SimpleNamespace(decompress_raw_into=_into(snappy))
    return module


class _DecompressionError(Exception):
    pass


def _into(unpack):
    from pyodide.ffi import JsException, to_js

    def decompress(data, buffer):
        try:
            content = unpack(to_js(data), len(buffer)).to_bytes()
        except JsException as error:
            raise _DecompressionError(str(error)) from error
        buffer[: len(content)] = content
        return len(content)

    return decompress


class _NoFletcher32:
    def encode(self, _data):
        raise NotImplementedError("the page cannot test the checksum Fletcher32")


class _Later(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        file = _LATER.pop(name, None)
        if file is None:
            return None
        data = _checked(file, name)
        zipfile.ZipFile(io.BytesIO(data)).extractall(site.getsitepackages()[0])
        importlib.invalidate_caches()
        return importlib.machinery.PathFinder.find_spec(name)


def _checked(file: str, name: str) -> bytes:
    import ckpt_viz_worker

    expected = ckpt_viz_worker.hashOf(file)
    if not expected:
        raise ModuleNotFoundError(f"this site has no {name}", name=name)
    try:
        data = ckpt_viz_worker.fetchNow(file).to_bytes()
    except Exception as error:
        _LATER[name] = file  # the network may come back
        message = f"{name} could not be loaded from this site"
        raise ModuleNotFoundError(message, name=name) from error
    if "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode() != expected:
        raise ModuleNotFoundError(f"{file}: found other bytes than this page was built with")
    return data
