"""Code that restores each value by its saved place: live objects under their saved names."""

from __future__ import annotations

from contextlib import suppress

from ckpt_viz.correspondence.pairs import Certainty
from ckpt_viz.errors import SourceError
from ckpt_viz.object_graph.nodes import has_value
from ckpt_viz.restore_check.arrangement import Arrangement
from ckpt_viz.restore_check.case import Case
from ckpt_viz.restore_check.rehearsal import Rehearsal, rehearse
from ckpt_viz.restore_check.skeleton import Skeleton, to_code

_LONGEST = 200  # characters of code in a sentence


def code_of_places(case: Case) -> str:
    """Return the expression that restores all sure values, rehearsed; "" for none or long code.

    In it, `live` is the checked object and `path` the path of the checkpoint.
    """
    sure = [pair for pair in case.run.mapping.pairs if pair.node in case.fixed]
    wanted = {pair.node: pair.obj for pair in sure}
    if not sure or len(wanted) < len(sure) or case.run.mapping.misfits:
        return ""  # a checkpoint gives a value to one object alone, and all below an object
    method = "restore" if case.saved.save_counter is not None else "read"
    counterparts = {
        node: pair.obj
        for node, pair in case.run.mapping.parts.items()
        if pair.certainty is not Certainty.GUESS
        and (node in wanted or not has_value(case.saved.nodes[node]))
    }

    def proof(skeleton: Skeleton, method: str) -> Rehearsal | None:
        return rehearse(case.run, skeleton, method)

    arrangement = Arrangement(case.saved, case.live, wanted, counterparts, method, proof)
    skeleton = arrangement.skeleton()
    with suppress(SourceError):  # no expression has these names
        code = "" if skeleton is None else f"{to_code(skeleton, case.live)}.{method}(path)"
        return code if len(code) <= _LONGEST else ""
    return ""
