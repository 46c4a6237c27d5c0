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
import warnings
import zipfile

_LATER = {"numpy": "engine/numpy.zip"}


def prepare():
    """Import all that opens a checkpoint."""
    warnings.simplefilter("ignore")
    importlib.import_module("ckpt_viz.entrances.web.session")


def start():
    """Return the session that answers the page."""
    import ckpt_viz_worker

    from ckpt_viz.entrances.web.session import Session

    _look_again()
    sys.meta_path.append(_Later())
    return Session(ckpt_viz_worker.tell)


class _Later(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        file = _LATER.pop(name, None)
        if file is None:
            return None
        data = _checked(file, name)
        zipfile.ZipFile(io.BytesIO(data)).extractall(site.getsitepackages()[0])
        _look_again()
        return importlib.machinery.PathFinder.find_spec(name)


def _look_again():
    """Forget which files there were. `importlib.invalidate_caches` imports 27 modules for that."""
    sys.path_importer_cache.clear()


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
