"""Exceptions by the name of their class, as TensorFlow would raise them."""

from __future__ import annotations

import builtins
import sys

from ckpt_viz.answers.dry_runs.verdicts import Raised
from ckpt_viz.ground.text import printable_lines


def exception_of(raised: Raised) -> Exception:
    """Return an exception of the class that TensorFlow would raise, with the text.

    TensorFlow's own errors come from its module, if that is imported. If the class cannot be found
    (for example a user's class), an AssertionError with its name replaces it.
    """
    message = printable_lines(raised.message)  # contains names from the file and the program
    builtin = getattr(builtins, raised.type, None)
    if isinstance(builtin, type) and issubclass(builtin, Exception):
        return builtin(message)
    errors = sys.modules.get("tensorflow.python.framework.errors_impl")
    of_tensorflow = getattr(errors, raised.type, None)
    if isinstance(of_tensorflow, type) and issubclass(of_tensorflow, Exception):
        try:
            exception: Exception = of_tensorflow(None, None, message)
        except TypeError:  # OpError itself takes its code, too
            exception = of_tensorflow(None, None, message, 2)
        return exception
    return AssertionError(f"{printable_lines(raised.type)}: {message}")
