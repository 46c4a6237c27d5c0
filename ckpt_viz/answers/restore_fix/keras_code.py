"""Python code that gives variables the values of Keras' own file, by Keras and h5py alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ckpt_viz.answers.restore_fix.code import ASSIGNED, comments, needed_by
from ckpt_viz.answers.restore_fix.left_out import LeftOut
from ckpt_viz.answers.short_code.comprehensions import loops
from ckpt_viz.answers.short_code.loops import KeyedExpression, NamedTexts, in_lines
from ckpt_viz.files.keras_files.shards import Shards
from ckpt_viz.formats.hdf5_files.hdf5 import Hdf5
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.ground.expressions import quoted
from ckpt_viz.live.objects.layer_lists import LayerList
from ckpt_viz.matching.correspondence.conversions import Conversion

_ARCHIVE = (
    "with zipfile.ZipFile({path}) as archive:",
    "    weights = io.BytesIO(archive.read('model.weights.h5'))",
)
_CHECKED = (
    "for variable, value in values:",
    "    assert value.shape == tuple(variable.shape), variable",
)
_STATES, _NAMES = "optimizer_weights", "weight_names"
_LISTING_STATES = (
    f"names = file[{quoted(_STATES)}].attrs[{quoted(_NAMES)}]",
    # As h5py reads them, these are texts or bytes.
    "names = [name if isinstance(name, str) else name.decode() for name in names]",
    f"states = [f'{_STATES}/{{name}}' for name in names]",
)
_OF_ML_DTYPES = ("bfloat16", "float8")  # what h5py reads as bytes without a meaning


@dataclass(frozen=True, slots=True)
class Assigned:
    """A variable that gets a value: its expression, and the path and dtype of the data set."""

    expression: str
    key: str
    dtype: str | None
    conversion: Conversion | None


def loading(name: str, path: str, options: Mapping[str, bool], left: LeftOut) -> str:
    """Return the code that calls `load_weights`; `name` and `path` are expressions."""
    given = "".join(f", {option}=True" for option, is_given in options.items() if is_given)
    return "\n".join([f"{name}.load_weights({path}{given})", *comments(left)]) + "\n"


def assigning_from_keras(
    file: Graph,
    path: str,
    assigned: Sequence[Assigned],
    left: LeftOut,
    layers: Callable[[], Iterable[LayerList]] | None = None,
) -> str:
    """Return the code that assigns values one by one.

    It reads and compares everything before it changes the first variable.

    Args:
        file: The graph of Keras' file.
        path: The expression for its path.
        assigned: What gets a value.
        left: What stays out.
        layers: Returns the lists of layers of the program.
    """
    by_file: dict[str, dict[str, list[Assigned]]] = {}
    for item in sorted(assigned, key=lambda item: item.conversion is not None):
        of_file = by_file.setdefault(_file_of(file, path, item.key), {})
        of_file.setdefault(_value_of(file, item), []).append(item)
    conversions = [item.conversion for item in assigned if item.conversion is not None]
    numpy, helper = needed_by(conversions)
    imports = [*_imports(file, assigned), *numpy]
    if any("tf." in item.expression for item in assigned):
        imports.append("import tensorflow as tf")
    lines = [*imports, "", *helper, *_opening(file, path), "values = []"]
    for opened, by_value in by_file.items():
        reading = [
            line
            for value, items in by_value.items()
            for line in _reading(file, value, items, layers)
        ]
        lines += [f"with h5py.File({opened}) as file:"] if not file.is_of_tfjs else []
        lines += reading if file.is_of_tfjs else [f"    {line}" for line in reading]
    return "\n".join([*lines, *_CHECKED, *ASSIGNED, *comments(left)]) + "\n"


def _imports(file: Graph, assigned: Sequence[Assigned]) -> Iterator[str]:
    if _is_archive(file):
        yield from ("import io", "import zipfile", "")
    yield "import ckpt_viz as cv" if file.is_of_tfjs else "import h5py"
    if any(map(_is_of_ml_dtypes, assigned)):
        yield "import ml_dtypes"


def _opening(file: Graph, path: str) -> Iterator[str]:
    if _is_archive(file):
        yield from (line.format(path=path) for line in _ARCHIVE)
    if file.is_of_tfjs:
        yield f"file = cv.graph({path})"  # its weights may be quantized


def _is_archive(file: Graph) -> bool:
    return file.provenance is not None and file.provenance.format is Format.KERAS_ARCHIVE


def _is_of_ml_dtypes(item: Assigned) -> bool:
    return item.dtype is not None and item.dtype.startswith(_OF_ML_DTYPES)


def _value_of(file: Graph, item: Assigned) -> str:
    """Return the expression for a value in the form of its variable."""
    value = "file.read(key)" if file.is_of_tfjs else "file[key][()]"
    if _is_of_ml_dtypes(item):
        value = f"{value}.view(ml_dtypes.{item.dtype})"
    return value if item.conversion is None else item.conversion.code(value)


def _file_of(file: Graph, path: str, key: str) -> str:
    """Return the expression for what h5py opens to read a data set."""
    if _is_archive(file):
        return "weights"
    stored = file.stored_in
    return repr(stored.shard_of(key)) if isinstance(stored, Shards) else path


def _reading(
    file: Graph,
    value: str,
    items: Sequence[Assigned],
    layers: Callable[[], Iterable[LayerList]] | None,
) -> Iterator[str]:
    """Yield the code that reads the values of one expression."""
    pairs = [KeyedExpression(i.expression, i.key) for i in items]
    made = loops(pairs, layers, _states_of(file))
    yield from next((loop.needs.making for loop in made if loop.needs is not None), ())
    yield "keys = ["
    yield from (f"    {line}" for line in in_lines(made))
    yield "]"
    yield f"values += [(variable, {value}) for variable, key in keys]"


def _states_of(file: Graph) -> NamedTexts | None:
    """Return the keys of the states of an optimizer in their order, if an `.h5` file tells it."""
    stored = file.stored_in
    if not isinstance(stored, Hdf5) or isinstance(stored, Shards):
        return None
    if _STATES not in stored.groups or stored.texts(_STATES, f"{_NAMES}0") is not None:
        return None  # a long list is in several attributes
    names = stored.texts(_STATES, _NAMES) or ()
    return NamedTexts("states", _LISTING_STATES, [f"{_STATES}/{name}" for name in names])
