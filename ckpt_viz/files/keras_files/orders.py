"""What a file tells of the order in which an optimizer has the variables that it trains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple, Protocol

from ckpt_viz.files.keras_files.training_order import (
    ModelPart,
    SearchSteps,
    Shape,
    Trained,
    in_training_order,
)
from ckpt_viz.graphs.slots.keras_3_slots import only_places


class TrainingOrder(Protocol):
    """What a file tells of the order in which an optimizer has the variables that it trains."""

    @property
    def is_known(self) -> bool:
        """Whether the file tells the order of all variables."""

    def variables(self) -> Iterable[Trained]:
        """Return all variables that the optimizer may train."""

    def of_shapes(
        self, shapes: Sequence[Shape], *, skips: bool
    ) -> Iterable[Sequence[Trained | None]]:
        """Return the orders that variables of these shapes may have; None where it is unknown.

        With `skips`, other variables may be frozen.
        """


class OrderOfNames(NamedTuple):
    """The order of a file that lists its variables with their names."""

    trained: Sequence[Trained]
    is_known: bool = True

    def variables(self) -> Sequence[Trained]:
        """Return the variables in the order of the file."""
        return self.trained

    def of_shapes(
        self, shapes: Sequence[Shape], *, skips: bool
    ) -> Iterator[Sequence[Trained | None]]:
        """Yield the order of the file, and that of the names: Keras before 2.1 sorted by these."""
        if skips:
            yield _embedded(shapes, self.trained)
            return
        by_name = sorted(self.trained, key=attrgetter("name"))
        for order in (self.trained, by_name) if by_name != [*self.trained] else (self.trained,):
            if [variable.shape for variable in order] == [*shapes]:
                yield order


class NoOrder(NamedTuple):
    """The variables of a file that tells no order."""

    trained: Sequence[Trained]
    is_known: bool = False

    def variables(self) -> Sequence[Trained]:
        """Return the variables in any order."""
        return self.trained

    def of_shapes(
        self, shapes: Sequence[Shape], *, skips: bool
    ) -> tuple[Sequence[Trained | None], ...]:
        """Return no order."""
        return ()


@dataclass(frozen=True)
class OrderOfParts:
    """The order of a file that has a group for each part of the model."""

    model: ModelPart
    _steps: SearchSteps = field(default_factory=SearchSteps)

    @property
    def is_known(self) -> bool:
        """Whether the file tells the order of all parts."""
        return self.model.is_known

    def variables(self) -> Iterator[Trained]:
        """Return the variables in the order of the file."""
        return self.model.variables()

    def of_shapes(
        self, shapes: Sequence[Shape], *, skips: bool
    ) -> Iterator[Sequence[Trained | None]]:
        """Yield what all orders of the parts have in common.

        Where that leaves a choice, the order counts in which the file was probably saved.
        """
        variables = in_training_order(self.model, shapes, self._steps, skips=skips)
        stored = self._as_saved(shapes, skips=skips)
        if variables is None:
            variables = stored if skips else None  # some variables of a layer may be frozen
        elif stored is not None and all(
            None in (variable, saved) or variable == saved
            for variable, saved in zip(variables, stored, strict=True)
        ):
            variables = [
                variable or saved for variable, saved in zip(variables, stored, strict=True)
            ]
        if variables is not None:
            yield variables

    def _as_saved(self, shapes: Sequence[Shape], *, skips: bool) -> list[Trained | None] | None:
        """Return the variables in the order of the file, None if that tells nothing."""
        if not self.model.is_as_saved:
            return None
        stored = [*self.model.variables()]
        if skips:
            return _embedded(shapes, stored)
        return [*stored] if [variable.shape for variable in stored] == [*shapes] else None


def _embedded(shapes: Sequence[Shape], among: Sequence[Trained]) -> list[Trained | None]:
    """Return the variable of each shape, if their order permits one place alone."""
    places = dict(
        only_places(
            range(len(shapes)), len(among), lambda number, at: shapes[number] == among[at].shape
        )
    )
    return [among[places[at]] if at in places else None for at in range(len(shapes))]
