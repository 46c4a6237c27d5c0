import subprocess
import sys

import ckpt_viz as cv
from tests.support.graphs import keras3_adam


def test_import_brings_neither_tensorflow_nor_jupyter() -> None:
    program = (
        "import sys, ckpt_viz; "
        "sys.exit(', '.join({'tensorflow', 'IPython', 'ipywidgets', 'anywidget', 'graphviz'} "
        "& set(sys.modules)) or None)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_everything_public_is_there_and_documented() -> None:
    for name in cv.__all__:
        assert getattr(cv, name).__doc__, name


def test_all_is_complete() -> None:
    import types

    public = {
        name
        for name, value in vars(cv).items()
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and getattr(value, "__module__", "").startswith("ckpt_viz")
    }
    assert public - set(cv.__all__) == set()


def test_graph_of_a_graph_is_itself() -> None:
    adam = keras3_adam()
    assert cv.graph(adam) is adam
