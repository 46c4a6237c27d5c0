"""Each exercise of the course knows a right answer from a wrong one, and from none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import course

# For each lesson, an answer to each exercise that a learner may think of. The right ones are the
# solutions in the lessons.
_WRONG = {
    "1": [
        "check_1(files=9, of_the_first=3)",
        'check_2(key="net/head/bias")',
        'check_3(keys=["net/note", "net/scale/.ATTRIBUTES/VARIABLE_VALUE"])',
    ],
    "2": [
        'check_1(key="layers/conv1/bn.0/.ATTRIBUTES/VARIABLE_VALUE")',
        "check_2(ckpt=tf.train.Checkpoint(net=net))",
        'check_3(name="ckpt-6", lost="ckpt-3")',
    ],
    "3": [
        'check_1(passes=["assert_existing_objects_matched"])',
        "check_2(root=tf.train.Checkpoint(big=tf.train.Checkpoint(net=renewed)))",
        'check_3(restored=[0, 1, 2], passes=["assert_consumed"])',
    ],
    "4": [
        'check_1(values_of="first")',
        "check_2(overwrites=True)",
        'check_3(reports=["restore"])',
    ],
    "5": ["check_1(model=network())", "check_2(passes=False)", "check_3(prefix=path)"],
    "6": ["check_1(passes=False)", "check_2(number=1.0)", "check_3(prefix=ones)"],
    "7": [
        'check_1(reached=["first", "second", "head"])',
        "check_2(model=network(classes=3))",
        'check_3(file="net.keras")',
    ],
}
_LESSONS = course.course_notebooks()
_NONE = "Put your answer in place of each ..., and run the cell again."


def test_there_is_a_wrong_answer_for_each_exercise() -> None:
    assert {path.name[0]: 3 for path in _LESSONS} == {n: len(_WRONG[n]) for n in _WRONG}


@pytest.mark.parametrize("path", _LESSONS, ids=lambda path: path.stem)
def test_an_exercise_waits_for_its_answer(path: Path) -> None:
    exercises = course.exercises(course.read_notebook(path))
    assert len(exercises) == 3
    for number, (cell, _) in enumerate(exercises, 1):
        assert f"check_{number}(" in cell["source"] and "..." in cell["source"]
        assert cell["outputs"][0]["text"].strip() == _NONE


@pytest.mark.tf
@pytest.mark.parametrize(
    "path",
    [_LESSONS[0], *(pytest.param(path, marks=pytest.mark.more) for path in _LESSONS[1:])],
    ids=lambda path: path.stem,
)
def test_each_exercise_tells_right_from_wrong(path: Path, tmp_path: Path) -> None:
    from nbformat.v4 import new_code_cell

    notebook = course.read_notebook(path)
    answers = []
    for (cell, solution), wrong in zip(
        course.exercises(notebook), _WRONG[path.name[0]], strict=True
    ):
        tried = [new_code_cell(wrong), new_code_cell(solution)]  # type: ignore[no-untyped-call]
        place = notebook.cells.index(cell) + 1
        notebook.cells[place:place] = tried
        answers.append((cell, *tried))
    course.execute(notebook, tmp_path)
    printed = [
        tuple(
            "".join(o.get("text", "") for o in c["outputs"] if o.get("name") == "stdout")
            for c in cells
        )
        for cells in answers
    ]
    for number, (none, wrong, right) in enumerate(printed, 1):
        assert none.strip() == _NONE, number
        assert wrong.startswith("Not yet: "), number
        assert right.strip().splitlines()[-1] == "Right.", number
