"""What goes from the child that builds a model to its parent: faults, and the answer as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

END = "end"  # the line after an answer
COMPILATION = "compile_config"  # begins the places of what only the compilation of a model needs


@dataclass
class UnknownName:
    """A class or function that Keras does not know.

    `key` is what `custom_objects` needs to have it, `module` where the file says that it is.
    """

    key: str
    name: str
    module: str = ""


@dataclass
class LoadFault:
    """An error that Keras raises for a part of a configuration.

    `places` are the parts that have it, by the names of layers; the first raised it. `cls` is the
    class that is built, `is_own` whether it is the program's. `not_taken` are arguments that no
    constructor of it names, `refused` those whose value stops it, `missing` those that it needs.
    `follows` tells that the error may come from a placeholder before.
    """

    places: list[str]
    type: str
    text: str
    cls: str = ""
    is_own: bool = False
    unknown: UnknownName | None = None
    not_taken: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    follows: bool = False

    @property
    def is_of_compilation(self) -> bool:
        """Whether the error comes only if the model is compiled."""
        return self.places[0].split(".")[0] == COMPILATION

    @property
    def is_code(self) -> bool:
        """Whether Keras refuses code that is in the file."""
        return "safe_mode=False" in self.text  # what every version of Keras offers then


@dataclass
class BuildAnswer:
    """What became of a build.

    `raises` has the class of the error of `load_model`, and the text of the innermost one; None if
    a model came out. `program` loads the model in spite of the faults, and `program_raises` is what
    it raised in the child, None if a model came out. `stopped` tells why the child gave up.
    `modules` are those that the file names and the child did not import. `not_run` are classes of
    the program whose own `from_config` the child did not run.
    """

    raises: tuple[str, str] | None = None
    faults: list[LoadFault] = field(default_factory=list)
    program: str = ""
    program_raises: tuple[str, str] | None = None
    stopped: str = ""
    modules: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)


def answer_from(made: dict[str, Any]) -> BuildAnswer:
    """Return the answer that JSON has."""
    faults = [
        LoadFault(**{**fault, "unknown": fault["unknown"] and UnknownName(**fault["unknown"])})
        for fault in made["faults"]
    ]
    pairs = {name: made[name] and tuple(made[name]) for name in ("raises", "program_raises")}
    return BuildAnswer(**{**made, **pairs, "faults": faults})
