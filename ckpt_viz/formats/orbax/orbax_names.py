"""The files by which a directory shows that it is an Orbax checkpoint."""

from __future__ import annotations

METADATA = "_METADATA"
MANIFEST = "manifest.ocdbt"
