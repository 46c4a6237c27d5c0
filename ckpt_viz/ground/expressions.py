"""Python expressions made of names: the one place that decides how a name becomes code.

The names of a checkpoint are any text, and TensorFlow's own objects have names with a meaning. So a
name is an attribute or a keyword only where that is the same name for Python and TensorFlow.
"""

from __future__ import annotations

import ast
import unicodedata
from keyword import iskeyword

from ckpt_viz.errors import SourceError

ROOT_ARGUMENT = "root"
# What a tf.train.Checkpoint has itself, or gives to Python: `Checkpoint(restore=variable)` has no
# method `restore` any more.
_OF_CHECKPOINTS = """
    self root read restore save save_counter sync write _add_trackable_child
    _add_variable_with_custom_getter _async_checkpointer _async_checkpointer_impl
    _attached_dependencies _checkpoint_adapter _checkpoint_dependencies _checkpoint_options
    _copy_trackable_to_cpu _deferred_dependencies _delete_tracking _deserialization_dependencies
    _deserialize_from_proto _export_to_saved_model_graph _gather_saveables_for_checkpoint
    _handle_deferred_dependencies _kwargs _lookup_dependency _maybe_create_save_counter
    _maybe_initialize_trackable _name_based_attribute_restore _name_based_restores _no_dependency
    _object_identifier _preload_simple_restoration _restore_from_tensors _root _save_assign_op
    _save_counter _saver _serialize_to_proto _serialize_to_tensors _setattr_tracking _tf_api_names
    _tf_api_names_v1 _track_trackable _trackable_children _unconditional_checkpoint_dependencies
    _unconditional_dependency_names _update_uid _write
"""
# What modules and layers have under these names is no child. `iter` is in tf_keras's legacy
# optimizers, where it is the attribute `iterations`.
_OF_MODULES = """
    iter name name_scope non_trainable_variables non_trainable_weights submodules
    trainable_variables trainable_weights variables weights with_name_scope
"""
_TAKEN, _NO_CHILDREN = frozenset(_OF_CHECKPOINTS.split()), frozenset(_OF_MODULES.split())
_SIMPLE = (ast.Attribute, ast.Call, ast.Name, ast.Subscript)
_SHOWN = 80  # characters of a wrong expression


def is_name(text: str) -> bool:
    """Return whether Python reads a text as exactly this name.

    Python reads names in their NFKC form.

    >>> is_name("dense"), is_name("class"), is_name("a.b"), is_name("ﬁ")
    (True, False, False, False)
    """
    is_same = text.isascii() or unicodedata.normalize("NFKC", text) == text
    return text.isidentifier() and not iskeyword(text) and is_same


def is_taken(name: str) -> bool:
    """Return whether the name has a meaning of its own in a `tf.train.Checkpoint`.

    >>> is_taken("restore"), is_taken("__class__"), is_taken("kernel"), is_taken("_kernel")
    (True, True, False, False)
    """
    return name in _TAKEN or name.startswith(("__", "_self_"))


def argument(name: str) -> str | None:
    """Return the name as a keyword of `tf.train.Checkpoint`; None for a name that needs quotes.

    >>> argument("net"), argument("layer-0"), argument("self")
    ('net=', None, None)
    """
    return f"{name}=" if is_name(name) and not is_taken(name) else None


def item(name: str) -> str:
    """Return the name as the key of a dictionary in code.

    >>> item("layer-0")
    "'layer-0': "
    """
    return f"{quoted(name)}: "


def quoted(name: str) -> str:
    r"""Return a name as a literal of printable characters.

    >>> print(quoted("a'b\n\x1b"))
    "a'b\n\x1b"
    """
    return repr(str(name))


def is_attribute(name: str) -> bool:
    """Return whether an attribute of this name can only be the child of this name.

    Lists and dictionaries have methods, which would shadow children.

    >>> is_attribute("kernel"), is_attribute("items"), is_attribute("0")
    (True, False, False)
    """
    is_other = name in _NO_CHILDREN or any(hasattr(cls, name) for cls in (dict, list, tuple))
    return is_name(name) and not is_taken(name) and not is_other


def child(parent: str, name: str, *, by_attribute: bool = True) -> str:
    """Return the expression for the child of this name of any object that TensorFlow tracks.

    >>> child("ckpt.net", "kernel")
    'ckpt.net.kernel'
    >>> child("ckpt.net", "layer-0")
    "tf.train.TrackableView.children(ckpt.net)['layer-0']"
    """
    if by_attribute and is_attribute(name):
        return f"{parent}.{name}"
    return f"{children(parent)}[{quoted(name)}]"


def children(parent: str) -> str:
    """Return the expression for the children of any object that TensorFlow tracks, by name."""
    return f"tf.train.TrackableView.children({parent})"


def operand(expression: str) -> str:
    """Return a caller's expression so that a dot after it belongs to all of it.

    Raises SourceError for a text that is no expression.

    >>> operand("trainer.ckpt"), operand("one or other  # comment")
    ('trainer.ckpt', '(one or other)')
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
        text = ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise SourceError(
            f"found {expression[:_SHOWN]!r}, expected a Python expression for the live object, "
            "such as the name of its variable"
        ) from None
    return text if isinstance(tree, _SIMPLE) else f"({text})"
