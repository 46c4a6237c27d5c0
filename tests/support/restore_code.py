"""What the code of a restore may contain: an allow-list of its syntax, and names for attacks."""

from __future__ import annotations

import ast
from collections.abc import Collection, Set
from typing import NamedTuple

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
_ATTRIBUTES |= {"save_counter"}
_IMPORTS = {"import tensorflow as tf"}


class _Allowed(NamedTuple):
    """What code may contain: syntax, names, functions by their whole name, methods, attributes."""

    imports: Set[str]
    nodes: tuple[type[ast.AST], ...]
    names: Set[str]
    functions: Set[str]
    methods: Set[str]
    attributes: Set[str]


_OF_OBJECTS = _Allowed(_IMPORTS, _NODES, _NAMES, _TENSORFLOW, _METHODS, _ATTRIBUTES)
_OF_NAMES = _Allowed(
    {*_IMPORTS, "import numpy as np"},
    (
        *(*_NODES, ast.DictComp, ast.GeneratorExp, ast.Starred, ast.Slice, ast.With, ast.withitem),
        *(ast.BinOp, ast.Add, ast.BoolOp, ast.Or, ast.UnaryOp, ast.Not, ast.NotIn),
    ),
    {"tf", "np", "path", "session", "saver", "reader", "variables", "names", "values"}
    | {"variable", "value", "name", "v", "i", "place", "dtype", "cast"}
    | {"range", "str", "enumerate", "list"},
    {"tf.train.load_checkpoint", "tf.compat.v1.train.NewCheckpointReader", "tf.as_dtype"}
    | {f"tf.compat.v1.{name}" for name in ("train.Saver", "global_variables", "local_variables")}
    | {"np.concatenate", "np.asarray", "range", "str", "enumerate", "list"},
    {"restore", "get_tensor", "load", "assign", "items", "startswith", "replace", "all"}
    | {"partition", "as_default"},
    {"op", "name", "dtype", "base_dtype", "as_numpy_dtype", "kind", "graph", "_var_list"},
)


_OF_KERAS = _Allowed(
    {
        *(*_IMPORTS, "import numpy as np", "import h5py", "import io", "import zipfile"),
        "import ml_dtypes",
    },
    (
        *(*_NODES, ast.With, ast.withitem, ast.AugAssign, ast.Add, ast.Starred, ast.BinOp),
        *(ast.Mult, ast.Sub, ast.JoinedStr, ast.FormattedValue, ast.UnaryOp, ast.USub),
    ),
    {*_NAMES, "np", "h5py", "io", "zipfile", "ml_dtypes", "file", "keys", "weights", "archive"}
    | {"tuple", "range", *"ijkn"},
    {*_TENSORFLOW, "h5py.File", "io.BytesIO", "zipfile.ZipFile", "tuple", "range"}
    | {"np.hstack", "np.hsplit", "np.sum", "np.split"},
    {*_METHODS, "load_weights", "reshape", "view"},
    {*_ATTRIBUTES, "T", "bfloat16"},
)


def assert_restores_only(
    code: str, local_names: Collection[str] = (), *, is_by_saver: bool = False
) -> None:
    """Raise AssertionError if code holds anything but a restore of objects with these names.

    The code of a Saver has names of variables in its texts alone.
    """
    is_of_keras = "import h5py" in code.split("\n")
    allowed = _OF_NAMES if is_by_saver else _OF_KERAS if is_of_keras else _OF_OBJECTS
    known = allowed.methods | allowed.attributes | {*({} if is_by_saver else local_names)}
    assert all(line.isprintable() for line in code.split("\n")), code
    for node in ast.walk(ast.parse(code)):
        assert isinstance(node, allowed.nodes), ast.dump(node)
        if isinstance(node, ast.Import):
            assert ast.unparse(node) in allowed.imports
        elif isinstance(node, ast.Name):
            assert node.id in allowed.names, node.id
        elif isinstance(node, ast.Call):
            is_method = isinstance(node.func, ast.Attribute) and node.func.attr in allowed.methods
            assert is_method or ast.unparse(node.func) in allowed.functions, ast.unparse(node)
        elif isinstance(node, ast.Attribute):
            of_library = any(
                f"{name}.".startswith(f"{ast.unparse(node)}.") for name in allowed.functions
            )
            assert of_library or node.attr in known, ast.unparse(node)
