"""Random pairs of a checkpoint and a target: the check must predict what TensorFlow does.

A case is plain data: one recipe to save, and variants of it that programs may have become, each to
restore into.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from pathlib import Path
from random import Random
from typing import Any

import ckpt_viz as cv
from tests.programs.keras_recipes import KERAS_3, TF_KERAS
from tests.programs.law import Law, UnfitError
from tests.programs.plain_recipes import PLAIN, saver_gone_afterwards, strategy
from tests.programs.recipes import Built, Case, Family, Goal, Recipe
from tests.support.oracle import Comparison, Outcome, compare
from tests.support.programs import checkpoint_of

FAMILIES = {family.name: family for family in (PLAIN, KERAS_3, TF_KERAS)}
GOALS = 4  # targets of one checkpoint


def make_case(rng: Random, family: Family) -> Case:
    """Return a random case."""
    source = family.source(rng)
    goals = tuple(_goal(rng, family, source) for _ in range(GOALS))
    return Case(family.name, source, rng.choice(family.savings), goals)


def _goal(rng: Random, family: Family, source: Recipe) -> Goal:
    recipe = source
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
        recipe = family.mutate(rng, recipe)
    return Goal(
        recipe,
        method=rng.choice((None, None, "restore", "read")),
        skips_slots=rng.random() < 0.1,
        where=rng.choice(family.surroundings),
        before=rng.choice((None,) * 18 + ("restore", "read")),
        saved_as=rng.choice(("str",) * 18 + ("Path", "graph")),
    )


def law_of(family: Family) -> Law[Case]:
    """Return the law that a check predicts what TensorFlow does."""
    return Law(
        f"A check and TensorFlow agree about a random program, {family.name}",
        lambda rng: make_case(rng, family),
        lambda case, directory: [_in_short(one.outcome) for one in comparisons(case, directory)],
    )


def comparisons(case: Case, directory: Path) -> Iterator[Comparison]:
    """Save, then restore into each target, dry and for real; yield each comparison."""
    family = FAMILIES[case.family]
    source = family.build(case.source, 1)
    with saver_gone_afterwards():
        path = save(source, case.saving, str(directory / "ckpt"))
    for goal in case.goals:
        yield _compare(family, goal, path)


def _compare(family: Family, goal: Goal, path: str) -> Comparison:
    import tensorflow as tf

    program = []  # it holds its objects; a root may hold one weakly

    def make_target() -> Any:
        with strategy().scope() if goal.where == "made in" else nullcontext():
            built = family.build(goal.recipe, -1)
        program.append(built)
        if goal.before is not None:
            with suppress(Exception):
                getattr(checkpoint_of(built.root), goal.before)(path).expect_partial()
        return built.root

    method, options = goal.method, None
    if goal.recipe[-1].how["kind"] == "v1":  # it has neither read nor options
        method = None
    elif goal.skips_slots and hasattr(options := tf.train.CheckpointOptions(), _SKIPS):
        setattr(options, _SKIPS, True)
    saved: Any = Path(path) if goal.saved_as == "Path" else path
    if goal.saved_as == "graph":
        saved = cv.graph(path)
    with surroundings(goal.where):
        return compare(make_target, saved, method=method, options=options)


def _in_short(outcome: Outcome) -> str:
    if outcome.raises:
        return f"raises {outcome.raises}"
    for name in ("existing_objects_matched", "consumed"):
        if getattr(outcome, name):
            return f"{name}: {getattr(outcome, name)}"
    return "passes"


def surroundings(where: str) -> AbstractContextManager[Any]:
    """Return the context in which to restore a goal."""
    import tensorflow as tf

    if where == "graph":
        return tf.Graph().as_default()  # type: ignore[no-any-return]
    return strategy().scope() if where == "scope" else nullcontext()


_SKIPS = "experimental_skip_slot_variables"  # since TensorFlow 2.16


def save(built: Built, saving: str, prefix: str) -> str:
    """Save what was built, in one of the ways of a program; return the path to restore.

    Raises UnfitError if TensorFlow cannot save it.
    """
    try:
        return _saved(built, saving, prefix)
    except Exception as error:
        raise UnfitError("TensorFlow cannot save it") from error


def _saved(built: Built, saving: str, prefix: str) -> str:
    import tensorflow as tf

    if saving.startswith("saver"):
        return _save_by_name(built, saving, prefix)
    if saving == "saved_model":
        tf.saved_model.save(built.root, f"{prefix}_saved_model")
        return f"{prefix}_saved_model"
    return str(getattr(checkpoint_of(built.root), saving)(prefix))


def _save_by_name(built: Built, saving: str, prefix: str) -> str:
    """Save all variables by their names, as TensorFlow 1 did."""
    import tensorflow as tf

    v1 = tf.compat.v1
    variables = {}
    for label, variable in built.variables.items():
        if type(variable).__name__ == "ResourceVariable":
            variables[variable._shared_name] = (variable, built.values[label])
    version = v1.train.SaverDef.V1 if saving == "saver_v1" else v1.train.SaverDef.V2
    with ExitStack() as stack:
        session = None
        if saving == "saver_in_session":
            stack.enter_context(tf.Graph().as_default())
            session = stack.enter_context(v1.Session())
            to_save = {
                name: v1.Variable(value, use_resource=True, name="v")
                for name, (_, value) in variables.items()
            }
            session.run(v1.global_variables_initializer())
        else:
            to_save = {name: variable for name, (variable, _) in variables.items()}
        saver = v1.train.Saver(to_save, write_version=version)
        return str(saver.save(session, prefix, write_meta_graph=False))
