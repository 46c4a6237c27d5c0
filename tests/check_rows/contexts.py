"""The context of a restore: graphs, scopes, options."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest


def graph() -> AbstractContextManager[Any]:
    """Return the context in which TensorFlow 1 builds a graph."""
    import tensorflow as tf

    context: AbstractContextManager[Any] = tf.Graph().as_default()
    return context


def asynchronous() -> Any:
    import tensorflow as tf

    return tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)


def skipping_slots() -> Any:
    import tensorflow as tf

    try:
        return tf.train.CheckpointOptions(experimental_skip_slot_variables=True)
    except TypeError:
        pytest.skip("this TensorFlow restores all slot variables")


def creator_scope() -> AbstractContextManager[Any]:
    import tensorflow as tf

    context: AbstractContextManager[Any] = tf.variable_creator_scope(
        lambda creator, **arguments: creator(**arguments)
    )
    return context
