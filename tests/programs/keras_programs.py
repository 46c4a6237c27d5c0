"""Random models of Keras, and what people edit in them: plain data.

Every layer has a role, which stays the same when an edit changes its name or its place. An edit
names the role of the layer at which it happens. If there is none, it does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.programs.law import code_of

WIDTH = 4
WEIGHTLESS = ("dropout", "activation", "flatten")
GROUPS = ("nested", "list", "dict")
FORMS = ("sequential", "functional", "subclassed", "subclassed_with_a_list", "list", "dict")
LIBRARIES = ("keras", "tf_keras")


@dataclass(frozen=True)
class Layer:
    """A layer of a program: its kind, and how the model uses its output.

    `inner` are the layers of a nested model, list or dict. `name` is None if Keras names the layer.
    A functional model adds the input of a `residual` layer to its output, and uses a layer `again`
    at its end. The kind "again" is the layer before it. `has_option` is about a bias, say.
    """

    role: str
    kind: str = "dense"
    name: str | None = None
    units: int = WIDTH
    way: str = ""
    inner: tuple[Layer, ...] = ()
    trainable: bool = True
    has_option: bool = True
    policy: str = "float32"
    attribute: str = ""


@dataclass(frozen=True)
class Program:
    """A model: its form, its layers, its optimizer, and how it is saved.

    `attribute` is that of each layer of a subclassed model; it takes the role. A `compiled` model
    holds the optimizer itself. A `scaled` optimizer is in one that scales the loss. The forms
    "module", of TensorFlow alone, and "mobilenet" are for journeys.
    """

    form: str
    layers: tuple[Layer, ...]
    optimizer: str = ""
    library: str = "keras"
    is_built: bool = True
    stepped: bool = False
    compiled: bool = False
    model_name: str | None = None
    child: str = "model"
    counts_anew: bool = False
    attribute: str = "layer_{}"
    scaled: bool = False


@dataclass(frozen=True)
class Edit:
    """What to do at the layer with the role `at`: "insert", "append", "remove", "move" and so on.

    `layer` is the new one, `to` the role of another layer of the same row, and `how` has the fields
    to change. Without `at`, it inserts at the end, or changes fields of the program.
    """

    do: str
    at: str = ""
    to: str = ""
    layer: Layer | None = None
    how: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Edited:
    """A program, and the edits after it was saved."""

    was: Program
    edits: tuple[Edit, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def now(self) -> Program:
        """The program after the edits."""
        program = self.was
        for edit in self.edits:
            program = after(program, edit)
        return program


def becomes(edited: Edited) -> str:
    """Return the program after the edits in words."""
    return f"becomes\n{code_of(edited.now)}"


def after(program: Program, edit: Edit) -> Program:
    """Return the program after an edit."""
    if edit.do == "change" and not edit.at:
        return replace(program, **edit.how)
    if edit.do == "insert" and not edit.at and edit.layer:
        return replace(program, layers=(*program.layers, edit.layer))
    return replace(program, layers=_row_after(program.layers, edit))


def _row_after(row: tuple[Layer, ...], edit: Edit) -> tuple[Layer, ...]:
    place = next((place for place, one in enumerate(row) if one.role == edit.at), None)
    if place is None:
        return tuple(replace(one, inner=_row_after(one.inner, edit)) for one in row)
    before, layer, behind, new = row[:place], row[place], row[place + 1 :], edit.layer
    match edit.do:
        case "insert" if new:
            return (*before, new, layer, *behind)
        case "append" if new:
            return (*before, layer, new, *behind)
        case "remove":
            return before + behind
        case "move":
            others = before + behind
            to = next((i for i, one in enumerate(others) if one.role == edit.to), len(others))
            return (*others[:to], layer, *others[to:])
        case "swap":
            roles = {layer.role: edit.to, edit.to: layer.role}
            by_role = {one.role: one for one in row}
            is_there = edit.to in by_role
            return tuple(by_role[roles.get(r, r)] for r in by_role) if is_there else row
        case "change":
            return (*before, replace(layer, **edit.how), *behind)
        case "wrap" if new:
            return (*before, replace(new, inner=(layer, *behind[:1])), *behind[1:])
        case "unwrap":
            return (*before, *(layer.inner or (layer,)), *behind)
    raise ValueError(edit.do)


# --- drawing: what a law's programs have

Edits = Callable[[Random, Sequence[Layer], str, "Range"], Iterator[Edit]]


@dataclass(frozen=True)
class Range:
    """What programs are drawn from: each field has choices, more likely ones more than once.

    `names` are patterns of names, one choice of them for each program. `changes` are fields of the
    program that edits change, how often, and to which values.
    """

    forms: tuple[str, ...]
    kinds: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    widths: tuple[tuple[int, ...], ...]
    optimizers: tuple[str, ...]
    numbers: tuple[int, ...]
    edits: tuple[Edits, ...]
    changes: Mapping[str, tuple[float, tuple[Any, ...]]]
    ways: tuple[str, ...] = ("",)
    policies: tuple[str, ...] = ("float32",)
    attributes: tuple[str, ...] = ("",)
    programs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    has_options: tuple[bool, ...] = (True,)
    groups: tuple[str, ...] = ("nested",)
    group_share: float = 0.1
    group_depth: int = 1
    group_sizes: tuple[int, ...] = (1, 2, 3)


def draw(rng: Random, of: Range, library: str = "keras") -> Program:
    """Return a random program."""
    form, names, widths = rng.choice(of.forms), rng.choice(of.names), rng.choice(of.widths)
    has_ways = form == "functional" and {*widths} == {WIDTH}
    some = replace(of, names=(names,), widths=(widths,), ways=of.ways if has_ways else ("",))
    layers = [draw_layer(rng, some, str(n + 1)) for n in range(rng.choice(of.numbers))]
    if "dense" not in {layer.kind for layer in layers}:
        layers.append(draw_layer(rng, replace(some, kinds=("dense",), group_share=0.0), "0"))
    fields = {name: rng.choice(values) for name, values in of.programs.items()}
    return Program(form, tuple(layers), rng.choice(of.optimizers), library, **fields)


def draw_layer(rng: Random, of: Range, role: str, depth: int = 0) -> Layer:
    """Return a random layer, or a group of them."""
    name = rng.choice(rng.choice(of.names)).format(role) or None
    attribute = rng.choice(of.attributes)
    if depth < of.group_depth and rng.random() < of.group_share:
        roles = [f"{role}{letter}" for letter in "123"[: rng.choice(of.group_sizes)]]
        inner = tuple(draw_layer(rng, replace(of, ways=("",)), r, depth + 1) for r in roles)
        kind = rng.choice(of.groups)
        return Layer(role, kind, name, inner=inner, attribute=attribute)
    kind = rng.choice(of.kinds)
    units = (
        WIDTH if kind in (*WEIGHTLESS, "norm", "batch_norm") else rng.choice(rng.choice(of.widths))
    )
    return Layer(
        role,
        kind,
        name,
        units,
        rng.choice(of.ways) if kind == "dense" and units == WIDTH else "",
        trainable=rng.random() < 0.95,
        has_option=rng.choice(of.has_options),
        policy=rng.choice(of.policies),
        attribute=attribute,
    )


def draw_edited(rng: Random, of: Range, library: str = "keras", **options: Any) -> Edited:
    """Return a random program with up to four random edits."""
    was = draw(rng, of, library)
    edited = Edited(was, draw_edits(rng, was, of, rng.choice((0, 1, 1, 1, 2, 2, 3, 4))), options)
    changes = tuple(
        Edit("change", how={name: rng.choice(values)})
        for name, (share, values) in of.changes.items()
        if rng.random() < share
    )
    return replace(edited, edits=(*edited.edits, *changes))


def draw_edits(rng: Random, program: Program, of: Range, number: int) -> tuple[Edit, ...]:
    """Return random edits of the layers of a program, one after the other."""
    edits: list[Edit] = []
    for place in range(number):
        row = program.layers
        while (groups := [one for one in row if one.inner]) and rng.random() < 0.4:
            row = rng.choice(groups).inner
        for edit in rng.choice(of.edits)(rng, row, f"new{place}", of) if row else ():
            program = after(program, edit)
            edits.append(edit)
    return tuple(edits)


def _new_name(rng: Random, row: Sequence[Layer], name: str) -> str | None:
    """Return a name for a new layer of a row if its layers have names."""
    return name if any(one.name or one.inner for one in row) else None


def _put(rng: Random, row: Sequence[Layer], layer: Layer) -> Edit:
    """Return the insertion of a layer somewhere in a row."""
    return put(row, rng.randint(0, len(row)), layer)


def put(row: Sequence[Layer], place: int, layer: Layer) -> Edit:
    """Return the insertion of a layer at a place of a row."""
    if place == len(row):
        return Edit("append", row[-1].role, layer=layer)
    return Edit("insert", row[place].role, layer=layer)


def _some(rng: Random, roles: Sequence[str]) -> list[str]:
    return [rng.choice(roles)] if roles else []


def insert_weightless(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Insert some layers without weights."""
    for number in range(rng.choice((1, 1, 2, 3))):
        name = _new_name(rng, row, f"extra_{role}{number}") if rng.random() < 0.5 else None
        yield _put(rng, row, Layer(f"{role}{number}", rng.choice(WEIGHTLESS), name))


def remove_weightless(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Remove a layer without weights."""
    roles = [one.role for one in row if one.kind in WEIGHTLESS]
    yield from (Edit("remove", one) for one in _some(rng, roles) if len(row) > 1)


def move_weightless(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Move a layer without weights."""
    for moved in _some(rng, [one.role for one in row if one.kind in WEIGHTLESS]):
        yield Edit("move", moved, rng.choice(["", *(one.role for one in row if one.role != moved)]))


def insert_weights(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Insert a layer with weights."""
    kind = rng.choice(("dense", "dense", "norm", "batch_norm"))
    units = rng.choice((WIDTH, WIDTH, 6)) if kind == "dense" else WIDTH
    yield _put(rng, row, Layer(role, kind, _new_name(rng, row, f"fc_{role}"), units))


def remove_weights(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Remove a layer with weights, but for the last one."""
    roles = [one.role for one in row if one.kind not in WEIGHTLESS]
    yield from (Edit("remove", one) for one in _some(rng, roles) if len(roles) > 1)


def reorder(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Let two layers change places."""
    yield Edit("swap", rng.choice(row).role, rng.choice(row).role)


def _changing(name: str, value: Callable[[Random, Layer, str, Range], Any]) -> Edits:
    """Return what changes a field of a layer."""

    def edits(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
        layer = rng.choice(row)
        yield Edit("change", layer.role, how={name: value(rng, layer, role, of)})

    return edits


rename = _changing("name", lambda rng, layer, role, of: rng.choice((None, f"renamed_{role}")))
freeze = _changing("trainable", lambda rng, layer, role, of: not layer.trainable)


def wrap(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Put a layer and the next one into a group."""
    place = rng.randrange(len(row))
    if not any(one.inner for one in row[place : place + 2]) or len(of.groups) > 1:
        yield Edit("wrap", row[place].role, layer=Layer(role, rng.choice(of.groups)))


def unwrap(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Dissolve a group."""
    for group in _some(rng, [one.role for one in row if one.inner]):
        yield Edit("unwrap", group)


def change_class(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Put a layer of another class under the name; no value belongs to the new layer."""
    layer = rng.choice(row)
    if layer.kind == "dense":
        yield Edit("change", layer.role, how={"role": role, "kind": "norm"})


def change_units(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Give a dense layer another width."""
    layer = rng.choice(row)
    if layer.kind == "dense":
        yield Edit("change", layer.role, how={"units": 6, "way": ""})


def insert_any(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Insert any layer or group."""
    yield _put(rng, row, draw_layer(rng, of, role))


def remove_any(rng: Random, row: Sequence[Layer], role: str, of: Range) -> Iterator[Edit]:
    """Remove any layer or group."""
    yield Edit("remove", rng.choice(row).role)


# The programs whose wrong values a check of a restore must name.
CHECKED = Range(
    forms=FORMS,
    kinds=("dense",) * 6 + ("norm", "batch_norm", *WEIGHTLESS),
    names=(("",), ("fc_{}",) * 19 + ("",), ("fc_{}",) * 19 + ("",), ("block_{}",), ("dense_{}",)),
    widths=((WIDTH,),) * 4 + ((WIDTH, 5, 6),),
    optimizers=("", "adam", "momentum"),
    numbers=(2, 3, 4, 5, 6),
    ways=("", "", "", "residual", "again", "beside"),
    programs={
        "stepped": (True, False, False),
        "model_name": (None, None, "net"),
        "child": ("model", "model", "net", "zoo"),
    },
    edits=(
        *(insert_weightless,) * 4,
        *(remove_weightless, move_weightless) * 2,
        *(insert_weights, remove_weights, reorder, rename, freeze),
    ),
    changes={
        "counts_anew": (0.4, (True,)),
        "model_name": (0.1, (None, "other")),
        "optimizer": (0.1, ("", "adam")),
    },
)
OLD_CHECKED = replace(CHECKED, optimizers=("", "", "adam", "momentum", "legacy adam"))
RANGES = {"keras": CHECKED, "tf_keras": OLD_CHECKED}
RESTRUCTURED = replace(CHECKED, edits=(*CHECKED.edits, wrap, unwrap, change_class, change_units))

# The programs that load a file of weights.
OLD_POLICIES = ("float32",) * 8 + ("mixed_float16", "float64")
LOADED = Range(
    forms=("sequential", "functional", "subclassed", "subclassed", "subclassed"),
    kinds=("dense",) * 5
    + ("batch_norm", "norm", "dropout", "gru", "own all", "own first", "own fails", "own nothing"),
    names=(("", "", "", "x", "y", "z"),),
    widths=((WIDTH, WIDTH, WIDTH, 3),),
    optimizers=("", "", "", "adam", "sgd", "rmsprop"),
    numbers=(1, 2, 2, 3, 4),
    policies=(*OLD_POLICIES, "bfloat16"),
    attributes=("a", "body", "head", "_hidden", "zz", "blocks", "out", "vars"),
    has_options=(True, True, True, False),
    programs={"is_built": (True, True, False), "compiled": (True,)},
    groups=("nested", "list", "dict", "again"),
    group_share=0.35,
    group_depth=3,
    group_sizes=(0, 1, 2, 2, 3),
    edits=(
        *(insert_any, insert_any, remove_any, reorder, wrap, unwrap),
        _changing("units", lambda rng, layer, role, of: rng.choice((3, 4, 5))),
        _changing("policy", lambda rng, layer, role, of: rng.choice(of.policies)),
        _changing("has_option", lambda rng, layer, role, of: not layer.has_option),
        _changing("name", lambda rng, layer, role, of: rng.choice(("x", "y", "z", None))),
        _changing("attribute", lambda rng, layer, role, of: rng.choice(of.attributes)),
        freeze,
    ),
    changes={
        "form": (0.15, ("sequential", "functional", "subclassed")),
        "optimizer": (0.15, ("", "adam", "sgd", "rmsprop")),
    },
)
