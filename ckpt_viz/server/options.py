"""The settings of an administrator: `c.CkptViz.…` in jupyter_server_config.py."""

from __future__ import annotations

from traitlets import Bool, Float, Integer
from traitlets.config import Configurable


class CkptViz(Configurable):
    """The options of the extension."""

    slim_notebooks = Bool(
        True,
        help="Whether notebooks are saved without the widget state of explorers, which the "
        "outputs hold already.",
    ).tag(config=True)
    max_answer_bytes = Integer(
        64 << 20, min=1, help="How large a graph or a file may be that is sent to the browser."
    ).tag(config=True)
    max_read_bytes = Integer(
        1 << 30, min=1, help="How many bytes of files may be read for one request."
    ).tag(config=True)
    max_kept_graphs = Integer(
        8, min=1, help="How many graphs are kept in memory, to answer questions about them."
    ).tag(config=True)
    max_kept_nodes = Integer(
        500_000, min=1, help="How many nodes the kept graphs may have, but for the latest one."
    ).tag(config=True)
    max_kept_bytes = Integer(
        128 << 20, min=1, help="How much memory the kept graphs may take, but for the latest one."
    ).tag(config=True)
    max_memory_bytes = Integer(
        1 << 30,
        min=1,
        help="How much memory (address space, on Linux) each process that reads has.",
    ).tag(config=True)
    max_reads = Integer(
        2, min=1, help="How many large graphs are read at the same time; small ones are beside."
    ).tag(config=True)
    max_waiting = Integer(
        32, min=1, help="How many different requests are read or wait for it; more are refused."
    ).tag(config=True)
    max_waiting_bytes = Integer(
        256 << 20,
        min=1,
        help="How large the files may be that wait to be read, and the answers that wait to be "
        "sent; more requests are refused.",
    ).tag(config=True)
    max_seconds = Float(
        120.0, min=0.1, help="How long reading may take, and sending an answer."
    ).tag(config=True)
