"""What Keras' `load_weights` passes over in silence, and why it raises.

Each value that the call does not put into its own object is a row of the table of the restore, and
in one finding: that of the object which fails or takes values of others, of the optimizer, or of
its part. What only an error keeps from its object has none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.keras_dry_run import METHOD
from ckpt_viz.answers.dry_runs.keras_outcome import KerasOutcome
from ckpt_viz.answers.evidence.unbuilt_optimizers import UnbuiltOptimizers
from ckpt_viz.answers.rules.keras_objects import KerasObjects
from ckpt_viz.answers.table.check_table import table_without_fix
from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.ground.text import count, listed, printable, readable
from ckpt_viz.live.keras.keras_accessors import optimizer_of
from ckpt_viz.live.objects.facts import is_of_keras_3
from ckpt_viz.live.tensorflow_names.packages import KERAS, library_of
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.pairs import is_guess
from ckpt_viz.matching.engines.keras_h5_loading import NEEDS_BY_NAME
from ckpt_viz.matching.engines.load_outcome import Stays
from ckpt_viz.matching.restore_table.rows import Destination, RestoreRow

_MAX_NAMED = 5
_BUILD = "Build the optimizer first: model.optimizer.build(model.trainable_variables)."
_BY_NAMES = "Call check.fix().apply(): it restores by the names of layers."
_FIX = "Call check.fix().apply(), which restores"
_KINDS = {Stays.SHAPE: Kind.SHAPE, Stays.DTYPE: Kind.DTYPE}


Rows = Sequence[RestoreRow]
_Rule = Callable[[int, Rows], Finding]


def keras_weights(run: DryRun, outcome: KerasOutcome) -> Iterator[Finding]:
    """Find why the call raises, and what it does without a message."""
    return _Rules(run, outcome).all()


class _Rules:
    """The rules of one check, with what all of them ask."""

    def __init__(self, run: DryRun, outcome: KerasOutcome) -> None:
        assert run.saved is not None
        self.run, self.outcome = run, outcome
        self.live, self.saved = run.live, run.saved
        self.loading, self.target = outcome.loading, outcome.target
        self.of_model = KerasObjects(run, outcome)

    def all(self) -> Iterator[Finding]:
        yield from self._of_call()
        is_refused = bool(self.loading.raises) and not self.target.is_built
        if not (is_refused or self.loading.text == NEEDS_BY_NAME):
            yield from self._of_rows()
            yield from self._partly_overwritten()
            yield from self._zeroed()
            yield from self._cast()
            yield from self._unknown()
            yield from self._by_order()

    def _of_call(self) -> Iterator[Finding]:
        """Find that the call ends before it looks at an object, as for the number of layers."""
        if not self.loading.raises or (self.loading.failures and self.target.is_built):
            return
        kind, advice = Kind.KEY_MISSING, self.of_model.advice("what fits")
        why = f"load_weights raises {self.loading.raises}: {readable(self.loading.text).strip()}"
        if not self.target.is_built:
            kind = Kind.NOT_BUILT
            why = "The model is not built, so load_weights raises ValueError before it reads."
            advice = "Call the model on some data first, or build it: model.build(input_shape)."
        elif self.loading.text == NEEDS_BY_NAME:
            advice = "Give load_weights by_name=True, too, or leave out skip_mismatch."
        elif self.loading.absent:
            kind, name = Kind.DAMAGED, readable(printable(self.loading.absent))
            why = f"The file lists {name} and does not have it, so load_weights raises KeyError."
            advice = "Copy the file again, or call check.fix().apply(): it restores what is there."
        yield self._finding(Severity.ERROR, kind, why, advice, objects=(ROOT,))

    # --- the rows

    def _of_rows(self) -> Iterator[Finding]:
        """Find why values are not in their own objects: once for each object, or part."""
        groups: dict[tuple[_Rule, int], list[RestoreRow]] = defaultdict(list)
        groups |= {(self._failing, number): [] for number in self.loading.failures}
        for row in table_without_fix(self.run, ()).rows:
            rule = self._rule_of(row)
            if rule is not None:
                groups[rule].append(row)
        for (tell, key), rows in groups.items():
            yield tell(key, rows)

    def _finding(
        self,
        severity: Severity,
        kind: Kind,
        why: str,
        advice: str,
        nodes: Iterable[int] = (),
        objects: Iterable[int | None] = (),
        rows: Rows = (),
    ) -> Finding:
        """Return a finding about some nodes and objects, and those of rows."""
        return self.run.finding(
            *(severity, kind, why, advice),
            nodes=[*nodes, *(row.saved for row in rows)],
            objects=[*objects, *(row.live for row in rows)],
        )

    def _rule_of(self, row: RestoreRow) -> tuple[_Rule, int] | None:
        """Return the rule for a row, and the object or part that it tells of."""
        if row.plain.place in (Destination.HERE, Destination.UNKNOWN):
            return None
        if self.saved.layout is Layout.KERAS_NAMES and self._is_of_optimizer(row):
            return self._not_read, ROOT
        number = self.of_model.that_fails_with(row)
        if number is not None:
            is_skipped = number in self.of_model.skipped
            return (self._skipping if is_skipped else self._failing), number
        if row.saved is None:
            if not self.of_model.keeps_its_own(row):
                return None
            return self._guessed if self.of_model.is_guess(row) else self._kept, ROOT
        if row.plain.place is Destination.INTO:
            return self._astray, self._parts_astray(row)[1]
        holder = self.of_model.holder(row.saved)
        if row.live is None:
            return (self._nowhere, holder) if row.saved in self._unused else None
        if self.of_model.is_guess(row):
            return self._guessed, ROOT
        return None if self.loading.raises else (self._elsewhere, holder)

    def _is_of_optimizer(self, row: RestoreRow) -> bool:
        is_live = row.live is not None and optimizer_of(self.live, row.live) is not None
        return is_live or row.saved in self.outcome.not_read

    @cached_property
    def _unused(self) -> frozenset[int]:
        return frozenset(self.run.verdicts.unresolved)

    def _failing(self, number: int, rows: Rows) -> Finding:
        why = self.of_model.failure(number, rows)
        kind = Kind.KEY_MISSING if why.stays is None else _KINDS.get(why.stays, Kind.KEY_MISSING)
        advice = "Train these values again, or change the model so that the saved ones fit."
        if why.raises:
            advice = self.of_model.advice("the rest")
        severity = Severity.ERROR if why.raises else Severity.WARNING
        return self._finding(severity, kind, why.sentence, advice, why.nodes, why.objects, rows)

    def _skipping(self, number: int, rows: Rows) -> Finding:
        saved, own = self.of_model.offered(number), self.target.weights.saveables[number].own
        return self._finding(
            Severity.WARNING,
            Kind.OPTIMIZER_CHANGED,
            "Keras skips the whole state of the optimizer, with one line of warning: the file "
            f"has {count(len(saved), 'value')}, and this optimizer {len(own)}.",
            _BUILD
            if self._to_build
            else "Use the class and options that were saved, for the same variables.",
            [*map(self.of_model.holder, saved[:1]), *saved],
            self.of_model.nodes_of([number]),
            rows,
        )

    def _not_read(self, _: int, rows: Rows) -> Finding:
        saved = sum(row.saved is not None for row in rows)
        fitting = {pair.node for pair in self.run.mapping.pairs if not is_guess(pair)}
        restored = sum(row.saved in fitting for row in rows)
        once_built = restored + sum(row.saved in self._to_build for row in rows)
        what = f"{count(saved, 'value')} of the file stay there"
        which = "these values, too" if restored == saved else restored
        advice = f"{_FIX} {which}; or {self._load_whole}"
        if not saved:
            what = f"{count(len(rows), 'value')} of the optimizer keep their own"
            advice = f"Save the whole model, and {self._load_whole}"
        elif once_built > restored:
            which = "these values" if once_built == saved else f"{once_built} of these values"
            advice = f"{_BUILD} Then check.fix().apply() restores {which}, too."
        elif not restored:
            advice = f"L{self._load_whole[1:]}"
        every = enumerate(self.saved.nodes) if saved else ()
        optimizers = [node_id for node_id, node in every if node.role is Role.OPTIMIZER]
        why = f"load_weights reads no optimizer from `.h5`: {what}."
        return self._finding(
            Severity.INFO, Kind.OPTIMIZER_MISSING, why, advice, optimizers, rows=rows
        )

    @property
    def _load_whole(self) -> str:
        """Return which Keras loads the whole model: each reads only what it wrote itself."""
        keras_3, keras_2 = KERAS
        library, is_of_3 = library_of(self.live.source), is_of_keras_3(self.live.source)
        provenance = self.saved.provenance
        opened_by = "" if provenance is None else provenance.opened_by
        if opened_by.endswith(".load_model") and opened_by.startswith(keras_2) is is_of_3:
            library = keras_2 if is_of_3 else keras_3
        return f"load the whole model by {library}.saving.load_model(path)."

    @cached_property
    def _to_build(self) -> frozenset[int]:
        """The saved states that have a place as soon as their optimizer is built."""
        unbuilt = UnbuiltOptimizers(self.run.mapping)
        return frozenset(unbuilt.states) - unbuilt.misfits

    def _astray(self, obj: int, rows: Rows) -> Finding:
        """Tell that an object takes values that belong to another one."""
        node, name = self._parts_astray(rows[0])[0], self.live.names.place
        own_name = self.saved.nodes[node].own_name
        pair, live = self.run.mapping.parts.get(node), rows[0].live
        belongs = own_name or self.saved.names.place(node)
        if pair is not None or live is not None:
            belongs = name(self.live.tree.parents[live or 0] if pair is None else pair.obj)
        evidence = " by the names in the file" if own_name else ""
        return self._finding(
            Severity.WARNING,
            Kind.MISPLACED,
            f"{name(obj)} gets the values that belong to {readable(belongs)}{evidence}: Keras goes "
            "by the order of layers.",
            _BY_NAMES,
            [node],
            [obj, *(row.plain.other for row in rows)],
            rows,
        )

    def _parts_astray(self, row: RestoreRow) -> tuple[int, int]:
        """Return the greatest saved and live part that Keras takes for one, and that are not."""
        assert row.saved is not None and row.plain.other is not None
        parents = self.saved.tree.parents, self.live.tree.parents
        trace, parts = self.run.by_objects, self.run.mapping.parts
        node, obj = parents[0][row.saved], parents[1][row.plain.other]
        while trace is not None and parents[0][node] > ROOT and parents[1][obj] > ROOT:
            above = parents[0][node], parents[1][obj]
            pair = parts.get(above[0])
            if trace.bound.get(above[0]) != above[1] or (pair and pair.obj == above[1]):
                break
            node, obj = above
        return node, obj

    def _nowhere(self, holder: int, rows: Rows) -> Finding:
        is_silent = self.run.method == METHOD and not self.loading.raises
        them, stay = ("it", "it stays") if len(rows) == 1 else ("them", "they stay")
        leaves = f"{METHOD} leaves {them} out without a message" if is_silent else f"{stay} there"
        why = f"No object of the model takes {self._values_of(holder, rows)}; {leaves}."
        advice = "If you removed the part on purpose, nothing is wrong."
        if self.saved.nodes[holder].role is Role.OPTIMIZER and self._to_build:
            advice = _BUILD
        return self._finding(Severity.WARNING, Kind.UNRESOLVED, why, advice, [holder], rows=rows)

    def _elsewhere(self, holder: int, rows: Rows) -> Finding:
        why = f"{METHOD} leaves {self._values_of(holder, rows)} out, though the model has the part"
        why = f"{why}: Keras looks for it in another place."
        return self._finding(Severity.WARNING, Kind.MISPLACED, why, _BY_NAMES, [holder], rows=rows)

    def _values_of(self, holder: int, rows: Rows) -> str:
        part = self.saved.names.place(holder) if holder else "the model"
        return f"{count(len(rows), 'saved value')} of {part}"

    def _guessed(self, _: int, rows: Rows) -> Finding:
        nodes = [row.saved for row in rows if row.saved is not None]
        parts = [*dict.fromkeys(map(self.of_model.holder, nodes))]
        return self._finding(
            Severity.WARNING,
            Kind.UNRESOLVED,
            f"Only order or shape tells where {count(len(nodes), 'saved value')} of "
            f"{names_of(self.saved, parts)} belong.",
            "Look at them first: check.fix(guesses=True) restores these, too.",
            rows=rows,
        )

    def _kept(self, _: int, rows: Rows) -> Finding:
        objects = [row.live for row in rows if row.live is not None]
        return self._finding(
            Severity.WARNING,
            Kind.UNMATCHED,
            f"The model keeps its own values of {count(len(objects), 'variable')}: "
            f"{names_of(self.live, objects)}.",
            "Train them, or set them by your own code.",
            rows=rows,
        )

    # --- what the call does to variables

    def _partly_overwritten(self) -> Iterator[Finding]:
        every = [*enumerate(self.loading.loaded)]
        changed = [v for v, each in every if each.key is not None or each.stays is Stays.ZEROED]
        if self.loading.raises and changed:
            objects = self.of_model.variables(changed)
            yield self._finding(
                Severity.ERROR,
                Kind.PARTIAL_OVERWRITE,
                f"{len(objects)} of {count(len(every), 'variable')} already have saved values when "
                f"load_weights raises: {names_of(self.live, objects)}.",
                "Keep the values first: snapshot = cv.snapshot(model). After an error, "
                "snapshot.restore() puts them back.",
                objects=objects,
            )

    def _zeroed(self) -> Iterator[Finding]:
        for number, saveable in enumerate(self.target.weights.saveables):
            zeroed = () if saveable.loading is None else saveable.loading.zeroed
            is_set = (v for v in zeroed if self.loading.loaded[v].stays is Stays.ZEROED)
            names = [self.target.weights.variables[v].name for v in is_set]
            if names:
                yield self._finding(
                    Severity.WARNING,
                    Kind.UNMATCHED,
                    f"load_weights sets {listed(names)} of {self.of_model.place(number)} to zero, "
                    "and training cannot change them from there.",
                    "Load the weights before enable_lora(), or call check.fix().apply(): it leaves "
                    "these values.",
                    objects=self.of_model.nodes_of([number]),
                )

    def _cast(self) -> Iterator[Finding]:
        casts = Counter(loaded.cast for loaded in self.loading.loaded if loaded.cast)
        for (saved, live), number in casts.items():
            loaded = enumerate(self.loading.loaded)
            objects = self.of_model.variables(v for v, y in loaded if y.cast == (saved, live))
            yield self._finding(
                Severity.WARNING,
                Kind.DTYPE,
                f"Keras converts {count(number, 'value')} from {saved} to {live} in silence: "
                f"{names_of(self.live, objects)}.",
                f"Make the model with the dtype {saved} if its numbers matter.",
                objects=objects,
            )

    def _unknown(self) -> Iterator[Finding]:
        for number in self.loading.unknown:
            saveable, place = self.target.weights.saveables[number], self.of_model.place(number)
            what = (
                f"{place} loads its values by its own load_own_variables of {saveable.class_name}: "
                "only a load shows what it does."
            )
            if self.saved.layout is not Layout.KERAS_PATHS:
                what = (
                    f"Keras 2 converts the saved values of {place}, which have an older form: only "
                    "a load shows the result."
                )
            yield self._finding(
                Severity.INFO,
                Kind.UNKNOWABLE,
                what,
                "Load into a copy of the model to see the result.",
                self.of_model.offered(number),
                self.of_model.variables(saveable.own),
            )

    def _by_order(self) -> Iterator[Finding]:
        """Find layers that go by their order alone, though the file has another number of them."""
        numbers = self.loading.offers.by_order
        nodes = [node for number in numbers for node in self.of_model.offered(number)]
        names = {self.saved.names.name(self.of_model.holder(node)) for node in nodes}
        kind, advice = "with other", "Give each layer its old name, and check again."
        if all(is_automatic(name, None) for name in names):
            kind, advice = "without", "Give each layer its own name before the next save."
        if numbers:
            yield self._finding(
                Severity.WARNING,
                Kind.UNKNOWABLE,
                f"The file has another number of layers {kind} names. Only their order tells which "
                f"weights {count(len(numbers), 'layer gets', 'layers get')}, and it may be wrong.",
                f"Look at the table first. {advice}",
                nodes,
                self.of_model.nodes_of(numbers),
            )


def names_of(graph: Graph, nodes: Sequence[int]) -> str:
    """Return what people call the first few of some nodes."""
    names = [graph.names.place_or_state(node) for node in nodes[:_MAX_NAMED]]
    more = len(nodes) - len(names)
    return listed([*names, *([f"{more} more"] if more else [])])
