"""What a call of load_weights does to a model, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Stays(str, Enum):
    """Why a variable keeps its own value, or that nothing but the program's code tells."""

    NO_GROUP = "no group"  # the file has no variables under the path of the object
    COUNT = "count"  # the file has another number of variables for the object
    MISSING = "missing"  # the file has no variable of this number
    SHAPE = "shape"
    DTYPE = "dtype"  # Keras cannot convert the value
    UNREADABLE = "unreadable"
    REFUSED = "refused"  # the object itself is what the error is about
    AFTER_FAILURE = "after failure"  # a variable before it in the same object failed
    OPTIMIZER_SKIPPED = "optimizer skipped"
    NOT_LOADED = "not loaded"  # Keras loads no such object, or does not reach it
    ERROR_BEFORE = "error before"  # the call had ended
    ZEROED = "zeroed"  # Keras sets it to zero: the matrices of LoRA
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What happens to a live variable: the saved value of `key` goes to it, or why it `stays`.

    `cast` has the saved and the live dtype if these differ.
    """

    key: str | None = None
    stays: Stays | None = None
    cast: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """Why an object could not be loaded: class and text of the error.

    The text is only the beginning if Keras prints a value, or quotes TensorFlow. `refuses`: only
    the text tells why.
    """

    raises: str
    text: str
    is_whole: bool = True
    refuses: bool = False


@dataclass(frozen=True)
class Offers:
    """Where Keras looks for each value, whether or not the value can be loaded.

    `of_variables` has the saved key by live variable, and `of_objects` all keys that Keras finds
    for an object. `doubtful` are the objects whose place has evidence against it: the name of
    another object. `by_order` are the items of lists that only their order tells apart, though the
    file has another number of them.
    """

    of_variables: Mapping[int, str] = field(default_factory=dict)
    of_objects: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    doubtful: frozenset[int] = frozenset()
    by_order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WeightsLoading:
    """What `load_weights` would do.

    `raises` is the class of the error, "" if there is none, and None if only the program's own code
    tells. `failures` are the objects in the text of the error or warning, in its order. `loaded`
    has each live variable, by number. `to_the_end` has the same for a call that raises, if it went
    on after each error; empty if nothing tells that. `unused` are the saved keys whose values no
    variable has afterwards, but for those in `twice`: the variables that the optimizer inside
    another one sets again, by the first key. `skipped` are the optimizers whose state Keras skips
    with a warning. `unknown` are the objects whose own code loads them. `absent` is what a damaged
    `.h5` lists and does not have, if this ends the call.
    """

    raises: str | None
    text: str
    failures: Mapping[int, LoadFailure]
    loaded: tuple[Loaded, ...]
    unused: tuple[str, ...]
    skipped: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    offers: Offers = Offers()
    twice: Mapping[str, int] = field(default_factory=dict)
    absent: str = ""
    to_the_end: tuple[Loaded, ...] = ()
