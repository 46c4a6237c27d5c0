"""The versions that a bug report needs."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib import metadata

# What a bug report needs: the common name, and the name that Python imports.
_PACKAGES = {
    "ckpt-viz": "ckpt_viz",
    "TensorFlow": "tensorflow",
    "Keras": "keras",
    "tf_keras": "tf_keras",
    "NumPy": "numpy",
    "protobuf": "protobuf",  # which Python imports as a part of google
    "ipywidgets": "ipywidgets",
    "anywidget": "anywidget",
    "JupyterLab": "jupyterlab",
    "Jupyter Server": "jupyter_server",
}


def versions() -> str:
    """Return a line for each version that a bug report needs; import none of the packages."""
    version_of = {name: _installed(module) for name, module in _PACKAGES.items()}
    version_of |= {"Python": platform.python_version(), "platform": platform.platform()}
    width = max(map(len, version_of))
    return "\n".join(f"{name:{width}}  {version}" for name, version in version_of.items())


def _installed(module: str) -> str:
    """Return the version of the distribution with this module, such as tensorflow-cpu."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(module)
    distributions = metadata.packages_distributions().get(module, ())
    names = [f"{metadata.version(name)} ({name})" for name in sorted(set(distributions))]
    return ", ".join(names) or "not installed"
