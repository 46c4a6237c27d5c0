"""What the code of a restore may contain: an allow-list of its syntax, and names for attacks."""

from __future__ import annotations

import ast
from collections.abc import Collection

# Names that mean something to Python, to TensorFlow, or to a reader of the code.
CODE_NAMES = (
    "v if print('PWNED') else ckpt.v",
    "x); raise SystemExit(1)  # ",
    "\x1b[31mred",
    "a\nraise SystemExit(1)\n#",
    "\u202e)(tixe",
    "layer_with_weights-0",
    "0",
    "class",
    "None",
    "self",
    "restore",
    "read",
    "save",
    "_root",
    "_saver",
    "__class__",
    "_setattr_tracking",
    "items",
    "name",
    "variables",
    "iter",
    "µ",
    "ﬁ",
    "ſ",  # noqa: RUF001
    "𝐱",  # noqa: RUF001
    "a.b/c",
    "",
    " ",
    "{0}%s'\"\\",
)
_NODES = (
    *(ast.Module, ast.Import, ast.alias, ast.Assign, ast.Expr, ast.For, ast.Load, ast.Store),
    *(ast.Attribute, ast.Call, ast.Constant, ast.Dict, ast.keyword, ast.List, ast.Name),
    *(ast.Subscript, ast.Tuple, ast.ListComp, ast.comprehension, ast.Assert, ast.Compare, ast.Eq),
)
_NAMES = {
    "tf",
    "ckpt",
    "path",
    "restored",
    "status",
    "reader",
    "values",
    "variable",
    "key",
    "value",
}
_TENSORFLOW = {
    "tf.train.Checkpoint",
    "tf.train.TrackableView.children",
    "tf.train.load_checkpoint",
    "tf.compat.v1.train.NewCheckpointReader",
    "tf.reshape",
    "tf.constant",
    "tf.as_dtype",
}
_METHODS = {
    *("assert_consumed", "assert_existing_objects_matched", "expect_partial", "read", "restore"),
    *("assign", "get_layer", "get_slot", "get_tensor", "is_compatible_with"),
    *("_lookup_dependency", "_trackable_children"),
}
_ATTRIBUTES = {"__dict__", "checkpoint", "dtype", "layers", "parts", "root", "shape", "variables"}


def assert_restores_only(code: str, local_names: Collection[str] = ()) -> None:
    """Raise AssertionError if code holds anything but a restore of objects with these names."""
    assert all(line.isprintable() for line in code.split("\n")), code
    for node in ast.walk(ast.parse(code)):
        assert isinstance(node, _NODES), ast.dump(node)
        if isinstance(node, ast.Import):
            assert ast.unparse(node) == "import tensorflow as tf"
        elif isinstance(node, ast.Name):
            assert node.id in _NAMES, node.id
        elif isinstance(node, ast.Call):
            is_method = isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS
            assert is_method or ast.unparse(node.func) in _TENSORFLOW, ast.unparse(node)
        elif isinstance(node, ast.Attribute):
            of_tensorflow = any(
                f"{name}.".startswith(f"{ast.unparse(node)}.") for name in _TENSORFLOW
            )
            known = _METHODS | _ATTRIBUTES | {*local_names}
            assert of_tensorflow or node.attr in known, ast.unparse(node)
