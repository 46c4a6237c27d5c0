"""Restore models into edited ones: `python -m tests.support.edited_models --pairs N --seed S`.

A program is a Keras model of some layers, mostly with an optimizer. It is saved, edited as people
edit models, and restored. Every layer has a role, which stays the same when an edit changes its
name or its place. Every variable has its own value. After a real restore, these values show which
variable has the value of another, and whether a finding of the check names it.

Some layers look alike and have only the names that Keras gives them. Then there is a limit to what
a check can find. If a model has as many of them as before, the edited program is the same program.
Then no finding can report that they changed places. If it has more or fewer, a finding must report
that values may have changed places. The same holds for names that no variable in the file has:
without an optimizer, Keras 3 leaves them out in subclassed models. In every other case, the check
must name each wrong value, and must raise no false alarm.

Prints every finding without a cause, every wrong value without a finding, and every severity that
no assert confirms. With each comes the `--only` that repeats its pair.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import ckpt_viz as cv
from ckpt_viz.changes.kind import Kind
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.check_result import RestoreCheck
from ckpt_viz.restore_check.finding import Finding
from tests.support import oracle
from tests.support.told import told

WIDTH = 4
WEIGHTLESS = ("dropout", "activation", "flatten")
CROSSING = {
    Kind.INSERTED,
    Kind.REMOVED,
    Kind.REORDERED,
    Kind.MISPLACED,
    Kind.SWAPPED,
    Kind.UNTIED,
    Kind.VALUE_LOST,
    Kind.NEVER_RESTORED,
}
_ALARMING = {Severity.ERROR, Severity.FAIL, Severity.WARNING}
ASSERTS = ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match")


# --- programs


@dataclass(frozen=True)
class Layer:
    """A layer of a program: its kind, and how the model uses its output.

    `inner` are the layers of a nested model. `name` is None if Keras names the layer. A functional
    model adds the input of a `residual` layer to its output, and uses an `again` layer twice.
    """

    role: str
    kind: str
    name: str | None = None
    units: int = WIDTH
    way: str = ""
    inner: tuple[Layer, ...] = ()
    trainable: bool = True


@dataclass(frozen=True)
class Program:
    """A model: its form, its layers, its optimizer, and how it is saved."""

    form: str
    layers: tuple[Layer, ...]
    optimizer: str = ""
    stepped: bool = False
    model_name: str | None = None
    child: str = "model"
    counts_anew: bool = False
    attribute: str = "layer_{}"  # of a subclassed model; it takes the role

    def __str__(self) -> str:
        how = [self.form, self.optimizer or "no optimizer", *(["stepped"] if self.stepped else [])]
        names = [*(["counts anew"] if self.counts_anew else []), *filter(None, [self.model_name])]
        return f"{', '.join(how + names)}, as {self.child!r}: [{_in_words(self.layers)}]"


def _in_words(layers: Sequence[Layer]) -> str:
    def one(layer: Layer) -> str:
        text = f"{layer.role}={layer.kind}"
        text += f"({_in_words(layer.inner)})" if layer.inner else ""
        text += f":{layer.name}" if layer.name else ""
        text += f"({layer.units})" if layer.units != WIDTH else ""
        return f"{text}{' ' + layer.way if layer.way else ''}{'' if layer.trainable else ' frozen'}"

    return ", ".join(map(one, layers))


@dataclass(frozen=True)
class Family:
    """The programs of one version of Keras: their forms and optimizers."""

    name: str
    forms: tuple[str, ...]
    optimizers: tuple[str, ...]


FORMS = ("sequential", "functional", "subclassed", "subclassed_with_a_list", "list", "dict")
FAMILIES = {
    "keras 3": Family(
        "keras 3",
        FORMS,
        ("adam", "momentum"),
    ),
    "tf_keras": Family(
        "tf_keras",
        FORMS,
        ("adam", "momentum", "legacy adam"),
    ),
}


def make_program(rng: Random, family: Family) -> Program:
    """Return a random program."""
    named = rng.choice(["", "fc_{}", "fc_{}", "block_{}", "dense_{}"])
    form = rng.choice(family.forms)
    same = rng.random() < 0.8
    layers = [
        _layer(rng, str(index + 1), form, named=named, same=same)
        for index in range(rng.randint(2, 6))
    ]
    if not any(layer.kind == "dense" for layer in layers):
        layers.append(Layer("0", "dense", named.format(0) if named else None))
    optimizer = rng.choice(family.optimizers) if rng.random() < 0.6 else ""
    return Program(
        form,
        tuple(layers),
        optimizer,
        stepped=rng.random() < 0.3,
        model_name=rng.choice([None, None, "net"]),
        child=rng.choice(["model", "model", "net", "zoo"]),
    )


def _layer(rng: Random, role: str, form: str, *, named: str, same: bool, deep: int = 0) -> Layer:
    kinds = ["dense"] * 6 + ["norm", "batch_norm", *WEIGHTLESS] + ["nested"] * (deep == 0)
    kind = rng.choice(kinds)
    name = named.format(role) if named and rng.random() < 0.95 else None
    if kind == "nested":
        inner = [
            _layer(rng, f"{role}{letter}", "sequential", named=named, same=same, deep=1)
            for letter in "123"[: rng.randint(1, 3)]
        ]
        return Layer(role, kind, name, inner=tuple(inner))
    units = WIDTH if same or kind != "dense" else rng.choice([WIDTH, 5, 6])
    way = ""
    if form == "functional" and kind == "dense" and units == WIDTH and same:
        way = rng.choice(["", "", "", "residual", "again", "beside"])
    return Layer(role, kind, name, units, way, trainable=rng.random() < 0.95)


# --- edits

Edit = Callable[[Random, list[Layer], str, bool], None]


def edited(rng: Random, program: Program) -> Program:
    """Edit a program."""
    layers = list(program.layers)
    named = any(layer.name or layer.inner for layer in layers)
    for number in range(rng.choice([0, 1, 1, 1, 2, 2, 3, 4])):
        target = layers
        nested = [i for i, layer in enumerate(layers) if layer.inner]
        edit = rng.choice(EDITS)
        if nested and rng.random() < 0.4:
            place = rng.choice(nested)
            target = list(layers[place].inner)
            edit(rng, target, f"new{number}", named)
            layers[place] = replace(layers[place], inner=tuple(target))
        else:
            edit(rng, target, f"new{number}", named)
    now = replace(program, layers=tuple(layers), counts_anew=rng.random() < 0.4)
    if rng.random() < 0.1:
        now = replace(now, model_name=rng.choice([None, "other"]))
    if rng.random() < 0.1:
        now = replace(now, optimizer="" if now.optimizer else "adam")
    return now


def _insert_weightless(rng: Random, layers: list[Layer], role: str, named: bool) -> None:
    for number in range(rng.choice([1, 1, 2, 3])):
        name = f"extra_{role}{number}" if named and rng.random() < 0.5 else None
        layer = Layer(f"{role}{number}", rng.choice(WEIGHTLESS), name)
        layers.insert(rng.randint(0, len(layers)), layer)


def _weightless(layers: Sequence[Layer]) -> list[int]:
    return [i for i, layer in enumerate(layers) if layer.kind in WEIGHTLESS]


def _remove_weightless(rng: Random, layers: list[Layer], role: str, named: bool) -> None:
    if len(layers) > 1 and _weightless(layers):
        del layers[rng.choice(_weightless(layers))]


def _move_weightless(rng: Random, layers: list[Layer], role: str, named: bool) -> None:
    if _weightless(layers):
        layer = layers.pop(rng.choice(_weightless(layers)))
        layers.insert(rng.randint(0, len(layers)), layer)


def _insert_weights(rng: Random, layers: list[Layer], role: str, named: bool) -> None:
    kind = rng.choice(["dense", "dense", "norm", "batch_norm"])
    units = rng.choice([WIDTH, WIDTH, 6]) if kind == "dense" else WIDTH
    name = f"fc_{role}" if named else None
    layers.insert(rng.randint(0, len(layers)), Layer(role, kind, name, units))


def _remove_weights(rng: Random, layers: list[Layer], role: str, named: bool) -> None:
    valued = [i for i, layer in enumerate(layers) if layer.kind not in WEIGHTLESS]
    if len(valued) > 1:
        del layers[rng.choice(valued)]


def _reorder(rng: Random, layers: list[Layer], role: str, named: bool) -> None:
    one, other = (rng.randrange(len(layers)) for _ in range(2))
    layers[one], layers[other] = layers[other], layers[one]


def _rename(rng: Random, layers: list[Layer], role: str, named: bool) -> None:
    place = rng.randrange(len(layers))
    layers[place] = replace(layers[place], name=rng.choice([None, f"renamed_{role}"]))


def _freeze(rng: Random, layers: list[Layer], role: str, named: bool) -> None:
    place = rng.randrange(len(layers))
    layers[place] = replace(layers[place], trainable=not layers[place].trainable)


EDITS: tuple[Edit, ...] = (
    *[_insert_weightless] * 4,
    *[_remove_weightless, _move_weightless] * 2,
    _insert_weights,
    _remove_weights,
    _reorder,
    _rename,
    _freeze,
)


# --- what a program makes

Key = tuple[str, ...]  # the role and the variable's own name; of a slot its name, too


@dataclass
class Made:
    """What a program makes: the checkpoint, its variables by role and name, and how layers look."""

    checkpoint: Any
    variables: dict[Key, Any]
    looks: dict[str, tuple[object, ...]]
    order: list[str] = field(default_factory=list)
    holders: dict[str, str] = field(default_factory=dict)

    def held(self, holder: str, roles: set[str]) -> int:
        """Return how many of these roles the model with the role `holder` holds itself."""
        return sum(self.holders.get(role) == holder for role in roles)


class _Maker:
    """Makes the objects of a program."""

    def __init__(self, keras: Any, program: Program) -> None:
        self.keras, self.program = keras, program
        self.layers: dict[str, Any] = {}
        self.specs: dict[str, Layer] = {}
        self.holders: dict[str, str] = {}

    def make(self) -> Made:
        import tensorflow as tf

        program = self.program
        if program.counts_anew:
            _count_anew(self.keras)
        root, trainable = getattr(self, f"_{program.form}")()
        children = {program.child: root}
        optimizer = None
        if program.optimizer:
            optimizer = self._optimizer(trainable())
            children["optimizer"] = optimizer
        variables: dict[Key, Any] = {}
        for role, layer in self.layers.items():
            for name in ("kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance"):
                variable = getattr(layer, f"_{name}", None)
                variable = getattr(layer, name, None) if variable is None else variable
                if variable is not None:
                    variables[role, name] = variable
        if optimizer is not None:
            variables |= self._slots(optimizer, variables)
        looks = {role: self._look(role) for role in self.layers}
        checkpoint = tf.train.Checkpoint(**children)
        return Made(checkpoint, variables, looks, list(self.layers), self.holders)

    @property
    def _is_flat(self) -> bool:
        """Whether only the optimizer's list leads to the layers: Keras 3 tracks no list of them."""
        return self.program.form == "subclassed_with_a_list" and self.keras.__name__ == "keras"

    def _look(self, role: str) -> tuple[object, ...]:
        spec, layer = self.specs[role], self.layers[role]
        shapes = [tuple(v.shape) for v in layer.weights]
        return spec.kind, tuple(shapes), spec.name

    def _layer(self, spec: Layer, holder: str = "") -> Any:
        layers = self.keras.layers
        how = {"name": spec.name} if spec.name else {}
        if spec.kind == "nested":
            made = self.keras.Sequential([self._layer(one, spec.role) for one in spec.inner], **how)
        else:
            self.holders[spec.role] = "" if self._is_flat else holder
            made = {
                "dense": lambda: layers.Dense(spec.units, **how),
                "norm": lambda: layers.LayerNormalization(**how),
                "batch_norm": lambda: layers.BatchNormalization(**how),
                "dropout": lambda: layers.Dropout(0.5, **how),
                "activation": lambda: layers.Activation("relu", **how),
                "flatten": lambda: layers.Flatten(**how),
            }[spec.kind]()
            self.layers[spec.role], self.specs[spec.role] = made, spec
        made.trainable = spec.trainable
        return made

    # --- forms

    def _all(self) -> list[Any]:
        return [self._layer(spec) for spec in self.program.layers]

    def _named(self) -> dict[str, Any]:
        return {"name": self.program.model_name} if self.program.model_name else {}

    def _sequential(self) -> Any:
        inputs = self.keras.Input((WIDTH,))
        model = self.keras.Sequential([inputs, *self._all()], **self._named())
        return model, lambda: model.trainable_variables

    def _functional(self) -> Any:
        layers = self.keras.layers
        x = inputs = self.keras.Input((WIDTH,))
        again: list[Any] = []
        for spec, layer in zip(self.program.layers, self._all(), strict=True):
            before, x = x, layer(x)
            if spec.way in ("residual", "beside") and before.shape[-1] == x.shape[-1]:
                other = before if spec.way == "residual" else layers.Activation("tanh")(before)
                x = layers.Add()([x, other])
            if spec.way == "again" and before.shape[-1] == WIDTH:
                again.append(layer)
        for layer in again:
            if x.shape[-1] == WIDTH:
                x = layer(x)
        model = self.keras.Model(inputs, x, **self._named())
        return model, lambda: model.trainable_variables

    def _subclassed(self) -> Any:
        base: Any = self.keras.Model
        specs, made = self.program.layers, self._all()
        as_list = self.program.form == "subclassed_with_a_list"
        attribute = self.program.attribute

        class Net(base):  # type: ignore[misc]
            def __init__(self, **how: Any) -> None:
                super().__init__(**how)
                for spec, layer in zip(specs, made, strict=True):
                    if not as_list:
                        setattr(self, attribute.format(spec.role), layer)
                if as_list:
                    self.blocks = list(made)

            def call(self, x: Any) -> Any:
                for layer in made:
                    x = layer(x)
                return x

        model = Net(**self._named())
        model(_ones())
        return model, lambda: model.trainable_variables

    _subclassed_with_a_list = _subclassed

    def _list(self) -> Any:
        made = self._all()
        _called(made)
        return made, lambda: [v for layer in made for v in layer.trainable_variables]

    def _dict(self) -> Any:
        made = self._all()
        _called(made)
        by_name = {spec.role: one for spec, one in zip(self.program.layers, made, strict=True)}
        return by_name, lambda: [v for layer in made for v in layer.trainable_variables]

    # --- optimizers

    def _optimizer(self, variables: Sequence[Any]) -> Any:
        import tensorflow as tf

        optimizers = self.keras.optimizers
        optimizer = {
            "adam": lambda: optimizers.Adam(),
            "adamw": lambda: optimizers.AdamW(),
            "lion": lambda: optimizers.Lion(),
            "muon": lambda: optimizers.Muon(),
            "momentum": lambda: optimizers.SGD(momentum=0.9),
            "legacy adam": lambda: optimizers.legacy.Adam(),
        }[self.program.optimizer]()
        if variables and (self.program.stepped or self.program.optimizer == "legacy adam"):
            optimizer.apply_gradients([(tf.zeros(v.shape), v) for v in variables])
        elif variables:
            optimizer.build(list(variables))
        return optimizer

    def _slots(self, optimizer: Any, variables: dict[Key, Any]) -> dict[Key, Any]:
        found: dict[Key, Any] = {}
        for key, variable in variables.items():
            if hasattr(optimizer, "get_slot"):
                for name in optimizer.get_slot_names():
                    if _has_slot(optimizer, variable, name):
                        slot_key = (*key, name)
                        found[slot_key] = optimizer.get_slot(variable, name)
                continue
            index = _index(optimizer, variable)
            for name in ("_momentums", "_velocities", "momentums"):
                slots = getattr(optimizer, name, None)
                if index is not None and slots and index < len(slots):
                    slot_key = (*key, name.strip("_"))
                    found[slot_key] = slots[index]
        return found


def _count_anew(keras: Any) -> None:
    """Make Keras number the layers from 0, as in a new process."""
    if hasattr(keras.backend, "reset_uids"):
        keras.backend.reset_uids()
        return
    from keras.src.backend.common.global_state import set_global_attribute

    set_global_attribute("object_name_uids", None)


def _has_slot(optimizer: Any, variable: Any, name: str) -> bool:
    from tf_keras.src.optimizers.legacy.optimizer_v2 import _var_key

    return name in optimizer._slots.get(_var_key(variable), {})


def _index(optimizer: Any, variable: Any) -> int | None:
    if hasattr(optimizer, "_trainable_variables"):
        same = [i for i, v in enumerate(optimizer._trainable_variables) if v is variable]
        return same[0] if same else None
    found: int | None = getattr(optimizer, "_index_dict", {}).get(optimizer._var_key(variable))
    return found


def _ones() -> Any:
    import tensorflow as tf

    return tf.ones((1, WIDTH))


def _called(layers: Sequence[Any]) -> None:
    x = _ones()
    for layer in layers:
        x = layer(x)


class UnbuildableError(Exception):
    """Keras refuses the program."""


def make(family: Family, program: Program) -> Made:
    """Make the objects of a program."""
    import keras
    import tf_keras

    try:
        return _Maker(keras if family.name == "keras 3" else tf_keras, program).make()
    except ValueError as error:  # two layers of one name
        raise UnbuildableError from error


# --- a pair, restored dry and for real


@dataclass
class Outcome:
    """The result of a pair: the findings, what is wrong, and the mistakes of the check.

    `wrong` are variables with the value of another, `lost` those without any saved value.
    `false_alarms` are findings without a cause, `missed` wrong values without a finding, and
    `unconfirmed` findings whose severity no exception or assert confirms.
    """

    source: Program
    target: Program
    check: RestoreCheck
    wrong: dict[Key, str]
    lost: set[Key]
    raised: str | None
    false_alarms: list[Finding]
    missed: list[Key]
    unconfirmed: list[Finding]

    @property
    def is_right(self) -> bool:
        """Whether the check made no mistake about this pair."""
        return not (self.false_alarms or self.missed or self.unconfirmed)


def _fill(made: Made, sign: int) -> None:
    import tensorflow as tf

    keys = sorted(made.variables)
    for number, key in enumerate(keys, start=1):
        variable = made.variables[key]
        variable.assign(tf.fill(variable.shape, tf.cast(sign * number, variable.dtype)))


def _value(variable: Any) -> float:
    return float(variable.numpy().flat[0])


def run(family: Family, source: Program, target: Program, directory: Path) -> Outcome:
    """Save one program, and restore it into the other one, dry and for real."""
    was, now = make(family, source), make(family, target)
    _fill(was, 1)
    _fill(now, -1)
    saved = {key: _value(variable) for key, variable in was.variables.items()}
    path = was.checkpoint.save(str(directory / "ckpt"))
    was_there = _nodes(was)
    check = cv.check(now.checkpoint, path)
    objects = _nodes(now)
    raised, passes = None, False
    try:
        status = now.checkpoint.restore(path)
        passes = all(oracle.raised_by(getattr(status, name)) is None for name in ASSERTS)
        status.expect_partial()
    except Exception as error:
        raised = type(error).__name__
    names = {value: "/".join(key) for key, value in saved.items()}
    kept = {value for key, value in saved.items() if key[:2] in now.variables}
    wrong: dict[Key, str] = {}
    lost: set[Key] = set()
    for key in saved.keys() & now.variables.keys() if raised is None else ():
        found = _value(now.variables[key])
        if found != saved[key] and key in was_there and key in objects:
            if found in names:
                wrong[key] = names[found]
            else:
                lost.add(key)
    # What is new has no value of its own; that of a layer which is still there is wrong in it.
    new = now.variables.keys() - saved.keys() if raised is None else set()
    filled = {key for key in new if key in objects and _value(now.variables[key]) in kept}
    outcome = Outcome(source, target, check, wrong, lost, raised, [], [], [])
    _judge(outcome, was, now, objects, was_there, filled, passes=passes)
    return outcome


def _nodes(made: Made) -> dict[Key, int]:
    """Return the live node of each variable that the graph has."""
    graph = cv.graph(made.checkpoint)
    by_id = {id(graph.object(i)): i for i in range(len(graph.nodes))}
    return {key: by_id[id(v)] for key, v in made.variables.items() if id(v) in by_id}


def _judge(
    outcome: Outcome,
    was: Made,
    now: Made,
    objects: dict[Key, int],
    nodes: dict[Key, int],
    filled: set[Key],
    *,
    passes: bool,
) -> None:
    check, astray = outcome.check, outcome.wrong.keys() | outcome.lost
    for finding in told(check):
        if finding.severity is Severity.ERROR and outcome.raised is None:
            outcome.unconfirmed.append(finding)
        if finding.severity is Severity.FAIL and outcome.raised is None and passes:
            outcome.unconfirmed.append(finding)
    if outcome.raised is not None:
        return
    alarms = [f for f in told(check) if f.severity in _ALARMING]
    crossing = [f for f in alarms if f.kind in CROSSING or _takes_for_another(f)]
    # A saved graph has the nodes of the live one that it was written from, by the same ids.
    both = objects.keys() & nodes.keys()
    named_by_any: set[Key] = set()
    unknowable = unknowable_in(_within(was, nodes), _within(now, objects), check)
    maybe: set[Key] = set()
    for finding in told(check):
        if finding.kind is Kind.UNKNOWABLE:
            named = {k for k in both if objects[k] in finding.objects or nodes[k] in finding.nodes}
            maybe |= {key for key in named if key[0] in unknowable}
            if named and not any(key[0] in unknowable for key in named):
                outcome.false_alarms.append(finding)
    for finding in crossing:
        named = {k for k in both if objects[k] in finding.objects or nodes[k] in finding.nodes}
        named_by_any |= named
        # A slot that is right beside a variable that is wrong is astray, too.
        is_new = any(objects[key] in finding.objects for key in filled)
        gone = {"/".join(key) for key in nodes if nodes[key] in finding.nodes and key not in both}
        goes_astray = not gone.isdisjoint(outcome.wrong.values())
        if not (is_new or goes_astray) and not any(
            key in astray or key[:2] in astray for key in named
        ):
            outcome.false_alarms.append(finding)
    for key in outcome.wrong:
        is_named = {key, key[:2]} & (named_by_any | maybe)
        if not is_named and unknowable.get(key[0], True):
            outcome.missed.append(key)
    for key in outcome.lost - named_by_any:
        if not any(objects[key] in f.objects or nodes[key] in f.nodes for f in alarms):
            outcome.missed.append(key)


def _takes_for_another(finding: Finding) -> bool:
    """Return whether a finding warns of a part of one side that is taken for another part."""
    is_of_one_side = finding.kind in (Kind.UNMATCHED, Kind.UNRESOLVED)
    return is_of_one_side and finding.severity is Severity.WARNING


def _within(made: Made, nodes: Mapping[Key, int]) -> Made:
    """Return what a program made, without the roles that its graph does not lead to."""
    roles = {key[0] for key in nodes}
    return replace(made, order=[role for role in made.order if role in roles])


def unknowable_in(was: Made, now: Made, check: RestoreCheck) -> dict[str, bool]:
    """Return the roles that a program cannot tell apart, and whether a finding must report them.

    These are layers that look alike and have names from Keras. If some of them are new, gone or in
    another order, no restore can tell which is which. If a model has as many of them as before, a
    finding cannot even report a change.
    """
    found: dict[str, bool] = {}
    texts = [_full_names(graph) for graph in (check.saved, check.live) if graph is not None]

    def known(look: tuple[object, ...]) -> tuple[object, ...]:
        """Return a look; its name is None unless both sides have it and Keras did not give it."""
        kind, shapes, name = look
        is_known = name is not None and not str(name).startswith("dense_")
        # Variables that Keras 3 makes in a symbolic call have no layer in their names.
        return kind, shapes, name if is_known and all(str(name) in text for text in texts) else None

    every = [*was.looks.values(), *now.looks.values()]
    hidden = {look[-1] for look in every if known(look)[-1] is None and _is_on_both(look, was, now)}

    def anonymous(look: tuple[object, ...]) -> tuple[object, ...]:
        kind, shapes, name = look
        return kind, shapes, None if name in hidden or name is None else name

    for look in map(anonymous, every):
        if look[-1] is None:
            roles = [
                [r for r in made.order if anonymous(made.looks[r]) == look] for made in (was, now)
            ]
            if roles[0] != roles[1]:
                every_role = {*roles[0], *roles[1]}
                holders = {made.holders.get(role, "") for role in every_role for made in (was, now)}
                others = {
                    holder
                    for holder in holders
                    if was.held(holder, {*roles[0]}) != now.held(holder, {*roles[1]})
                }
                found |= {
                    role: bool({was.holders.get(role), now.holders.get(role)} & others)
                    for role in every_role
                }
    return found


def _is_on_both(look: tuple[object, ...], was: Made, now: Made) -> bool:
    name = str(look[-1])
    is_common = all(name in {one[-1] for one in made.looks.values()} for made in (was, now))
    return is_common or name.startswith("dense_")


def _full_names(graph: Any) -> str:
    return " ".join(a.full_name for node in graph.nodes for a in node.attributes)


# --- many pairs


def pairs(family: Family, seed: int, wanted: int, start: int = 0) -> Iterator[tuple[int, Outcome]]:
    """Run pairs of a family; the number of a pair determines it."""
    for number in range(start, start + wanted):
        rng = Random(f"{family.name} {seed} {number}")
        source = make_program(rng, family)
        target = edited(rng, source)
        directory = Path(tempfile.mkdtemp())
        try:
            yield number, run(family, source, target, directory)
        except UnbuildableError:
            continue
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def main() -> int:
    """Return the exit status: 1 if the check is wrong about any pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1250)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", choices=FAMILIES, help="only this one")
    parser.add_argument("--only", type=int, help="the number of one pair")
    arguments = parser.parse_args()
    oracle.silence_tensorflow()
    mistakes = 0
    for family in [FAMILIES[arguments.family]] if arguments.family else FAMILIES.values():
        start, wanted = (0, arguments.pairs) if arguments.only is None else (arguments.only, 1)
        mistakes += _try(family, arguments.seed, wanted, start)
    return 1 if mistakes else 0


_PAIRS_PER_LINE = 125


def _try(family: Family, seed: int, wanted: int, start: int) -> int:
    began, counts = time.monotonic(), Counter[str]()

    def summary() -> str:
        return f"{family.name}: {time.monotonic() - began:.0f} s: {dict(counts)}"

    for number, outcome in pairs(family, seed, wanted, start):
        counts["tried"] += 1
        counts["raise"] += outcome.raised is not None
        counts["with a wrong value"] += bool(outcome.wrong)
        counts["pass"] += outcome.raised is None and outcome.check.consumed
        counts["false alarms"] += bool(outcome.false_alarms)
        counts["missed"] += bool(outcome.missed)
        counts["unconfirmed severities"] += bool(outcome.unconfirmed)
        counts["mistakes"] += not outcome.is_right
        if not outcome.is_right or wanted == 1:
            only = f"--family {family.name!r} --seed {seed} --only {number}"
            print(f"{only}\n{in_words(outcome)}\n", flush=True)
        if counts["tried"] % _PAIRS_PER_LINE == 0:
            print(summary(), flush=True)
    print(summary(), flush=True)
    return counts["mistakes"]


def in_words(outcome: Outcome) -> str:
    """Return a pair in words, and the mistakes of the check about it."""
    lines = [f"  was {outcome.source}", f"  now {outcome.target}"]
    lines += [f"  raised {outcome.raised}"] if outcome.raised else []
    lines += [f"  {'/'.join(k)} has {v}" for k, v in sorted(outcome.wrong.items())]
    lines += [f"  {'/'.join(k)} is lost" for k in sorted(outcome.lost)]
    lines += [f"  MISSED {'/'.join(key)}" for key in sorted(outcome.missed)]
    for finding in told(outcome.check):
        mark = "FALSE " if finding in outcome.false_alarms else ""
        mark += "UNCONFIRMED " if finding in outcome.unconfirmed else ""
        severity, kind = finding.severity.value, finding.kind.value
        lines.append(f"  {mark}{severity} {kind} {finding.saved}: {finding.why} {finding.remedy}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
