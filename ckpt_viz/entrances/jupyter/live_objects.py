"""The objects that a kernel can show: the names of everything that TensorFlow can track.

JupyterLab's panel sends the text of this file to any Python kernel, with or without ckpt_viz. So
the file is ASCII, needs no other module of ours, and imports only what every kernel has imported.
It changes nothing in the kernel. It runs no code of the objects: even `isinstance` would read their
`__class__`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from itertools import islice
from keyword import iskeyword

MIME_TYPE = "application/vnd.ckpt-viz.reply+json"
MAX_OBJECTS = 200
_MAX_SECONDS = 0.05
_MAX_ENTRIES = 10_000  # entries of a directory
_MAX_LETTERS = 100  # characters of a class

# Keras 3, or Keras 2 of TensorFlow 2.15; Keras 2 beside Keras 3; TensorFlow's own.
_KERAS = ("keras.src", "tf_keras.src", "tensorflow.python.keras")
# The classes of each kind, in the order of the list. The first class that fits decides.
_KINDS = (
    (
        "",  # not listed: objects without children, or with nothing to save
        "tensorflow.python.ops.variables.Variable",
        "tensorflow.python.types.core.Callable",
        "tensorflow.python.types.data.DatasetV2",
    ),
    (
        "checkpoint",
        "tensorflow.python.checkpoint.checkpoint.Checkpoint",
        "tensorflow.python.checkpoint.checkpoint.CheckpointV1",
    ),
    ("manager", "tensorflow.python.checkpoint.checkpoint_management.CheckpointManager"),
    ("saver", "tensorflow.python.training.saver.Saver"),
    ("model", *(f"{k}.{m}.Model" for k in _KERAS for m in ("models.model", "engine.training"))),
    (
        "optimizer",
        *(f"{k}.optimizers.optimizer.{c}" for k in _KERAS for c in ("Optimizer", "_BaseOptimizer")),
        *(f"{k}.optimizers.legacy.optimizer_v2.OptimizerV2" for k in _KERAS),
        "tensorflow.python.keras.optimizer_v2.optimizer_v2.OptimizerV2",
        "tensorflow.python.training.optimizer.Optimizer",
    ),
    ("layer", *(f"{k}.{m}.Layer" for k in _KERAS for m in ("layers.layer", "engine.base_layer"))),
    ("module", "tensorflow.python.module.module.Module"),
    ("trackable", "tensorflow.python.trackable.base.Trackable"),
)
# Keras also runs without TensorFlow. Without one of these modules nothing can be shown.
_ENOUGH = {n for n, (kind, *_) in enumerate(_KINDS) if kind in ("manager", "saver", "trackable")}
# Classes of variables have this member.
_IS_VARIABLE = "_should_act_as_resource_variable"

# Skips what modules and classes report about themselves: lazy modules load, metaclasses lie.
_names_in = vars(type(sys))["__dict__"].__get__
_members_of, _bases_of, _module_of, _name_of = (
    vars(type)[name].__get__ for name in ("__dict__", "__mro__", "__module__", "__qualname__")
)


class Reply:
    """Data for the front end, as the value of an expression."""

    def __init__(self, data: dict[str, object]) -> None:
        self.data = data

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        return {MIME_TYPE: self.data, "text/plain": "a reply to ckpt-viz"}


def listed(namespace: dict[str, object]) -> Reply:
    """Return the objects of a namespace to show, and where this Python has ckpt_viz.

    Lists at most 200 objects, by kind and then in the order of the namespace; `left_off` counts the
    others. The search takes 50 ms at most. `unread` counts the names that it did not reach, which
    are the oldest.
    """
    objects, unread = _objects(namespace)
    return Reply(
        {
            "objects": [
                {"name": name, "kind": _KINDS[rank][0], "type": _words(cls)}
                for rank, name, cls in objects[:MAX_OBJECTS]
            ],
            "left_off": max(0, len(objects) - MAX_OBJECTS),
            "unread": unread,
            "tensorflow": sys.modules.get("tensorflow") is not None,
            "ckpt_viz": _version(),
            "python": _printable(sys.executable or ""),
        }
    )


def _objects(namespace: dict[str, object]) -> tuple[list[tuple[int, str, type]], int]:
    """Return the rank of the kind, name and class of each object, and how many names are unread."""
    ranks = _ranks()
    if not ranks:
        return [], 0
    until = time.monotonic() + _MAX_SECONDS
    # A copy, since another thread may set names. It keeps the classes alive, and so their ids.
    names = dict.copy(namespace)
    listed_objects = []
    seen: dict[int, int] = {}
    unread = len(names)
    for name, obj in reversed(names.items()):
        if unread % 1000 == 0 and time.monotonic() > until:
            break
        unread -= 1
        cls = type(obj)
        rank = seen.get(id(cls))
        if rank is None:
            rank = seen[id(cls)] = _rank(cls, ranks)
        if rank and _is_listed(name):
            listed_objects.append((rank, name, cls))
    listed_objects.reverse()
    return sorted(listed_objects, key=lambda entry: entry[0]), unread


def _is_listed(name: object) -> bool:
    """Return whether an expression can read this name and it is not IPython's own."""
    if type(name) is not str or not name.isidentifier() or name[0] == "_" or iskeyword(name):
        return False
    # Python reads names in their NFKC form: a namespace may hold others.
    return name.isascii() or compile(name, "<name>", "eval").co_names == (name,)


def _ranks() -> dict[int, int]:
    """Return the rank of each imported class, by the class's id."""
    ranks = {}
    for rank, (_, *paths) in enumerate(_KINDS):
        for path in paths:
            cls = _imported(path)
            if cls is not None:
                ranks[id(cls)] = rank
    return ranks


def _imported(path: str) -> object:
    module, _, name = path.rpartition(".")
    try:
        return _names_in(sys.modules.get(module)).get(name)
    except (AttributeError, TypeError):  # nothing, or something else in place of a module
        return None


def _rank(cls: type, ranks: dict[int, int]) -> int:
    """Return the rank of a class, 0 for a class that is not listed."""
    bases = _bases_of(cls) or ()
    ranks_of_bases = {ranks[id(base)] for base in bases if id(base) in ranks}
    is_variable = any(_IS_VARIABLE in _members_of(base) for base in bases)
    return min(ranks_of_bases) if ranks_of_bases & _ENOUGH and not is_variable else 0


def _words(cls: type) -> str:
    """Return a short name of a class: `keras.layers.Dense`, `mine.Net`, `Net` of the notebook."""
    module, name = _text(_module_of, cls), _text(_name_of, cls)
    top, *inner = module.split(".")
    shown = [word for word in inner if word in ("layers", "legacy", "models", "optimizers")]
    words = [*([] if top in ("", "__main__", "builtins") else [top]), *shown[:2], name]
    public = (_exported(cls) if top == "tensorflow" else None) or ".".join(words)
    return _printable(public[:_MAX_LETTERS].encode("utf-8", "replace").decode("utf-8"))


def _exported(cls: type) -> str | None:
    """Return the public name that TensorFlow gives to its own class."""
    for package, attribute in (("tf", "_tf_api_names"), ("tf.compat.v1", "_tf_api_names_v1")):
        names = _members_of(cls).get(attribute)
        if type(names) in (list, tuple) and names and type(names[0]) is str:
            return f"{package}.{names[0]}"
    return None


def _text(ask: Callable[[type], object], cls: type) -> str:
    """Return an attribute of a class, "" if it is not text: a program may set it to anything."""
    try:
        text = ask(cls)
    except AttributeError:
        return ""
    return text if type(text) is str else ""


def _printable(text: str) -> str:
    """Return a text that cannot spoil a message: as in `ground.text`, which may be absent."""
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return "".join(shown)


def _version() -> str | None:
    """Return the version of ckpt_viz in this Python; "" if it is unknown, None without ckpt_viz.

    The version is in the name of the distribution's directory. That directory is beside the
    package. For an editable install it is where packages are installed.
    """
    places = [place for place in sys.path if type(place) is str]
    beside = [os.path.isfile(os.path.join(place, "ckpt_viz", "__init__.py")) for place in places]
    for place, is_beside in zip(places, beside):  # noqa: B905 (not before Python 3.10)
        if is_beside or os.path.basename(place) in ("dist-packages", "site-packages"):
            version = _version_in(place)
            if version is not None:
                return version
    return "" if "ckpt_viz" in sys.modules or any(beside) else None


def _version_in(directory: str) -> str | None:
    begin, end = "ckpt_viz-", ".dist-info"
    try:
        with os.scandir(directory) as entries:
            for name in (entry.name for entry in islice(entries, _MAX_ENTRIES)):
                if name.startswith(begin) and name.endswith(end):
                    return _printable(name[len(begin) : -len(end)])
    except (OSError, ValueError):
        pass
    return None
