"""A class whose registered saver chooses the keys of its tensors itself."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def stack_class() -> Any:
    """Return a class whose registered saver chooses its own keys, as in TensorFlow's example."""
    import tensorflow as tf
    from tensorflow.python.saved_model import registration

    class Stack(tf.train.Checkpoint):  # type: ignore[misc]
        def __init__(self, *parts: float) -> None:
            super().__init__()
            self.__dict__["parts"] = list(parts)

    def save(trackables: Any, file_prefix: Any) -> Any:
        names = [f"{name}_stack" for name in trackables]
        values = [tf.constant(one.parts, tf.float32) for one in trackables.values()]
        tf.raw_ops.SaveV2(
            prefix=file_prefix,
            tensor_names=names,
            shape_and_slices=[""] * len(names),
            tensors=values,
        )
        return file_prefix

    def restore(trackables: Any, merged_prefix: Any) -> None:
        for name, one in trackables.items():
            (value,) = tf.raw_ops.RestoreV2(
                prefix=merged_prefix,
                tensor_names=[f"{name}_stack"],
                shape_and_slices=[""],
                dtypes=[tf.float32],
            )
            one.__dict__["parts"] = value.numpy().tolist()

    registration.register_checkpoint_saver(
        package="ckpt_viz_rewrite",
        name="stack",
        predicate=lambda obj: isinstance(obj, Stack),
        save_fn=save,
        restore_fn=restore,
    )
    return Stack
