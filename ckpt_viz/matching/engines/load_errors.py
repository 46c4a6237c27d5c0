"""What Keras prints and raises when an object does not take its weights."""

from __future__ import annotations

from collections.abc import Mapping

from ckpt_viz.matching.engines.keras_sides import (
    LiveSaveable,
    LiveVariable,
    LiveWeights,
    Loading,
)
from ckpt_viz.matching.engines.load_outcome import (
    LoadFailure,
)


def no_file(path: str) -> LoadFailure:
    """Return the failure of a file that is not there."""
    text = f"[Errno 2] Unable to synchronously open file (unable to open file: name = '{path}'"
    return LoadFailure("FileNotFoundError", text, is_whole=False, refuses=True)


def raised_by_cast(variable: LiveVariable) -> str:
    """Return the error for a text in place of a number."""
    if variable.dtype in ("float16", "float32", "float64", "string"):
        return "ValueError"
    return "TypeError" if "float" in str(variable.dtype) else "UnimplementedError"


def misshapen(variable: LiveVariable, shape: tuple[int, ...]) -> LoadFailure:
    """Return the failure of a variable that gets a value of another shape."""
    if not variable.is_keras_3:
        return LoadFailure(
            "ValueError",
            f"Cannot assign value to variable ' {variable.name}': Shape mismatch.The variable "
            f"shape {variable.shape}, and the assigned value shape {shape} are incompatible.",
        )
    return LoadFailure(
        "ValueError",
        "The shape of the target variable and the shape of the target value in "
        f"`variable.assign(value)` must match. variable.shape={variable.shape}, "
        f"Received: value.shape={shape}. Target variable: {variable.text}",
        is_whole=False,
    )


def count_failure(
    saveable: LiveSaveable, loading: Loading, count: int, *, explains_unbuilt: bool
) -> LoadFailure:
    """Return the failure of an object for which the file has another number of variables."""
    if explains_unbuilt and loading.counted == 0:
        text = (
            f"Layer '{saveable.name}' was never built and thus it doesn't have any variables. "
            f"However the weights file lists {count} variables for this layer."
        )
        return LoadFailure("ValueError", text, is_whole=False)
    text = (
        f"Layer '{saveable.name}' expected {loading.counted} variables, but received {count} "
        f"variables during loading. Expected: {list(loading.expected)}"
    )
    return LoadFailure("ValueError", text)


def text_of_all(live: LiveWeights, failures: Mapping[int, LoadFailure]) -> str:
    """Return the text of Keras' error, up to what only a value or the program's code tells."""
    first = next(iter(failures))
    texts = [live.saveables[number].text for number in failures]
    text = f"A total of {len(failures)} objects could not be loaded. Example error message for "
    if texts[0] is None:
        return f"{text}object "
    text += f"object {texts[0]}:\n\n{failures[first].text}"
    if not failures[first].is_whole:
        return text
    text += "\n\nList of objects that could not be loaded:\n["
    for place, of_object in enumerate(texts):
        if of_object is None:
            return text
        text += f"{', ' if place else ''}{of_object}"
    return f"{text}]"
