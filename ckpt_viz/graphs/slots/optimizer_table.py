"""The optimizers of TensorFlow and Keras: the slots of each class, and what they mean.

A new class of a library needs a row here and nothing elsewhere. Sources: keras/src/optimizers
(Keras 3), tf_keras/src/optimizers and its `legacy` (Keras 2), tensorflow/python/training.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto


class Generation(str, Enum):
    """How an optimizer keeps its state: all optimizers of one API do it alike.

    TensorFlow 1 and legacy Keras declare slot variables; the others keep lists of variables.
    """

    TENSORFLOW_1 = "TensorFlow 1"
    LEGACY = "legacy Keras"
    KERAS_2 = "Keras 2.11+"
    KERAS_3 = "Keras 3"


class Meaning(Enum):
    """What a slot variable holds, by the formula that updates it and by those that read it."""

    FIRST_MOMENT = auto()  # m += (1 - beta1) (g - m); a step divides by 1 - beta1^t
    SECOND_MOMENT = auto()  # v += (1 - beta2) (g² - v); a step divides by 1 - beta2^t
    LARGEST_SECOND_MOMENT = auto()  # max(vhat, v)
    NESTEROV_MOMENT = auto()  # as the first moment; a step divides by a product that Nadam tracks
    INFINITY_NORM = auto()  # u = max(beta2 u, |g|)
    ITERATE = auto()  # the weights without averaging, of ScheduleFreeAdamW
    STEP = auto()  # m = momentum m - rate g, of Keras' SGD
    GRADIENT_SUM = auto()  # m = momentum m + g, of TensorFlow 1
    SIGN_MOMENT = auto()  # of Lion: a step takes its sign, without a correction
    MUON_MOMENT = auto()  # the sum of gradients, or Adam's first moment: Muon decides by variable
    MUON_SECOND_MOMENT = auto()
    MEAN_SQUARE = auto()  # v = rho v + (1 - rho) g², without a correction
    SCALED_STEP = auto()  # m = momentum m + rate g / sqrt(v)
    MEAN_GRADIENT = auto()  # of a centered RMSprop
    SUM_OF_SQUARES = auto()  # of Adagrad
    FTRL_SQUARES = auto()  # as Adagrad's, worth nothing without the linear term
    FTRL_LINEAR = auto()
    DUAL_SUM = auto()  # of AdagradDA
    DUAL_SQUARES = auto()
    DELTA_GRADIENT = auto()  # of Adadelta
    DELTA_STEP = auto()
    ROWS = auto()  # of Adafactor
    COLUMNS = auto()
    UNFACTORED = auto()
    AVERAGE = auto()  # of the variable
    ACCUMULATED = auto()  # gradients for the next step


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot that an optimizer keeps for its variables.

    `kept_in` is the list that holds it in Keras 2.11+ and Keras 3. `option` is the optimizer's
    attribute that adds the slot; "" if it always has the slot.
    """

    name: str
    meaning: Meaning
    kept_in: str = ""
    option: str = ""


@dataclass(frozen=True, slots=True)
class OptimizerRow:
    """A class of optimizers, with its slots in the order of their creation.

    `own` are further variables that this class alone tracks. `is_plain` is False if not every
    variable has each of the slots in its own shape.
    """

    generation: Generation
    name: str
    slots: tuple[SlotRow, ...] = ()
    own: tuple[str, ...] = ()
    is_plain: bool = True

    @property
    def default_name(self) -> str:
        """The name under which TensorFlow 1 stores the slots: `w/Adam`."""
        return self.name.removesuffix("Optimizer")

    @property
    def options(self) -> set[str]:
        """The attributes of an optimizer that add slots."""
        return {slot.option for slot in (*self.slots, *_OF_ALL[self.generation])} - {""}

    def meanings(self) -> dict[str, Meaning]:
        """Return what each slot holds, by its name, those that any Keras optimizer may have too."""
        return {slot.name: slot.meaning for slot in (*self.slots, *_OF_ALL[self.generation])}


_AVERAGES = SlotRow("average", Meaning.AVERAGE, "_model_variables_moving_average", "use_ema")
_ACCUMULATED = SlotRow(
    "gradient_accumulator",
    Meaning.ACCUMULATED,
    "_accumulated_gradients",
    "gradient_accumulation_steps",
)
_OF_ALL: dict[Generation, tuple[SlotRow, ...]] = {
    Generation.TENSORFLOW_1: (SlotRow("average", Meaning.AVERAGE),),  # ExponentialMovingAverage
    Generation.LEGACY: (),
    Generation.KERAS_2: (_AVERAGES,),
    Generation.KERAS_3: (_AVERAGES, _ACCUMULATED),
}


def _listed(generation: Generation) -> Iterator[OptimizerRow]:
    """Yield the rows of Keras 2.11+ or Keras 3, which differ in names more than in lists."""
    is_3 = generation is Generation.KERAS_3

    def slot(kept_in: str, name: str, old: str, meaning: Meaning, option: str = "") -> SlotRow:
        return SlotRow(name if is_3 else old, meaning, kept_in, option)

    def row(
        name: str, *slots: SlotRow, own: tuple[str, ...] = (), plain: bool = True
    ) -> OptimizerRow:
        return OptimizerRow(generation, name, slots, own, plain)

    first = slot("_momentums", "momentum", "m", Meaning.FIRST_MOMENT)
    second = slot("_velocities", "velocity", "v", Meaning.SECOND_MOMENT)
    hats = slot("_velocity_hats", "velocity_hat", "vhat", Meaning.LARGEST_SECOND_MOMENT, "amsgrad")
    yield row("Adam", first, second, hats)
    yield row("AdamW", first, second, hats)
    nesterov = slot("_momentums", "momentum", "m", Meaning.NESTEROV_MOMENT)
    yield row("Nadam", nesterov, second, own=("_u_product",))
    norm = slot("_u", "norm", "u", Meaning.INFINITY_NORM)
    yield row("Adamax", slot("_m", "momentum", "m", Meaning.FIRST_MOMENT), norm)
    squares = SlotRow("accumulator", Meaning.SUM_OF_SQUARES, "_accumulators")
    yield row("Adagrad", squares)
    yield row(
        "Adadelta",
        SlotRow("accumulated_grad", Meaning.DELTA_GRADIENT, "_accumulated_grads"),
        SlotRow("accumulated_delta_var", Meaning.DELTA_STEP, "_accumulated_delta_vars"),
    )
    yield row(
        "RMSprop",
        SlotRow("velocity", Meaning.MEAN_SQUARE, "_velocities"),
        SlotRow("momentum", Meaning.SCALED_STEP, "_momentums", "momentum"),
        SlotRow("average_gradient", Meaning.MEAN_GRADIENT, "_average_gradients", "centered"),
    )
    yield row(
        "Ftrl",
        SlotRow("accumulator", Meaning.FTRL_SQUARES, "_accumulators"),
        SlotRow("linear", Meaning.FTRL_LINEAR, "_linears"),
    )
    option = "momentum" if is_3 else ""
    yield row("SGD", slot("momentums", "momentum", "m", Meaning.STEP, option))
    yield row(
        "Lion", slot("_momentums" if is_3 else "momentums", "momentum", "m", Meaning.SIGN_MOMENT)
    )
    yield row(
        "Adafactor",
        SlotRow("r", Meaning.ROWS, "_r"),
        SlotRow("c", Meaning.COLUMNS, "_c"),
        slot("_v", "velocity", "v", Meaning.UNFACTORED),
        plain=False,
    )
    if is_3:
        yield row("Lamb", first, second)
        iterate = SlotRow("momentum", Meaning.ITERATE, "_momentums")
        yield row("ScheduleFreeAdamW", iterate, second)
        velocities = SlotRow("velocity", Meaning.MUON_SECOND_MOMENT, "adam_velocities")
        for momentums in ("momentums", "adam_momentums"):  # the latter in earlier versions
            moment = SlotRow("momentum", Meaning.MUON_MOMENT, momentums)
            yield row("Muon", moment, velocities, plain=False)


def _declared() -> Iterator[OptimizerRow]:
    """Yield the rows of legacy Keras and of TensorFlow 1."""
    first, second = SlotRow("m", Meaning.FIRST_MOMENT), SlotRow("v", Meaning.SECOND_MOMENT)
    squares = SlotRow("accumulator", Meaning.SUM_OF_SQUARES)
    rms, linear = SlotRow("rms", Meaning.MEAN_SQUARE), SlotRow("linear", Meaning.FTRL_LINEAR)
    kept = Generation.LEGACY
    hats = SlotRow("vhat", Meaning.LARGEST_SECOND_MOMENT, option="amsgrad")
    yield OptimizerRow(kept, "Adam", (first, second, hats))
    yield OptimizerRow(
        kept, "Nadam", (SlotRow("m", Meaning.NESTEROV_MOMENT), second), ("momentum_cache",)
    )
    yield OptimizerRow(kept, "Adamax", (first, SlotRow("v", Meaning.INFINITY_NORM)))
    yield OptimizerRow(kept, "Adagrad", (squares,))
    deltas = SlotRow("accum_grad", Meaning.DELTA_GRADIENT), SlotRow("accum_var", Meaning.DELTA_STEP)
    yield OptimizerRow(kept, "Adadelta", deltas)
    yield OptimizerRow(
        kept,
        "RMSprop",
        (
            rms,
            SlotRow("momentum", Meaning.SCALED_STEP, option="_momentum"),
            SlotRow("mg", Meaning.MEAN_GRADIENT, option="centered"),
        ),
    )
    yield OptimizerRow(kept, "Ftrl", (SlotRow("accumulator", Meaning.FTRL_SQUARES), linear))
    yield OptimizerRow(kept, "SGD", (SlotRow("momentum", Meaning.STEP, option="_momentum"),))
    kept = Generation.TENSORFLOW_1
    powers = ("beta1_power", "beta2_power")
    yield OptimizerRow(kept, "AdamOptimizer", (first, second), powers)
    yield OptimizerRow(kept, "AdagradOptimizer", (squares,))
    yield OptimizerRow(kept, "ProximalAdagradOptimizer", (squares,))
    duals = (
        SlotRow("gradient_accumulator", Meaning.DUAL_SUM),
        SlotRow("gradient_squared_accumulator", Meaning.DUAL_SQUARES),
    )
    yield OptimizerRow(kept, "AdagradDAOptimizer", duals, is_plain=False)
    deltas = SlotRow("accum", Meaning.DELTA_GRADIENT), SlotRow("accum_update", Meaning.DELTA_STEP)
    yield OptimizerRow(kept, "AdadeltaOptimizer", deltas)
    centers = SlotRow("mg", Meaning.MEAN_GRADIENT, option="_centered")
    scaled = SlotRow("momentum", Meaning.SCALED_STEP)
    yield OptimizerRow(kept, "RMSPropOptimizer", (rms, centers, scaled))
    yield OptimizerRow(kept, "FtrlOptimizer", (SlotRow("accum", Meaning.FTRL_SQUARES), linear))
    yield OptimizerRow(kept, "MomentumOptimizer", (SlotRow("momentum", Meaning.GRADIENT_SUM),))
    yield OptimizerRow(kept, "GradientDescentOptimizer")
    yield OptimizerRow(kept, "ProximalGradientDescentOptimizer")


ROWS = (*_listed(Generation.KERAS_3), *_listed(Generation.KERAS_2), *_declared())
# The lists of Keras' optimizers, and the suffix that Keras 3 adds to the full names of their slots.
SLOT_NAMES = {
    slot.kept_in: slot.name
    for row in ROWS
    if row.generation is Generation.KERAS_3
    for slot in (*row.slots, *_OF_ALL[Generation.KERAS_3])
}


def row_of(generation: Generation | None, name: str | None) -> OptimizerRow | None:
    """Return the row of a class of the libraries by its name; None if the table has none."""
    return next((row for row in ROWS if (row.generation, row.name) == (generation, name)), None)


def slot_names_of(generation: Generation) -> frozenset[str]:
    """Return the names of all slots that optimizers of a generation may have."""
    return frozenset(
        name for row in ROWS if row.generation is generation for name in row.meanings()
    )


def groups_of(row: OptimizerRow, options: Iterable[str]) -> tuple[tuple[SlotRow, ...], ...]:
    """Return the slots that an optimizer with these options has, those made together in a group.

    The optimizers with lists make what an option adds apart, for all variables at once.
    """
    general = _OF_ALL[row.generation]
    kept = [slot for slot in row.slots if slot.option in ("", *options)]
    if not any(slot.kept_in for slot in row.slots):
        return (tuple(kept),) if kept else ()
    basic = tuple(slot for slot in kept if not slot.option)
    apart = [(slot,) for slot in kept if slot.option]
    first = [(slot,) for slot in general if slot.option in options]
    return (*first, *((basic,) if basic else ()), *apart)


# What Keras 3 calls the slots of the same classes of Keras 2.11+.
_IN_KERAS_3 = {
    old.name: new.name
    for row in ROWS
    if row.generation is Generation.KERAS_2
    for now in ROWS
    if (now.generation, now.name) == (Generation.KERAS_3, row.name)
    for old, new in zip(row.slots, now.slots, strict=True)
}


def name_in_keras_3(slot_name: str) -> str:
    """Return what Keras 3 calls a slot of Keras 2.11+.

    >>> name_in_keras_3("m"), name_in_keras_3("mine")
    ('momentum', 'mine')
    """
    return _IN_KERAS_3.get(slot_name, slot_name)
