"""The programs that browser tests need: a server of JupyterLab or Notebook, and a Chromium."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

_START_SECONDS = 60
_STOP_SECONDS = 20

_CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,800",  # of pages that scripts open
)


@dataclass(frozen=True)
class Server:
    """A running Jupyter: its address, the directory it serves, and what it prints."""

    url: str
    root: Path
    log: Path


def find_chromium() -> str | None:
    """Return the path of a Chromium: the one named by CKPT_VIZ_CHROMIUM, or one on PATH.

    The shell draws no window of a browser around its pages, so it takes a quarter less time.
    """
    named = os.environ.get("CKPT_VIZ_CHROMIUM")
    shell, *others = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
    names = [named] if named else [shell, *others]
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def jupyterlab(
    directory: Path,
    labextensions: Path,
    *,
    server_extension: bool = True,
    base_url: str = "",
    token: str = "",
    port: int = 0,
    first_view: str = "objects",
    kernels: Path | None = None,
) -> Iterator[Server]:
    """Serve a directory, empty at first, with a JupyterLab that knows no user's settings.

    `labextensions` holds extensions that go before the installed ones, and `kernels` further
    kernelspecs. The server extension is that of today's sources, installed or not. Explorers show
    the object graph first, since it has every node, or the `first_view`. `base_url` begins with a
    slash and ends without. With the same directory and `port` it starts again where another one
    was.
    """
    # Else a note in the corner asks whether to fetch news.
    _set(directory, "@jupyterlab/apputils-extension/notification", '{"fetchNews": "false"}')
    _set(directory, "ckpt-viz/explorer", f'{{"firstView": "{first_view}"}}')
    with _jupyter(
        directory,
        *("jupyterlab", "--LabApp.news_url=None"),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        f"--LabApp.extra_labextensions_path={labextensions}",
        server_extension=server_extension,
        base_url=base_url,
        token=token,
        port=port,
        kernels=kernels,
    ) as server:
        yield server


def _set(directory: Path, plugin: str, settings: str) -> None:
    path = directory / f"jupyter_config_dir/lab/user-settings/{plugin}.jupyterlab-settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(settings)


@contextmanager
def notebook_7(
    directory: Path, labextensions: Path, *, kernels: Path | None = None
) -> Iterator[Server]:
    """Serve an empty directory with Jupyter Notebook, as `jupyterlab` does."""
    _set(directory, "ckpt-viz/explorer", '{"firstView": "objects"}')
    # The one lists the extensions, the other serves them.
    apps = ("JupyterNotebookApp", "LabApp")
    paths = (f"--{app}.extra_labextensions_path={labextensions}" for app in apps)
    with _jupyter(directory, "notebook", *paths, kernels=kernels) as server:
        yield server


@contextmanager
def _jupyter(
    directory: Path,
    module: str,
    *arguments: str,
    server_extension: bool = True,
    base_url: str = "",
    token: str = "",
    port: int = 0,
    kernels: Path | None = None,
) -> Iterator[Server]:
    root = directory / "root"
    root.mkdir(exist_ok=True)
    port = port or _free_port()
    server = Server(f"http://127.0.0.1:{port}{base_url}", root, directory / "jupyter.log")
    homes = {
        name: str(directory / name.lower())
        for name in (
            "HOME",
            "IPYTHONDIR",
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
        )
    }
    if kernels is not None:
        homes["JUPYTER_PATH"] = str(kernels)
    extensions = {"ckpt_viz": server_extension}
    command = [
        *(sys.executable, "-m", module, "--no-browser", "--expose-app-in-browser"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--ServerApp.root_dir={root}", "--ServerApp.allow_root=True"),
        f"--ServerApp.jpserver_extensions={extensions}",
        f"--ServerApp.base_url={base_url}/",
        *(f"--IdentityProvider.token={token}", *arguments),
    ]
    # Which needs no token, other than /api/status.
    with _running(command, server.log, homes, lambda: _answers(f"{server.url}/api")):
        yield server


def _has_text(path: Path) -> bool:
    return path.exists() and path.read_text() != ""


@contextmanager
def chromium(executable: str, directory: Path, *flags: str) -> Iterator[str]:
    """Run a Chromium with a new user-data directory; the address of its DevTools."""
    # Chromium makes the file once it listens, and then writes the port that it has chosen.
    port = directory / "profile" / "DevToolsActivePort"
    command = [
        *(executable, *_CHROMIUM_FLAGS, *flags),
        *(f"--user-data-dir={port.parent}", "--remote-debugging-port=0", "about:blank"),
    ]
    with _running(command, directory / "chromium.log", {}, lambda: _has_text(port)):
        yield f"http://127.0.0.1:{port.read_text().split()[0]}"


@contextmanager
def _running(
    command: Sequence[str], log: Path, environ: Mapping[str, str], is_ready: Callable[[], bool]
) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not is_ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} did not start:\n{log.read_text()}")
            time.sleep(0.1)
        yield
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the process to end, then end what is left of the group that it leads."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _answers(url: str) -> bool:
    try:
        with urlopen(url):
            return True
    except URLError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
