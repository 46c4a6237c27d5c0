r"""Groups that Keras called `layers\dense`, as Keras 2.12 to 2.15 does on Windows.

Keras looks for `layers/dense`, and so it finds none of them, on any system.
"""

from __future__ import annotations

from collections.abc import Iterable

_OF_WINDOWS = "\\"
CAUSE = "Keras 2 names groups so on Windows"


def with_slashes(path: str) -> str:
    r"""Return a path of a group or data set as Keras looks for it.

    >>> with_slashes("layers\\sequential\\layers\\dense/vars/0")
    'layers/sequential/layers/dense/vars/0'
    """
    if _OF_WINDOWS not in path:
        return path
    return "/".join(filter(None, path.replace(_OF_WINDOWS, "/").split("/")))


def first_of_windows(groups: Iterable[str]) -> str | None:
    """Return the first group with a name of Windows, None if there is none."""
    return next((group for group in groups if _OF_WINDOWS in group), None)


def parents_of(path: str) -> Iterable[str]:
    """Yield the paths of the groups above a path, the outermost first.

    >>> list(parents_of("layers/dense/vars"))
    ['layers', 'layers/dense']
    """
    for place, character in enumerate(path):
        if character == "/":
            yield path[:place]
