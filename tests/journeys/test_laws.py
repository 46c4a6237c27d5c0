"""The seven laws of a restore, each on every journey."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple

import pytest

from tests.journeys.journeys import BY_NAMES, HEAD, MIDDLE, RENAMED, Journey, journeys
from tests.journeys.laws import PROGRAM, breaks_of
from tests.journeys.walk import Walked, walk
from tests.programs.law import UnfitError
from tests.support.head_sentence import faults_in, sentence_of
from tests.support.matrices import at_night, in_which_values_meet

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _inputs() -> Iterator[object]:
    """Yield journeys in which any two values meet, as a kind and an edit; at night all."""
    chosen = in_which_values_meet([astuple(journey) for journey in journeys()])
    for journey in journeys():
        if astuple(journey) in chosen or at_night():
            yield pytest.param(journey, id=str(journey))


@pytest.fixture(scope="module", params=_inputs())
def walked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Walked:
    journey: Journey = request.param
    pytest.importorskip(journey.library)
    try:
        return walk(journey, tmp_path_factory.mktemp("journey"))
    except UnfitError as error:
        pytest.skip(str(error))


def _assert(law: str, walked: Walked) -> None:
    """Assert that a journey keeps a law."""
    __tracebackhide__ = True
    breaks = breaks_of(law, walked)
    if breaks is None:
        pytest.skip("the law says nothing of this journey")
    told = [f"{one.kind}: {one.facts}" for one in breaks]
    assert not told, "\n".join([f"{walked.journey} breaks the law {law!r}:", *told])


def test_complete(walked: Walked) -> None:
    _assert("Complete", walked)


def test_never_less(walked: Walked) -> None:
    _assert("Never less", walked)


def test_the_program_that_wrote_the_file(walked: Walked) -> None:
    _assert(PROGRAM, walked)


def test_one_reason(walked: Walked) -> None:
    _assert("One reason", walked)


def test_equal_is_certain(walked: Walked) -> None:
    _assert("Equal is certain", walked)


def test_nothing_silent(walked: Walked) -> None:
    _assert("Nothing silent", walked)


def test_life_goes_on(walked: Walked) -> None:
    _assert("Life goes on", walked)


def test_the_sentence_at_the_head_names_what_was_edited(walked: Walked) -> None:
    if walked.refused is not None:
        pytest.skip("there is no check or no fix")
    assert [*faults_in(walked.check)] == []
    journey, sentence = walked.journey, sentence_of(walked.check)
    has_names = journey.kind in _WITH_NAMES and journey.file not in (".h5", *BY_NAMES)
    if not has_names or (journey.library, journey.file) == ("tf_keras", ".weights.h5"):
        pytest.skip("the file or the program has names that Keras made")
    if sentence and not sentence.startswith("Restores all"):
        words = {*re.findall(r"\w+", sentence)}
        is_unwrapped = journey.undone and journey.edit == "parts in a container"
        touched = {"inlined"} if is_unwrapped else _TOUCHED.get(journey.edit, words)
        assert touched <= words


_WITH_NAMES = ("sequential", "functional", "nested")
_TOUCHED = {
    "a part is renamed": {RENAMED, "other"},
    "the child is renamed": {"model", "net"},
    "a layer is inserted": {"mid"},
    "a layer is removed": {RENAMED},
    "a head of another size": {HEAD},
    "a layer is frozen": {"optimizer", "first"},
    "a head of another name": {HEAD, "out"},
    "a layer is inserted, another head": {"mid", HEAD, "out"},
    "a bias is left out": {MIDDLE, "bias"},
    "no optimizer": {"optimizer"},
    "the optimizer is not built": {"optimizer"},
    "the optimizer is wrapped": {"optimizer"},
    "parts in a container": {"group"},
}
