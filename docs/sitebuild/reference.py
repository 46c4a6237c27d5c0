"""The pages that Sphinx makes of docstrings."""

from __future__ import annotations

from sphinx.application import Sphinx


def keep_first_line(
    app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]
) -> None:
    """Keep napoleon from reading the start of a property's docstring as its type.

    It takes "The nodes: those that are saved." for a value of the type "The nodes".
    """
    if what in ("attribute", "property"):
        lines.insert(0, "")
