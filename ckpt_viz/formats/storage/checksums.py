"""The crc32c of bytes, computed by Google's library, or by this package where that has no wheel.

The latter is WebAssembly, where pages and JupyterLite run Python.
"""

from __future__ import annotations

try:
    from google_crc32c import extend, value
except ImportError:
    from ckpt_viz.formats.storage.crc32c import extend, value

__all__ = ["extend", "value"]
