"""The story of the save of any source: by which call, and with which manager."""

from __future__ import annotations

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.matching.story.manager import story_of_manager
from ckpt_viz.matching.story.save import SaveStory
from ckpt_viz.matching.story.save_order import SaveCall, call_of
from ckpt_viz.matching.story.saver import SaverStory
from ckpt_viz.matching.story.step import EmptyStory, Story


def story_of_save(graph: Graph) -> Story:
    """Return the story of how TensorFlow saves the objects of a graph, or has saved them."""
    if graph.is_of_keras:
        why = (
            f"{graph.written_by} saves this file without TensorFlow: there are no steps of "
            "tf.train.Checkpoint."
        )
        return EmptyStory("save", graph.title, why)
    if graph.origin is Origin.SAVED:
        call = call_of(graph)
        return SaverStory(graph) if call is SaveCall.SAVER else SaveStory(graph, call)
    # Only a program that has objects needs the code that asks TensorFlow.
    from ckpt_viz.live.objects.saving import call_for, counting_of, state_of_manager
    from ckpt_viz.live.sessions.assignment_map import is_warm_start, name_of_call

    if is_warm_start(graph.source):
        title = f"the source of {name_of_call(graph.source)}()"
        return EmptyStory("save", title, "An assignment map is not saved: it has no steps.")
    call = call_for(graph.source)
    if call is SaveCall.SAVER:
        return SaverStory(graph)
    if call is SaveCall.WRITE:
        return SaveStory(graph, call)
    counting = counting_of(graph)
    if call is SaveCall.MANAGER:
        return story_of_manager(graph, state_of_manager(graph, counting.counter), counting)
    return SaveStory(graph, call, counting=counting)
