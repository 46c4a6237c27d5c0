"""What is known of a waiting restore before its object is built.

A waiting saved value is restored when its holder gets a variable of that local name. If its shape
differs, the restore fails then. Attributes of Keras' own classes tell which variables they will
have. What the program's own code creates is unknown before it runs.
"""

from __future__ import annotations

from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.outlook_of_layers import FutureComparison
from ckpt_viz.answers.evidence.outlook_of_optimizers import look_at_optimizer
from ckpt_viz.answers.evidence.unbuilt import Outlook
from ckpt_viz.live.objects import facts


def outlook(case: Case, obj: int) -> Outlook:
    """Return what is known of an unbuilt layer or optimizer of the program."""
    future = Outlook()
    nodes = case.trace.holders.get(obj, ())
    if len(nodes) != 1:
        future.doubt("several saved objects share it" if nodes else "it was not saved")
        return future
    optimizers = [(nodes[0], obj)]
    if not facts.is_optimizer(case.live_side.object(obj)):
        optimizers = FutureComparison(case, future).look(nodes[0], obj)
    for node, optimizer in optimizers:
        if facts.is_unbuilt(case.live_side.object(optimizer)):
            look_at_optimizer(case, node, optimizer, future)
    return future
