"""Names that versions of Keras and TensorFlow give to the same thing.

The encoder of TensorFlow's Model Garden has the weights of BERT under names of its own, and those
of attention with a dimension for the heads. Its source is tf2_bert_encoder_checkpoint_converter.py
in official/nlp/tools.
"""

from __future__ import annotations

import re

OF_KERAS_3 = frozenset({"_functional", "_operations", "_layers"})  # local names of containers
_LOCAL_NAMES = {
    "iterations": ("iter", "iteration"),  # the last one in Keras' own files
    "kernel": ("depthwise_kernel",),  # of a DepthwiseConv2D
    # of a LossScaleOptimizer
    "dynamic_scale": ("current_loss_scale",),
    "step_counter": ("good_steps",),
}
_LOCAL_NAME_OF = {old: new for new, names in _LOCAL_NAMES.items() for old in names}


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
    of_bert = _OF_BERT.fullmatch(full_name)
    if of_bert is not None:
        for name, other in _OF_ENCODER:
            inner = re.fullmatch(name, of_bert[1])
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
