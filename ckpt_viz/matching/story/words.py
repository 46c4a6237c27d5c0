"""The sentences of restores and asserts, which sentences.json has.

Each sentence has a text and a reason, with names of facts in braces, and a place in TensorFlow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ckpt_viz.ground.text import count, first_clause
from ckpt_viz.matching.story.places import TensorFlowPlace


@dataclass(frozen=True)
class Sentence:
    """What to say in one situation, and the place in TensorFlow that brings it about."""

    text: str
    reason: str
    place: TensorFlowPlace
    is_problem: bool


@dataclass(frozen=True)
class Facts:
    """The facts that sentences name, each made of `about` when a sentence asks for it."""

    makers: Mapping[str, Callable[..., str]]
    about: tuple[object, ...] = ()

    def __getitem__(self, name: str) -> str:
        """Return a fact."""
        return self.makers[name](*self.about)

    def said(self, template: str) -> str:
        """Return a sentence with its facts. Braces in a fact are text."""
        if "{" not in template and "}" not in template:
            return template
        sentence = template.format_map(self)
        is_phrase = template.startswith("{") and sentence.startswith("the ")
        return f"T{sentence[1:]}" if is_phrase else sentence


def keys_in_words(keys: Sequence[str]) -> str:
    """Return which tensors or attributes: the name of one, the number of several.

    >>> keys_in_words(["a/.ATTRIBUTES/VARIABLE_VALUE"]), keys_in_words(["a", "b"])
    ("'a/.ATTRIBUTES/VARIABLE_VALUE'", '2 tensors')
    """
    return f"'{keys[0]}'" if len(keys) == 1 else count(len(keys), "tensor")


def as_sentence(message: str) -> str:
    r"""Return the first line of an exception's message as a sentence, without the name it is about.

    >>> as_sentence("no such file; copy it again\nmore")
    'no such file.'
    >>> as_sentence("tensor_name = a; expected dtype float does not equal original dtype half")
    'expected dtype float does not equal original dtype half.'
    """
    line = message.strip().partition("\n")[0]
    if line.startswith("tensor_name = "):  # kernels of TensorFlow
        line = line.partition("; ")[2]
    line = first_clause(line)
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _sentence(entry: Mapping[str, object]) -> Sentence:
    place = entry["place"]
    assert isinstance(place, list)
    module, function, mark = place
    return Sentence(
        str(entry["text"]),
        str(entry["reason"]),
        TensorFlowPlace(f"tensorflow.python.{module}", function, mark),
        bool(entry.get("problem")),
    )


SENTENCES: Mapping[str, Sentence] = {
    situation: _sentence(entry)
    for situation, entry in json.loads(
        Path(__file__).with_name("sentences.json").read_text("utf-8")
    ).items()
}
