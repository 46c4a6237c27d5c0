"""A check with a changed program predicts what TensorFlow does with such a program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.changed_program import ChangedProgram, EditLine, WhatIf
from ckpt_viz.graphs.edits.draft import Draft
from ckpt_viz.graphs.edits.named_edit import NamedEdit
from tests.programs.pairs import FAMILIES, law_of
from tests.support import oracle
from tests.support.amounts import amount
from tests.support.laws import state_of
from tests.support.programs import ckpt, module, saved, var, with_children, written

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _program() -> Any:
    blocks = [module(w=var([float(i)])) for i in range(3)]
    net = module(blocks=blocks, a=module(x=var(1.0)), b=module(y=var(2.0)))
    net.items = [var([0.0]), var([1.0, 2.0])]  # a name that a dictionary has, too
    return ckpt(net=net, head=var(9.0))


EDITS = [
    NamedEdit("rename", "net.a", "c"),
    NamedEdit("rename", "head", "tail"),
    NamedEdit("remove", "net.a"),
    NamedEdit("remove", "net.blocks.1"),
    NamedEdit("move", "net.a.x", "z", "net.b"),
    NamedEdit("move", "net.blocks.2", "0", "net.blocks"),
    NamedEdit("move", "net.items.1", "0", "net.items"),
    NamedEdit("remove", "net.items"),
    NamedEdit("insert", "net.blocks.0", "1", "net.blocks"),
    NamedEdit("insert", "net.a", "other", "net"),
    NamedEdit("exchange", "net.a", other="net.b"),
    NamedEdit("exchange", "net.blocks.0", other="net.blocks.2"),
]


def _words(edit: NamedEdit) -> str:
    return " ".join(str(word) for word in (edit.kind, edit.part, edit.to, edit.other) if word)


def _real(make: Callable[[], Any], path: str, code: str, method: str = "restore") -> oracle.Outcome:
    """Return what TensorFlow does with a program on which this code has run."""
    import tensorflow as tf

    program = make()
    exec(code, {"ckpt": program, "tf": tf})
    return oracle.outcome_of_restore(program, path, method=method)


def _assert_predicted(changed: ChangedProgram, real: oracle.Outcome) -> None:
    differences = list(oracle._differences(oracle.outcome_of_check(changed.check), real))
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("edit", EDITS, ids=_words)
@pytest.mark.parametrize("save", [saved, written])
def test_an_edit_changes_the_check_as_its_code_changes_the_program(
    edit: NamedEdit, save: Callable[..., str], tmp_path: Path
) -> None:
    program = _program()
    path = save(tmp_path, **{"net": program.net, "head": program.head})
    watched = _program()
    before = state_of(watched)
    first = ChangedProgram.of(cv.check(watched, path))
    changed = first.after(edit)
    _assert_predicted(changed, _real(_program, path, changed.lines[0].code))
    is_beside = edit.to == "other"  # the restore asks for no such name
    assert (changed.first_difference(first) is None) == is_beside
    assert not oracle._changes(before, state_of(watched))


def _keras_program(keras: Any) -> Callable[[], Any]:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.l1 = keras.layers.Dense(3)
            self.l2 = keras.layers.Dense(2)

        def call(self, inputs: Any) -> Any:
            return self.l2(self.l1(inputs))

    def make() -> Any:
        net = Net()
        net(np.zeros((1, 2), "float32"))
        optimizer = keras.optimizers.Adam()
        optimizer.build(net.trainable_variables)
        return ckpt(net=net, optimizer=optimizer, step=var(3))

    return make


@pytest.mark.parametrize("keras", ["keras", "tf_keras"])
@pytest.mark.parametrize(
    "edit",
    [
        NamedEdit("remove", "optimizer"),
        NamedEdit("rename", "step", "count"),
        NamedEdit("exchange", "net.l1", other="net.l2"),
        NamedEdit("move", "step", "count", "net"),
    ],
    ids=lambda edit: edit.kind + " " + edit.part,
)
def test_an_edit_of_a_keras_program(edit: NamedEdit, keras: str, tmp_path: Path) -> None:
    make = _keras_program(pytest.importorskip(keras))
    path = str(make().save(str(tmp_path / "ckpt")))
    changed = ChangedProgram.of(cv.check(make(), path)).after(edit)
    _assert_predicted(changed, _real(make, path, changed.lines[0].code))


_PROGRAMS = {"plain": amount(30, 60), "keras 3": amount(10, 60), "tf_keras": amount(5, 60)}


@pytest.mark.parametrize("family", FAMILIES)
def test_an_edit_that_changes_nothing_changes_no_check(family: str) -> None:
    """Random programs, whose own checks equal TensorFlow: none may lose what only it knows."""
    compared = 0
    check_of = cv.check

    def checked(live: Any, path: Any = None, **options: Any) -> cv.RestoreCheck:
        nonlocal compared
        check = check_of(live, path, **options)
        if options.get("options") is None and _can_change(check):
            first = ChangedProgram.of(check)
            graph = cv.ObjectGraph.of(Draft.of(check.live).finished())
            same = first._with(graph, EditLine("", ""), None)
            assert oracle.outcome_of_check(same.check) == oracle.outcome_of_check(check)
            assert same.first_difference(first) is None
            assert same.result == first.result
            compared += 1
        return check

    with mock.patch.object(cv, "check", checked):
        law_of(FAMILIES[family]).hold(0, _PROGRAMS[family])
    assert compared


def _can_change(check: cv.RestoreCheck) -> bool:
    try:
        ChangedProgram.of(check)
    except cv.EditError:
        return False
    return True


def _net(*layers: str, has_optimizer: bool = False, is_built: bool = True) -> Callable[[], Any]:
    """Return what makes a Keras model of named layers, and its optimizer."""
    import keras

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for layer in layers:
                setattr(self, layer, keras.layers.Dense(2))

        def call(self, inputs: Any) -> Any:
            for layer in layers:
                inputs = getattr(self, layer)(inputs)
            return inputs

    def make() -> Any:
        net, optimizer = Net(), keras.optimizers.Adam()
        if is_built:
            net(np.zeros((1, 2), "float32"))
            optimizer.build(net.trainable_variables)
        return ckpt(net=net, **({"optimizer": optimizer} if has_optimizer else {}))

    return make


def _counts(outcome: oracle.Outcome) -> Any:
    """Return what does not depend on the order of the attributes, by which TensorFlow names."""
    verdicts = outcome.raises, outcome.consumed, outcome.existing_objects_matched
    sizes = len(outcome.unresolved), len(outcome.unmatched or ()), len(outcome.bound)
    return verdicts, outcome.nontrivial_match, sizes, outcome.unused_attributes


@pytest.mark.parametrize("part", ["net.l2", "optimizer"])
def test_a_program_gets_a_part_as_the_checkpoint_has_it(part: str, tmp_path: Path) -> None:
    path = str(_net("l1", "l2", has_optimizer=True)().save(str(tmp_path / "ckpt")))
    lacks_layer = part == "net.l2"
    live = _net(*(["l1"] if lacks_layer else ["l1", "l2"]), has_optimizer=lacks_layer)()
    check = cv.check(live, path)
    assert check.saved is not None
    changed = ChangedProgram.of(check).with_saved(check.saved.node_id(part))
    assert changed.lines[0].text == f"Insert {part}, as it was saved"
    assert part.split(".")[-1] in changed.lines[0].code
    assert changed.edited is not None
    assert changed.graph.node_id(part) == changed.edited
    if lacks_layer:  # the optimizer was built without the new layer
        assert "(root).net.l2._kernel" in changed.check.bound
        assert not changed.check.consumed
    else:
        real = oracle.outcome_of_restore(_net("l1", "l2", has_optimizer=True)(), path)
        assert _counts(oracle.outcome_of_check(changed.check)) == _counts(real)


def test_the_next_step_begins_with_the_change_of_the_program(tmp_path: Path) -> None:
    path = written(tmp_path, net=module(w=var([1.0])))
    check = cv.check(ckpt(net=module(w=var([0.0]))), path)
    changed = ChangedProgram.of(check).after(NamedEdit("rename", "net", "model"))
    overlay = changed.check.overlay
    texts = {problem.to_do(overlay.wording) for problem in overlay.problems}
    assert any("Change the program, check it again and run the code" in text for text in texts)
    assert not any("check.fix()" in text for text in texts)


def test_a_part_whose_holder_is_missing_says_so(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(a=module(x=var())))
    check = cv.check(ckpt(), path)
    assert check.saved is not None
    with pytest.raises(cv.EditError, match=r"lacks the holder of net\.a; insert that first"):
        ChangedProgram.of(check).with_saved(check.saved.node_id("net.a"))


def test_what_waits_is_restored_if_it_is_built_before(tmp_path: Path) -> None:
    path = str(_net("l1", "l2")().save(str(tmp_path / "ckpt")))
    first = ChangedProgram.of(cv.check(_net("l1", "l2", is_built=False)(), path))
    built = first.built()
    real = oracle.outcome_of_restore(_net("l1", "l2")(), path)
    assert _counts(oracle.outcome_of_check(built.check)) == _counts(real)
    assert (first.result.restored, built.result.restored) == (1, 5)
    with pytest.raises(cv.EditError, match="nothing waits"):
        built.built()


@pytest.mark.parametrize("method", ["read", "restore"])
def test_another_method(method: str, tmp_path: Path) -> None:
    path = saved(tmp_path, a=var())
    other = "read" if method == "restore" else "restore"
    first = ChangedProgram.of(cv.check(ckpt(a=var()), path, method=other))
    changed = first.supposing(WhatIf(method=method))
    _assert_predicted(changed, oracle.outcome_of_restore(ckpt(a=var()), path, method=method))
    assert changed.result.consumed == (method == "restore")


def test_another_order_of_the_save(tmp_path: Path) -> None:
    """The program that saves has set its attributes in the opposite order."""
    path = written(tmp_path / "one", a=module(x=var(1.0), y=var(2.0)), b=var(3.0))
    reversed_program = with_children(ckpt(), b=var(3.0), a=module(y=var(2.0), x=var(1.0)))
    reverse = reversed_program.write(str(tmp_path / "other"))
    first = ChangedProgram.of(cv.check(_small(), path))
    changed = first.supposing(WhatIf(is_reordered=True))
    steps = cv.check(_small(), reverse).steps
    assert [(s.action, s.local_name, s.live) for s in changed.check.steps] == [
        (s.action, s.local_name, s.live) for s in steps
    ]
    assert changed.first_difference(first) == 2
    assert changed.result == first.result


def test_another_order_of_the_save_of_a_model_changes_no_result(tmp_path: Path) -> None:
    make = _net("l1", "l2", has_optimizer=True)
    first = ChangedProgram.of(cv.check(make(), str(make().save(str(tmp_path / "ckpt")))))
    changed = first.supposing(WhatIf(is_reordered=True))
    assert changed.result == first.result and changed.check.findings == ()


def _small() -> Any:
    return ckpt(a=module(x=var(), y=var()), b=var())


def test_warnings_are_those_that_tensorflow_logs(tmp_path: Path) -> None:
    import tensorflow as tf

    path = saved(tmp_path, a=var(), b=var(), c=module(d=var()))
    first = ChangedProgram.of(cv.check(ckpt(a=var()), path))
    partial = first.supposing(WhatIf(is_partial=True))
    for program, is_partial in ((first, False), (partial, True)):
        with mock.patch.object(tf.get_logger(), "warning") as logged:
            status = ckpt(a=var()).restore(path)
            if is_partial:
                status.expect_partial()
            del status
        lines = [call for call in logged.call_args_list if "could not be found" in str(call)]
        assert program.result.warnings == len(lines)
        assert program.result.consumed is False
    assert first.result.warnings == 2


@pytest.mark.parametrize("is_path", [True, False])
def test_an_edited_graph_of_live_objects_is_their_program_changed(
    is_path: bool, tmp_path: Path
) -> None:
    """The restore makes a save counter, which the graph lacks: it is still that of a program."""
    path = saved(tmp_path, a=module(x=var()), b=var())
    saved_side = path if is_path else cv.graph(path)
    live = ckpt(a=module(x=var()), b=var())
    check = cv.check(cv.graph(live).renamed({"a": "c"}), saved_side)
    real = oracle.outcome_of_restore(ckpt(c=module(x=var()), b=var()), path)
    assert _counts(oracle.outcome_of_check(check)) == _counts(real)
    assert check.unmatched == ("(root).c.x",)
    assert not cv.check(cv.graph(live).renamed({"a": "c"}), path + "-no").nontrivial_match


def test_the_counter_that_a_restore_makes_is_restored_by_the_fix_of_a_changed_program_too(
    tmp_path: Path,
) -> None:
    path = saved(tmp_path, a=module(x=var()))
    first = ChangedProgram.of(cv.check(ckpt(b=module(x=var())), path))
    table = first.named(first.graph.node_id("b"), "a").check.overlay.table
    assert table is not None
    assert table.sentence == "Restores all 2 values."
    (counter,) = (line for line in table.lines if line.saved == "save_counter")
    assert counter.live_facts == "made by the restore"


def test_the_check_of_an_edited_program_is_changed_further(tmp_path: Path) -> None:
    """The second edit undoes the first: what only the program knows, its save counter, is kept."""
    path = saved(tmp_path, a=module(x=var()), b=var())
    live = ckpt(a=module(x=var()), b=var())
    edited = cv.check(cv.graph(live).renamed({"a": "c"}), path)
    back = ChangedProgram.of(edited).after(NamedEdit("rename", "c", "a"))
    assert back.result == ChangedProgram.of(cv.check(live, path)).result
    assert back.result.consumed and not edited.consumed


def test_a_checkpoint_in_place_of_a_program(tmp_path: Path) -> None:
    program = _program()
    path = saved(tmp_path, net=program.net, head=program.head)
    first = ChangedProgram.of(cv.check(path, path))
    changed = first.after(NamedEdit("rename", "net.a", "c"))
    assert first.result.consumed and not changed.result.consumed
    assert changed.check.unresolved == ("(root).net.a.x",)
    back = changed.after(NamedEdit("rename", "net.c", "a"))
    assert back.result == first.result and back.first_difference(first) is None


def test_a_program_that_has_other_parts_by_now_is_to_be_checked_again(tmp_path: Path) -> None:
    live = ckpt(a=module())
    first = ChangedProgram.of(cv.check(live, saved(tmp_path, a=module(x=var()))))
    live.a.later = var()
    with pytest.raises(cv.EditError, match="other parts than when its graph was made"):
        _ = first.after(NamedEdit("rename", "a", "b")).check


@pytest.mark.parametrize("kind", ["names", "happened", "saver"])
def test_a_check_that_has_no_changed_program_says_why(kind: str, tmp_path: Path) -> None:
    path = saved(tmp_path, a=var())
    if kind == "happened":
        check = cv.check(ckpt(a=var()).restore(path))
    else:
        import tensorflow as tf

        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            variable = tf.compat.v1.get_variable("a", initializer=1.0)
            session.run(variable.initializer)
            saver = tf.compat.v1.train.Saver()
            path = saver.save(session, str(tmp_path / "names"))
        check = cv.check(saver if kind == "saver" else ckpt(a=var()), path)
    assert not check.overlay.can_change
    with pytest.raises(cv.EditError, match="only a restore by objects"):
        ChangedProgram.of(check)
