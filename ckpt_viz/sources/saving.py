"""The story of the save of any source: by which call, and with which manager."""

from __future__ import annotations

from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.story.manager import story_of_manager
from ckpt_viz.story.save import SaveStory
from ckpt_viz.story.save_order import SaveCall, call_of
from ckpt_viz.story.saver import SaverStory
from ckpt_viz.story.step import Story


def story_of_save(graph: Graph) -> Story:
    """Return the story of how TensorFlow saves the objects of a graph, or has saved them."""
    call = _call(graph)
    if call is SaveCall.SAVER:
        return SaverStory(graph)
    if call is SaveCall.MANAGER:
        from ckpt_viz.live.saving import state_of_manager

        return story_of_manager(graph, state_of_manager(graph))
    return SaveStory(graph, call)


def _call(graph: Graph) -> SaveCall:
    if graph.origin is Origin.SAVED:
        return call_of(graph)
    from ckpt_viz.live.saving import call_for

    return call_for(graph.source)
