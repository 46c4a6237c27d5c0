"""What makes `load_model` fail, cause by cause, and what to do about each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ckpt_viz.answers.dry_runs.verdicts import Raised
from ckpt_viz.answers.load_check.faults import LoadFault, UnknownName
from ckpt_viz.answers.load_check.load_code import is_of_keras, may_be_passed
from ckpt_viz.ground.text import count, first_clause, listed, printable, readable
from ckpt_viz.live.keras.keras_private import KERAS_2, KERAS_3

_MOST_TEXT = 200
_UNCOMPILED = "Load without the compilation: compile=False. Then call model.compile()."
BUILD_BY_CODE = "Build the model by code, then call model.load_weights(path)."


@dataclass(frozen=True, slots=True)
class LoadFinding:
    """One cause for which `load_model` fails.

    >>> tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)]).save("model.keras")
    >>> [finding.why for finding in cv.check_load_model("model.keras").findings]
    []

    `places` are the parts of the model that it concerns, by the names of layers. `raises` has the
    class of Keras' error and its text, as Keras would raise it without the causes before. `why` is
    a sentence, and `remedy` has one or more.
    """

    places: tuple[str, ...]
    raises: Raised
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Library:
    """The installed Keras: `keras` or `tf_keras`, and its version."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()

    @property
    def other(self) -> str:
        """The library with the other generation of Keras."""
        return KERAS_2 if self.name == KERAS_3 else KERAS_3

    def is_other_than(self, saved_by: str) -> bool:
        """Return whether a version of Keras is known to be of the other generation."""
        return bool(saved_by) and generation(saved_by) != generation(self.version)


def findings_of(
    faults: Sequence[LoadFault], library: Library, saved_by: str
) -> tuple[LoadFinding, ...]:
    """Return a finding for each cause, in the order in which Keras meets them."""
    causes: dict[object, list[LoadFault]] = {}
    for fault in faults:
        causes.setdefault(_cause(fault), []).append(fault)
    return tuple(_finding(alike, library, saved_by) for alike in causes.values())


def _cause(fault: LoadFault) -> object:
    if fault.unknown is not None:
        return fault.unknown.name, fault.unknown.module
    if arguments := (*fault.not_taken, *fault.refused, *fault.missing):
        return fault.cls, arguments
    return fault.is_code, fault.type, fault.text


def _finding(alike: Sequence[LoadFault], library: Library, saved_by: str) -> LoadFinding:
    first = alike[0]
    places = dict.fromkeys(place or "the model" for fault in alike for place in fault.places)
    why, remedy = _said(first, library, saved_by)
    if all(fault.is_of_compilation for fault in alike):
        is_passed = first.unknown is not None and remedy.startswith("Import")
        remedy = f"{_UNCOMPILED} Or: {remedy}" if is_passed else _UNCOMPILED
    return LoadFinding(tuple(places), Raised(first.type, first.text), why, remedy)


def _said(fault: LoadFault, library: Library, saved_by: str) -> tuple[str, str]:
    if fault.is_code:
        return (
            "The file has Python code here, which Keras does not run by default."
            if fault.cls == "Lambda"
            else "Keras refuses this by default: it runs code of the file, or reads other files.",
            "If you trust the author of the file, pass safe_mode=False.",
        )
    if fault.unknown is not None:
        return _about_name(fault.unknown, library, saved_by)
    if fault.missing:
        return (
            f"{_name(fault.cls)} needs {quoted(fault.missing)}, which its configuration lacks.",
            f"Return it from get_config() of {_name(fault.cls)}, or build the model by code."
            if fault.is_own
            else BUILD_BY_CODE,
        )
    if fault.not_taken:
        return _about_arguments(fault, library)
    text = readable(first_clause(printable(fault.text.strip())))[:_MOST_TEXT]
    if fault.refused:
        arguments = quoted(fault.refused)
        return (
            f"{_name(fault.cls)} of {library} refuses the value of {arguments}: {text}",
            _of_another_version(library, saved_by),
        )
    return f"Keras raises {fault.type}: {text}", BUILD_BY_CODE


def _name(name: str) -> str:
    return readable(printable(name.rpartition(">")[2] or name))


def _about_name(unknown: UnknownName, library: Library, saved_by: str) -> tuple[str, str]:
    name, key = _name(unknown.name), readable(printable(unknown.key))
    if is_of_keras(unknown.module):
        place = f"{_name(unknown.module)}.{name}"
        return f"{library} has no {place}.", _of_another_version(library, saved_by)
    if not may_be_passed(unknown.name):
        return (
            f"The file asks for a class or function called `{name}`, which no program calls so.",
            "Do not pass Python's own functions to load_model. Ask the author for the program.",
        )
    return (
        f"{library} does not know {name}, which is code of a program.",
        f"Import the module that registers it, or pass custom_objects={{{key!r}: {name}}}.",
    )


def _about_arguments(fault: LoadFault, library: Library) -> tuple[str, str]:
    name, arguments = _name(fault.cls), quoted(fault.not_taken)
    if fault.is_own:
        return (
            f"{name} of your program does not take {arguments}, which its configuration has.",
            f"Let {name}.__init__ take **kwargs, and pass them to super().__init__(**kwargs).",
        )
    return (
        f"{name} of {library} does not take {arguments}, which its configuration has.",
        "If their values do not matter to your model, leave them out."
        if fault.not_taken[1:]
        else "If its value does not matter to your model, leave it out.",
    )


def quoted(names: Iterable[str]) -> str:
    """Return arguments as a list in words."""
    return listed([f"`{_name(name)}`" for name in names])


def _of_another_version(library: Library, saved_by: str) -> str:
    if library.is_other_than(saved_by):
        return f"Load it with {library.other}. {BUILD_BY_CODE}"
    update = f"Update it: pip install -U {library.name.replace('_', '-')}."
    return f"{update} {BUILD_BY_CODE}"


def generation(version: str) -> str:
    """Return "2" for a version of Keras 2, "3" for one of Keras 3."""
    return version.partition(".")[0]


def places_in_words(places: Sequence[str]) -> str:
    """Return the places of a finding for a line."""
    shown = [printable(place) for place in places[:3]]
    more = len(places) - len(shown)
    return listed([*shown, count(more, "more place")] if more else shown, most=4)
