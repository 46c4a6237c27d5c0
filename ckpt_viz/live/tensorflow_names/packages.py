"""Which library a class comes from, judged by names: nothing is imported."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

KERAS = ("keras", "tf_keras")
TENSORFLOW_AND_KERAS = ("tensorflow", *KERAS)


def package_of(obj: Any) -> str:
    """Return the package of a class or a function; "" for one without a module."""
    module = getattr(obj, "__module__", None)
    return module.partition(".")[0] if isinstance(module, str) else ""


def library_of(obj: object) -> str:
    """Return the package of Keras that has the class of an object, or a base of it."""
    packages = map(package_of, type(obj).__mro__)
    return next((package for package in packages if package in KERAS), KERAS[0])


def is_of_library(cls: type) -> bool:
    """Return whether a class is Python's own, TensorFlow's or Keras', not the program's."""
    return package_of(cls) in ("builtins", *TENSORFLOW_AND_KERAS)


def has_class(obj: object, names: Container[str], packages: Container[str]) -> bool:
    """Return whether the object has a class of one of these names, from these packages."""
    bases = type(obj).__mro__
    return any(base.__name__ in names and package_of(base) in packages for base in bases)
