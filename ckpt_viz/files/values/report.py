"""What putting values back has done, and what it has left as it was."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from ckpt_viz.ground.text import count, printable

_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Left:
    """Something whose value was not put back, or is not held: its name, and why.

    >>> [left.name for left in cv.snapshot(ckpt).left]
    []
    """

    name: str
    why: str

    def __str__(self) -> str:
        return f"{printable(self.name)}: {printable(self.why)}"


@dataclass(frozen=True)
class Restored:
    """What `Snapshot.restore` did.

    >>> restored = cv.snapshot(ckpt).restore()
    >>> restored.is_complete, restored.left
    (True, ())

    `count` objects have their values back. `left` has what does not, each with the reason.
    `replaced` names places where the program has another object now. It has the value if its kind,
    dtype and shape fit, as `Checkpoint.read` would do.
    """

    count: int
    left: tuple[Left, ...] = ()
    replaced: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the objects of the snapshot have their state back, and nothing was left."""
        return not self.left and not self.replaced

    def warn_if_partial(self, title: str) -> None:
        """Warn of what was left, if an error comes in place of this result."""
        if not self.is_complete:
            warnings.warn(f"{title}: {self}", RuntimeWarning, stacklevel=4)

    def __str__(self) -> str:
        lines = [f"{count(self.count, 'object')} restored"]
        lines += [
            f"replaced by another object since, which has the value: {printable(name)}"
            for name in self.replaced[:_MOST_SHOWN]
        ]
        lines += [f"not restored: {name}" for name in self.left[:_MOST_SHOWN]]
        more = sum(max(0, len(of) - _MOST_SHOWN) for of in (self.replaced, self.left))
        return "\n".join([*lines, *([f"and {more} more"] if more else [])])

    def __repr__(self) -> str:
        return f"<Restored: {self}>"
