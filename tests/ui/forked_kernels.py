"""Kernels that begin with TensorFlow imported: forks of one process, which imports it once.

An import of TensorFlow takes three seconds of a processor, and a fork a tenth. The process that is
forked has a single thread, and no operation has run in it. So each fork starts TensorFlow's runtime
by itself.

Jupyter starts such a kernel as any other one, by a kernelspec. What it starts is a small program
that asks for a fork, and ends with the kernel. The kernel ends with that program.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

NAME = "tensorflow"  # of the kernelspec
_MODULES = ("ipykernel.kernelapp", "debugpy", "ipywidgets", "anywidget", "tensorflow")
# A pool of threads would not be there in a fork.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_REQUEST = """
import json, os, socket, sys
address, *arguments = sys.argv[1:]
kernel = socket.socket(socket.AF_UNIX)
kernel.connect(address)
socket.send_fds(kernel, [b"."], [1, 2])
request = {"arguments": arguments, "directory": os.getcwd(), "environ": {**os.environ}}
kernel.sendall(json.dumps(request).encode() + b"\\n")
kernel.recv(1)
"""


@contextmanager
def forked_kernels() -> Iterator[Path]:
    """Give the directory of a kernelspec whose kernels are forks, for JUPYTER_PATH."""
    # Addresses of sockets must be short, so the directory is not one of pytest.
    with TemporaryDirectory() as name, socket.socket(socket.AF_UNIX) as listener:
        directory = Path(name)
        address = str(directory / "address")
        listener.bind(address)
        listener.listen()
        _write_kernelspec(directory, address)
        with subprocess.Popen(
            [sys.executable, "-m", __name__, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            env=os.environ | _ONE_THREAD,
            stdin=subprocess.DEVNULL,
        ) as process:
            yield directory
            process.kill()


def _write_kernelspec(directory: Path, address: str) -> None:
    path = directory / "kernels" / NAME / "kernel.json"
    path.parent.mkdir(parents=True)
    # Without its packages Python starts at once.
    argv = [sys.executable, "-I", "-S", "-c", _REQUEST, address, "-f", "{connection_file}"]
    path.write_text(
        json.dumps(
            {
                "argv": argv,
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "interrupt_mode": "message",  # a signal would reach the small program
                "metadata": {"debugger": True},
            }
        )
    )


def _serve(listener: socket.socket) -> socket.socket:
    """Fork at each request; return to the fork who asked for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that kernels that have ended are forgotten
    while True:
        asking, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return asking
        asking.close()


def _become_kernel(asking: socket.socket) -> None:
    """Run a kernel, with the outputs, the directory and the environment of who asked for it."""
    os.setsid()
    _, outputs, _, _ = socket.recv_fds(asking, 1, 2)
    for number, output in enumerate(outputs, start=1):
        os.dup2(output, number)
        os.close(output)
    with asking.makefile() as received:
        request = json.loads(received.readline())
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["directory"])
    threading.Thread(target=_end_with, args=[asking], daemon=True).start()
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance(request["arguments"])


def _end_with(asking: socket.socket) -> None:
    asking.recv(1)
    os._exit(0)


def _main(listener: socket.socket) -> None:
    del sys.path[0]  # the directory of the tests, which `-m` adds and a kernel has not
    for module in _MODULES:
        importlib.import_module(module)
    gc.freeze()
    assert threading.active_count() == 1
    _become_kernel(_serve(listener))


if __name__ == "__main__":
    _main(socket.socket(fileno=int(sys.argv[1])))
