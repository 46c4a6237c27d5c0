"""A finding: one thing to know about a restore, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Remedy
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.kind import Kind


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about a restore, and what to do about it.

    >>> finding = cv.check(ckpt, "ckpts/ckpt-3").findings[0]
    >>> finding.kind, finding.saved, finding.live
    (<Kind.RENAMED: 'renamed'>, '(root).net.hidden', '(root).net.body')

    `nodes` are the saved nodes that the finding is about, and `objects` the live objects, by id. A
    restore by names has the graph of its saved nodes in the table of the check.
    `saved` and `live` are the names of the first of each, None for a side without any. `why` is a
    sentence, and `remedy` prints as one. `change` is what happened to the program, if that is the
    cause, and `explains` are the findings that follow from the change.
    """

    severity: Severity
    kind: Kind
    saved: str | None
    live: str | None
    why: str
    remedy: Remedy
    nodes: tuple[int, ...] = ()
    objects: tuple[int, ...] = ()
    change: Change | None = field(default=None, repr=False)
    explains: tuple[Finding, ...] = ()

    def all(self) -> Iterator[Finding]:
        """Yield the finding and those that it explains."""
        yield self
        for finding in self.explains:
            yield from finding.all()


@dataclass(frozen=True)
class Explained:
    """The saved nodes and live objects that earlier findings explain, and the kinds of all these.

    Consequences of a cause need no finding of their own. `waiting` are the saved values that are
    restored as soon as something is built. `of_optimizers` are those of changed optimizers: such a
    change explains what is left of its state, but not which variable gets the state of another.
    """

    nodes: frozenset[int] = frozenset()
    objects: frozenset[int] = frozenset()
    waiting: frozenset[int] = frozenset()
    of_optimizers: frozenset[int] = frozenset()
    kinds: frozenset[Kind] = frozenset()

    def including(self, findings: Iterable[Finding]) -> Explained:
        """Return these and what the findings are about, unless they are symptoms themselves."""
        every = [*findings]
        causes = [f for f in every if f.change is not None or f.kind not in _SYMPTOMS]
        waiting = (f.nodes for f in every if f.kind is Kind.DEFERRED)
        of_optimizers = (f.nodes for f in every if f.kind is Kind.OPTIMIZER_CHANGED)
        return Explained(
            self.nodes.union(*(f.nodes for f in causes)),
            self.objects.union(*(f.objects for f in causes)),
            self.waiting.union(*waiting),
            self.of_optimizers.union(*of_optimizers),
            self.kinds.union(f.kind for f in every),
        )


_SYMPTOMS = {Kind.SHAPE, Kind.DTYPE, Kind.KEY_MISSING, Kind.PARTIAL_OVERWRITE}
