"""What makes `load_model` fail, cause by cause, and what to do about each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ckpt_viz.live.packages import KERAS
from ckpt_viz.load_check.abstract import LoadFault
from ckpt_viz.load_check.loading import COMPILATION
from ckpt_viz.restore_check.verdicts import Raised
from ckpt_viz.text import count, first_clause, listed, printable, readable

_OF_CODE = "safe_mode=False"  # what every version of Keras offers then
_MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class LoadFinding:
    """One cause for which `load_model` fails.

    `places` are the parts of the model that it concerns, by the names of layers. `raises` has the
    class of Keras' error and its text, as Keras would raise it without the causes before. `why` is
    a sentence, and `remedy` another one.
    """

    places: tuple[str, ...]
    raises: Raised
    why: str
    remedy: str
    faults: tuple[LoadFault, ...] = ()

    @property
    def is_of_compilation(self) -> bool:
        """Whether only the compilation of the model fails."""
        return all(is_of_compilation(fault) for fault in self.faults)


@dataclass(frozen=True, slots=True)
class Library:
    """The installed Keras: `keras` or `tf_keras`, and its version."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()


def findings_of(
    faults: Sequence[LoadFault], library: Library, saved_by: str
) -> tuple[LoadFinding, ...]:
    """Return a finding for each cause, in the order in which Keras meets them."""
    causes: dict[object, list[LoadFault]] = {}
    for fault in faults:
        causes.setdefault(_cause(fault), []).append(fault)
    return tuple(_finding(alike, library, saved_by) for alike in causes.values())


def is_of_compilation(fault: LoadFault) -> bool:
    """Return whether an error comes only if the model is compiled."""
    return COMPILATION in fault.place.split(".")


def is_unknown_name(fault: LoadFault) -> bool:
    """Return whether Keras would know the name if the program told it."""
    subject = fault.subject
    package = subject.module.partition(".")[0]
    return bool(subject.key) and (package not in KERAS or not subject.module)


def is_code(fault: LoadFault) -> bool:
    """Return whether Keras refuses code that is in the file."""
    return _OF_CODE in fault.text


def is_about_arguments(fault: LoadFault) -> bool:
    """Return whether the configuration has arguments that the constructor does not take."""
    return bool(fault.subject.arguments) and "missing" not in fault.text.partition("'")[0]


def _cause(fault: LoadFault) -> object:
    subject = fault.subject
    if subject.name:
        return subject.name, subject.module
    if subject.cls is not None and subject.arguments:
        return id(subject.cls), is_about_arguments(fault)
    return is_code(fault), fault.type, fault.text


def _finding(alike: Sequence[LoadFault], library: Library, saved_by: str) -> LoadFinding:
    first = alike[0]
    places = tuple(dict.fromkeys(fault.place for fault in alike))
    arguments = dict.fromkeys(name for fault in alike for name in fault.subject.arguments)
    about = replace(first, subject=replace(first.subject, arguments=tuple(arguments)))
    why, remedy = _said(about, library, saved_by)
    if all(is_of_compilation(fault) for fault in alike):
        if first.subject.name and not is_unknown_name(first):
            remedy = _UNCOMPILED
        else:
            remedy = f"{remedy} Or: {_UNCOMPILED}"
    return LoadFinding(places, Raised(first.type, first.text), why, remedy, tuple(alike))


def _said(fault: LoadFault, library: Library, saved_by: str) -> tuple[str, str]:
    subject = fault.subject
    name = readable(printable(subject.name))
    if is_code(fault):
        return (
            "The file has Python code here, which Keras does not run by default.",
            "If you trust its author, pass safe_mode=False: load_model then runs the code.",
        )
    if is_unknown_name(fault):
        key = readable(printable(subject.key))
        return (
            f"{library} does not know {name}, which is code of a program.",
            f"Import the module that registers it, or pass custom_objects={{{key!r}: {name}}}.",
        )
    if subject.name:
        module = readable(printable(subject.module))
        place = f"{module}.{name}".strip(".") if module != name else name
        return f"{library} has no {place}.", _of_another_version(library, saved_by)
    if subject.cls is not None and subject.arguments:
        return _about_arguments(fault, library)
    text = readable(first_clause(printable(fault.text.strip())))[:_MOST_TEXT]
    return f"Keras raises {fault.type}: {text}", _BUILD


def _about_arguments(fault: LoadFault, library: Library) -> tuple[str, str]:
    cls = fault.subject.cls
    assert cls is not None
    name, module = cls.__name__, cls.__module__
    arguments = quoted(fault.subject.arguments)
    if not is_about_arguments(fault):
        return (
            f"{name} needs {arguments}, which its configuration lacks.",
            f"Return it from get_config() of {name}, or build the model by code."
            if module.partition(".")[0] not in KERAS
            else _BUILD,
        )
    if module.partition(".")[0] not in KERAS:
        return (
            f"{name} of your program does not take {arguments}, which its configuration has.",
            f"Let {name}.__init__ take **kwargs, and pass them to super().__init__(**kwargs).",
        )
    return (
        f"{name} of {library} does not take {arguments}, which its configuration has.",
        "If its value does not matter to your model, leave it out in a copy of the file.",
    )


_UNCOMPILED = "Load without the compilation: compile=False. Then call model.compile()."
_BUILD = "Build the model by code, then call model.load_weights(path)."


def quoted(names: Iterable[str]) -> str:
    """Return arguments as a list in words."""
    return listed([f"`{readable(printable(name))}`" for name in names])


def _of_another_version(library: Library, saved_by: str) -> str:
    others = {"keras": "tf_keras", "tf_keras": "keras"}
    if saved_by and generation(saved_by) != generation(library.version):
        return f"Load it with {others.get(library.name, 'keras')}. {_BUILD}"
    update = f"Update it: pip install -U {library.name.replace('_', '-')}."
    return f"{update} {_BUILD}"


def generation(version: str) -> str:
    """Return "2" for a version of Keras 2, "3" for one of Keras 3."""
    return version.partition(".")[0]


def places_in_words(places: Sequence[str]) -> str:
    """Return the places of a finding for a line."""
    shown = [printable(place) for place in places[:3]]
    more = len(places) - len(shown)
    return listed([*shown, count(more, "more place")] if more else shown, most=4)
