"""The table has the variables of every layer of Keras, in the order in which Keras saves them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from ckpt_viz.graphs.nodes.keras_variables import _ROWS, kind_at, path_component, variable_names

_RANKS = {"1D": 1, "2D": 2, "3D": 3}
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "AdditiveAttention": {"use_scale": (True, False)},
    "Attention": {"use_scale": (True, False), "score_mode": ("dot", "concat")},
    "Discretization": {"num_bins": (3,)},
    "EinsumDense": {"equation": ("ab,bc->ac",), "output_shape": (5,), "bias_axes": (None, "c")},
    "Normalization": {"mean": (None, 1.0), "variance": (None, 1.0)},
    "RandomFourierFeatures": {"output_dim": (3,), "scale": (None,)},
    "STFTSpectrogram": {
        **{"mode": ("log", "real", "imag"), "frame_length": (4,), "frame_step": (2,)},
        "window": (None,),
    },
}
_USUAL: dict[str, tuple[Any, ...]] = {
    "center": (True, False),
    "filters": (2,),
    "groups": (1,),
    "input_dim": (4,),
    "kernel_size": (2,),
    "output_dim": (3,),
    "renorm": (True, False),
    "rms_scaling": (False, True),
    "scale": (True, False),
    "tie_weights": (True, False),
    "rank": (1,),
    "units": (2,),
    "use_bias": (True, False),
}
# Layers with inner layers: these hold the variables. Others wrap what is no layer of Keras.
_WITHOUT_OWN = {
    *("Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "SimpleRNN", "RNN"),
    *("StackedRNNCells", "TimeDistributed", "Wrapper", "Pipeline", "RandAugment", "AugMix"),
    *("GroupQueryAttention", "GroupedQueryAttention", "MultiHeadAttention", "FeatureSpace"),
    *("FlaxLayer", "JaxLayer", "TFSMLayer", "TorchModuleWrapper", "AbstractRNNCell", "Layer"),
    *("DenseFeatures", "SequenceFeatures", "DynamicEmbedding", "DynamicLookup", "Hashing"),
}
# Keras 2's names, where Keras 3 has other ones for the same numbers.
_OF_KERAS_2 = {("DepthwiseConv1D", "depthwise_kernel"), ("DepthwiseConv2D", "depthwise_kernel")}

_UNREACHED = ("cell", "cu_dnnlstm", "cu_dnngru")  # a path component; layers of a GPU
_ONLY_ELSEWHERE = {
    "keras": {
        *("locally_connected1d", "locally_connected2d", "random_fourier_features"),
        *("discretization", "sync_batch_normalization", *_UNREACHED),
    },
    "tf_keras": {
        "spectral_normalization",
        "reversible_embedding",
        "rms_normalization",
        "stft_spectrogram",
        *_UNREACHED,
    },
}

pytestmark = pytest.mark.tf


def _layers(library: str) -> Iterator[Any]:
    """Yield the layers of a library, built, over the options that make variables."""
    module = __import__(library).layers
    spaces = [module, *([module.experimental] if library == "tf_keras" else [])]
    classes = {
        cls
        for space in spaces
        for cls in vars(space).values()
        if inspect.isclass(cls) and issubclass(cls, module.Layer)
    }
    for cls in sorted(classes, key=lambda cls: str(cls.__name__)):
        if cls.__name__ not in _WITHOUT_OWN and cls is not module.SpectralNormalization:
            yield from _of_class(cls)
    if library == "keras":  # that of tf_keras builds only if it is `tf.keras`
        wrapper = module.SpectralNormalization(module.Dense(3))
        wrapper.build((None, 4))
        yield wrapper
    for has_bias in (True, False):
        recurrent = module.ConvLSTM1D(2, 2, use_bias=has_bias)
        recurrent.build((None, 3, 4, 3))
        yield recurrent.cell


def _of_class(cls: Any) -> Iterator[Any]:
    parameters = inspect.signature(cls.__init__).parameters
    arguments = {n: values for n, values in _USUAL.items() if n in parameters}
    arguments |= _ARGUMENTS.get(cls.__name__, {})
    for choice in product(*arguments.values()):
        config = dict(zip(arguments, choice, strict=True))
        if (config.get("mean") is None) == (config.get("variance") is None):
            layer = _built(cls, config)
            if layer is not None:
                yield layer


def _built(cls: Any, config: dict[str, Any]) -> Any:
    """Return a built layer; None for one that makes no variables of this input, or of any."""
    try:
        layer = cls(**config)
    except (TypeError, ValueError):  # arguments without a default: no layer with variables
        assert "add_weight" not in inspect.getsource(cls), cls
        return None
    try:
        layer.build(_input_shape(cls.__name__))
    except Exception:  # a layer without variables, of other shapes
        assert "add_weight" not in inspect.getsource(cls), cls
        return None
    return layer


def _input_shape(kind: str) -> Any:
    if "Attention" in kind:
        return [(2, 3, 4), (2, 3, 4)]
    if kind == "STFTSpectrogram":
        return (2, 8, 1)
    if kind == "ConvLSTMCell":
        return (2, 4, 3)
    return (2, *(4,) * next((rank for end, rank in _RANKS.items() if end in kind), 0), 3)


def _own(layer: Any) -> list[Any]:
    if hasattr(layer, "_trainable_weights"):  # of Keras 2
        weights = layer._trainable_weights + layer._non_trainable_weights
        return [weight for weight in weights if hasattr(weight, "name")]  # no handlers of tables
    return list(layer._trainable_variables + layer._non_trainable_variables)


def _name(layer: Any, variable: Any) -> str:
    name = str(variable.name).rpartition("/")[2].partition(":")[0]
    return "kernel" if (type(layer).__name__, name) in _OF_KERAS_2 else name


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_every_layer_of_keras_has_its_names_in_the_table(library: str) -> None:
    seen = set()
    for layer in _layers(library):
        kind, names = type(layer).__name__, [_name(layer, variable) for variable in _own(layer)]
        config = layer.get_config()
        if names:
            seen.add(kind)
            assert variable_names(kind, config, len(names)) == tuple(names), (kind, config)
            assert variable_names(kind, None, len(names)) in (tuple(names), None), (kind, config)
    missing = set(_ROWS) - {path_component(kind) for kind in seen}
    assert missing == _ONLY_ELSEWHERE[library]


def test_the_count_alone_tells_names_only_if_no_options_compete() -> None:
    assert variable_names("batch_normalization", None, 4) == (
        *("gamma", "beta", "moving_mean", "moving_variance"),
    )
    assert variable_names("batch_normalization", None, 3) is None  # gamma or beta
    assert variable_names("Dense", None, 3) is None  # quantized


def test_a_configuration_that_does_not_explain_the_count_tells_no_names() -> None:
    assert variable_names("Dense", {"use_bias": True}, 3) is None
    assert variable_names("Dense", {"use_bias": False}, 2) is None
    assert variable_names("mine", {}, 1) is None


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_path_components_are_those_of_keras(library: str) -> None:
    module = __import__(library)
    if library == "keras":
        from keras.src.utils.naming import to_snake_case
    else:
        from tf_keras.src.utils.generic_utils import to_snake_case
    for name in filter(str.isalnum, dir(module.layers)):
        assert path_component(name) == to_snake_case(name)


def test_cells_and_the_inner_layers_of_attention_have_their_kind_from_their_owner() -> None:
    assert kind_at(["layers", "conv_lstm2d_1", "cell"]) == "conv_lstm_cell"
    assert kind_at(["layers", "multi_head_attention_2", "_key_dense"]) == "einsum_dense"
    assert kind_at(["hidden"]) == "hidden" and kind_at([]) == ""
