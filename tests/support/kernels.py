"""Real kernels, with the front end's own requests: the value of an expression, silently."""

from __future__ import annotations

import json
import os
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ckpt_viz
from ckpt_viz.entrances.jupyter.live_objects import MIME_TYPE

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient

ROOT = Path(ckpt_viz.__file__).parents[1]
LISTING = (Path(ckpt_viz.__file__).parent / "entrances/jupyter/live_objects.py").read_text()
_SECONDS = 120

# What a person sees of a kernel, or what their program may: nothing of it may change.
_STATE = """
import json, sys
def state(shell):
    history, names = shell.history_manager, shell.user_ns
    return json.dumps({
        "count": shell.execution_count,
        "names": {str(name): id(value) for name, value in names.items()},
        "hidden": sorted(map(str, shell.user_ns_hidden)),
        "inputs": [history.input_hist_raw, history.input_hist_parsed, names["In"]],
        "outputs": {key: id(value) for key, value in names["Out"].items()},
        "reprs": {key: repr(value) for key, value in history.output_hist_reprs.items()},
        "saved": list(history.get_tail(1000, include_latest=True)) + history.db_input_cache,
        "last": [str(names.get(name))[:80] for name in ("_i", "_ii", "_iii")],
        "modules": {name: id(module) for name, module in sys.modules.items()},
        "path": list(map(id, sys.path)),
    })
"""
_ASK_STATE = (
    f"(lambda ns: (__import__('builtins').exec({_STATE!r}, ns), "
    "ns['state'](get_ipython()))[1])({})"
)


def listing_expression(source: str = LISTING) -> str:
    """Return what the front end asks a kernel for its objects with."""
    return (
        f"(lambda ns: (__import__('builtins').exec({json.dumps(source)}, ns), "
        "ns['listed'](__import__('builtins').globals()))[1])({})"
    )


class Kernel:
    """A running kernel."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self._client = client

    def run(self, code: str) -> None:
        """Run a cell, as a person does."""
        reply = self._execute(code, silent=False, store_history=True)
        assert reply["status"] == "ok", "\n".join(reply["traceback"])

    def ask(self, expression: str, *, may_import: bool = False) -> dict[str, Any]:
        """Return the data of a reply to the front end; the kernel is what it was before."""
        before = self.state()
        bundle = self.reply_to(expression)
        assert set(bundle) == {MIME_TYPE, "text/plain"}
        after = self.state()
        if may_import:
            del before["modules"], after["modules"]
        assert after == before
        data: dict[str, Any] = bundle[MIME_TYPE]
        return data

    def value(self, expression: str) -> Any:
        """Return what an expression evaluates to: a literal."""
        return literal_eval(self.reply_to(expression)["text/plain"])

    def state(self) -> dict[str, Any]:
        """Return what nothing may change that was not asked for by the person."""
        found: dict[str, Any] = json.loads(self.value(_ASK_STATE))
        return found

    def reply_to(self, expression: str) -> dict[str, Any]:
        """Return what an expression evaluates to, as data by MIME type."""
        reply = self._execute(
            "", silent=True, store_history=False, user_expressions={"ckpt-viz": expression}
        )
        value = reply["user_expressions"]["ckpt-viz"]
        assert value["status"] == "ok", value
        data: dict[str, Any] = value["data"]
        return data

    def _execute(self, code: str, **options: Any) -> dict[str, Any]:
        message = self._client.execute(code, allow_stdin=False, **options)
        while True:
            reply = self._client.get_shell_msg(timeout=_SECONDS)
            if reply["parent_header"].get("msg_id") == message:
                content: dict[str, Any] = reply["content"]
                return content


@contextmanager
def running_kernel(directory: Path) -> Iterator[Kernel]:
    """Run a kernel in a directory, with no user's settings and no history."""
    environ = os.environ | {
        "IPYTHONDIR": str(directory / "ipython"),
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=environ, cwd=str(directory))
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=_SECONDS)
        kernel = Kernel(client)
        kernel.value("'x' * 1_000_000")  # ZeroMQ imports a module to send a large message
        yield kernel
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
