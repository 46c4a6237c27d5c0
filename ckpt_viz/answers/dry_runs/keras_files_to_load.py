"""The saved side of `load_weights`, from the graph of a file."""

from __future__ import annotations

from ckpt_viz.files.keras_files.drafts import StoredWeights
from ckpt_viz.files.keras_files.legacy_layout import OF_MODEL, absent_in, layers_in, version_in
from ckpt_viz.files.keras_files.shards import Shards
from ckpt_viz.files.keras_files.windows_names import first_of_windows, with_slashes
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, Stored
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.engines.h5_sides import SavedLayers
from ckpt_viz.matching.engines.keras_sides import VARS, SavedWeights

_OF_KERAS_1 = (None, "1")  # the versions that Keras takes for the first one


def saved_layers(graph: Graph) -> SavedLayers:
    """Return the saved side of `load_weights` from the graph of an `.h5` file."""
    stored: StoredWeights = graph.stored_in
    layers, top_level = [], None
    for layer, keys in layers_in(stored):
        weights = [(key, tensor) for key in keys if (tensor := graph.stored(key)) is not None]
        if layer == OF_MODEL:
            top_level = weights
        else:
            layers.append((layer, weights))
    absent = dict(absent_in(stored))
    return SavedLayers(layers, top_level, version_in(stored) in _OF_KERAS_1, absent)


def saved_weights(graph: Graph) -> SavedWeights:
    """Return the saved side of `load_weights` from the graph of a weights file."""
    paths = {ROOT: ""}
    for node in graph.tree.preorder():
        for local_name, child in graph.nodes[node].children:
            if node in paths and not graph.nodes[child].attributes:
                paths.setdefault(child, f"{paths[node]}/{local_name}".lstrip("/"))
    if first_of_windows(graph.stored_in.groups) is not None:  # the tree has other names
        groups = {with_slashes(group): group for group in graph.stored_in.groups}
        paths = {node: groups[path] for node, path in paths.items() if path in groups}
    own: dict[str, dict[str, Stored | None]] = {
        path: {} for node, path in paths.items() if graph.nodes[node].role is not Role.CONTAINER
    }
    for holder in graph.nodes:
        for attribute in holder.attributes:
            owner, _, name = f"/{attribute.checkpoint_key}".rpartition(f"/{VARS}/")
            stored = Stored(attribute.dtype, attribute.shape, attribute.error)
            own.setdefault(owner.lstrip("/"), {})[name] = stored
    for node, path in paths.items():  # Keras finds the parts of an attribute called `vars`, too
        owner, _, name = f"/{path}".rpartition(f"/{VARS}/")
        is_object = graph.nodes[node].role is not Role.CONTAINER
        if f"/{path}".endswith(f"/{VARS}") and is_object:
            own.setdefault(path.removesuffix(VARS).rstrip("/"), {})[VARS] = None
        elif f"/{VARS}/" in f"/{path}" and "/" not in name:
            own.setdefault(owner.lstrip("/"), {})[name] = None
    own_names = ((i, graph.nodes[i].own_name) for i in paths)
    names = {paths[i]: name for i, name in own_names if name}
    lost = graph.stored_in.lost if isinstance(graph.stored_in, Shards) else {}
    return SavedWeights(frozenset(paths.values()), own, names, lost)
