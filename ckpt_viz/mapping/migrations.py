"""Names that versions of Keras and TensorFlow give to the same thing.

The encoder of TensorFlow's Model Garden has the weights of BERT under names of its own, and those
of attention with a dimension for the heads. Its source is tf2_bert_encoder_checkpoint_converter.py
in official/nlp/tools.

Sources of the others: keras/src/optimizers (Keras 3), tf_keras/src/optimizers and its `legacy`
(Keras 2), and tensorflow/python/training (TensorFlow 1).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

# Slot variables, by the name that Keras 3 gives to them. Some old names had several meanings.
_SLOTS = {
    "momentum": ("m",),
    "velocity": ("v", "rms"),
    "velocity_hat": ("vhat",),
    "norm": ("u", "v"),
    "average_gradient": ("mg",),
    "accumulator": ("accum",),
    "accumulated_grad": ("accum_grad", "accum"),
    "accumulated_delta_var": ("accum_var", "accum_update"),
}
# Slots that an optimizer has only with an option.
_OPTIONS = frozenset({"velocity_hat", "average", "average_gradient", "gradient_accumulator"})
_LOCAL_NAMES = {
    "iterations": ("iter",),
    "kernel": ("depthwise_kernel",),  # of a DepthwiseConv2D
    # of a LossScaleOptimizer
    "dynamic_scale": ("current_loss_scale",),
    "step_counter": ("good_steps",),
}
_LOCAL_NAME_OF = {old: new for new, names in _LOCAL_NAMES.items() for old in names}


def slot_names(name: str) -> tuple[str, ...]:
    """Return the names that Keras 3 may have for a slot variable; the most common one is first.

    >>> slot_names("m"), slot_names("v"), slot_names("mine")
    (('momentum',), ('velocity', 'norm'), ('mine',))
    """
    return tuple(new for new, names in _SLOTS.items() if name == new or name in names) or (name,)


def renamed_slots(saved: Collection[str], live: Collection[str]) -> dict[str, str]:
    """Return, by the names of an optimizer's slots in one version, their names in another one.

    >>> renamed_slots(["m", "v"], ["momentum", "velocity"])
    {'m': 'momentum', 'v': 'velocity'}
    >>> renamed_slots(["m", "v"], ["momentum", "norm"])  # Adamax
    {'m': 'momentum', 'v': 'norm'}
    """
    found: dict[str, str] = {}
    theirs = dict.fromkeys(live)
    for count in (1, None):  # the most common meanings first
        meanings: dict[str, set[str]] = {}
        for other in theirs:
            for meaning in slot_names(other)[:count]:
                meanings.setdefault(meaning, set()).add(other)
        for name in saved:
            meant = [meanings.get(one, set()) for one in slot_names(name)[:count]]
            others = set().union(*meant) & theirs.keys()
            if name not in found and len(others) == 1:
                found[name] = others.pop()
                del theirs[found[name]]
    return found


def same_slots(saved: Collection[str], live: Collection[str]) -> dict[str, str]:
    """Return the slots that two optimizers of one version share; none if they have another order.

    Adam and RMSprop of Keras 3 give the same names to other things, in another order.

    >>> same_slots(["momentum", "velocity"], ["momentum", "velocity", "average"])
    {'momentum': 'momentum', 'velocity': 'velocity'}
    >>> same_slots(["momentum", "velocity"], ["velocity", "momentum"])
    {}
    """
    both = [name for name in saved if name in live]
    return {name: name for name in both} if both == [one for one in live if one in both] else {}


def are_of_other_kinds(saved: Iterable[str], live: Iterable[str], names: Mapping[str, str]) -> bool:
    """Return whether two optimizers have other slots, so that equal names mean other things.

    `names` are the slots that both have. An option of one optimizer adds some slots.

    >>> are_of_other_kinds(["m", "v"], ["momentum"], {"m": "momentum"})  # Adam and SGD
    True
    >>> are_of_other_kinds(["rms"], ["velocity", "momentum"], {"rms": "velocity"})  # RMSprop
    False
    """
    options = _OPTIONS | ({"momentum"} if "velocity" in names.values() else set())
    left = {*(set(saved) - names.keys()), *(set(live) - set(names.values()))}
    return any(slot_names(name)[0] not in options for name in left)


def local_name(name: str) -> str:
    """Return a local name as all versions spell it: Keras 3 makes many of them private.

    >>> local_name("_kernel"), local_name("iter"), local_name("_iterations")
    ('kernel', 'iterations', 'iterations')
    """
    public = name.lstrip("_")
    return _LOCAL_NAME_OF.get(public, public)


# Of BERT's variables below the scope `bert`, and of the Model Garden's encoder.
_OF_ENCODER = (
    (r"embeddings/word_embeddings", r"word_embeddings/embeddings"),
    (r"embeddings/position_embeddings", r"position_embedding/embeddings"),
    (r"embeddings/token_type_embeddings", r"type_embeddings/embeddings"),
    (r"embeddings/LayerNorm/(\w+)", r"embeddings/layer_norm/\1"),
    (
        r"encoder/layer_(\d+)/attention/self/(query|key|value)/(\w+)",
        r"transformer/layer_\1/self_attention/\2/\3",
    ),
    (
        r"encoder/layer_(\d+)/attention/output/dense/(\w+)",
        r"transformer/layer_\1/self_attention/attention_output/\2",
    ),
    (
        r"encoder/layer_(\d+)/attention/output/LayerNorm/(\w+)",
        r"transformer/layer_\1/self_attention_layer_norm/\2",
    ),
    (r"encoder/layer_(\d+)/intermediate/dense/(\w+)", r"transformer/layer_\1/intermediate/\2"),
    (r"encoder/layer_(\d+)/output/dense/(\w+)", r"transformer/layer_\1/output/\2"),
    (r"encoder/layer_(\d+)/output/LayerNorm/(\w+)", r"transformer/layer_\1/output_layer_norm/\2"),
    (r"pooler/dense/(\w+)", r"pooler_transform/\1"),
)
_OF_BERT = re.compile(r"(?:.*/)?bert/(.*)", re.DOTALL)


def name_in_encoder(full_name: str) -> str | None:
    """Return the name that the Model Garden's encoder has for a variable of BERT, if it is one.

    >>> name_in_encoder("bert/encoder/layer_3/attention/self/query/kernel")
    'transformer/layer_3/self_attention/query/kernel'
    >>> name_in_encoder("dense/kernel")
    """
    found = _OF_BERT.fullmatch(full_name)
    if found is not None:
        for name, other in _OF_ENCODER:
            inner = re.fullmatch(name, found[1])
            if inner is not None:
                return inner.expand(other)
    return None


def has_heads(name: str) -> bool:
    """Return whether the encoder keeps a variable with a dimension for the heads of attention.

    The order of its elements is the same.

    >>> has_heads("transformer/layer_3/self_attention/query/bias")
    True
    >>> has_heads("transformer/layer_3/self_attention/attention_output/bias")
    False
    """
    return "/self_attention/" in name and not name.endswith("attention_output/bias")
