"""The settings of an administrator: `c.CkptViz.…` in jupyter_server_config.py."""

from __future__ import annotations

from traitlets import Bool, Float, Integer
from traitlets.config import Configurable


class CkptViz(Configurable):
    """The options of the extension."""

    slim_notebooks = Bool(
        True,
        help="Whether to save notebooks without the widget state of explorers: their outputs "
        "already hold the graphs.",
    ).tag(config=True)
    max_answer_bytes = Integer(
        64 << 20, min=1, help="The largest graph or file, in bytes, that the server sends."
    ).tag(config=True)
    max_read_bytes = Integer(
        1 << 30, min=1, help="The most bytes of files that one request reads."
    ).tag(config=True)
    max_kept_graphs = Integer(
        8, min=1, help="The most graphs that stay in memory, to answer questions about them."
    ).tag(config=True)
    max_kept_nodes = Integer(
        500_000,
        min=1,
        help="The most nodes of these graphs together; the latest graph always stays.",
    ).tag(config=True)
    max_kept_bytes = Integer(
        128 << 20,
        min=1,
        help="The most bytes of these graphs together; the latest graph always stays.",
    ).tag(config=True)
    max_memory_bytes = Integer(
        1 << 30,
        min=1,
        help="The most memory, in bytes, of each reading process: its address space, on Linux.",
    ).tag(config=True)
    max_reads = Integer(2, min=1, help="The most large graphs that are read at the same time.").tag(
        config=True
    )
    max_waiting = Integer(
        32,
        min=1,
        help="The most large graphs in progress or waiting; twice as many quick requests.",
    ).tag(config=True)
    max_waiting_bytes = Integer(
        256 << 20,
        min=1,
        help="The most bytes of large graphs in progress or waiting, and of answers not sent yet; "
        "the server refuses more requests.",
    ).tag(config=True)
    max_seconds = Float(
        120.0, min=0.1, help="The most seconds for reading, and for a client to take an answer."
    ).tag(config=True)
