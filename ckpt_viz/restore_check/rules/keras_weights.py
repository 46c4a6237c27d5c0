"""What Keras' `load_weights` passes over in silence, and why it raises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ckpt_viz.changes.kind import Kind
from ckpt_viz.matching.keras_h5_loading import NEEDS_BY_NAME
from ckpt_viz.matching.keras_loading import Stays
from ckpt_viz.object_graph.graph import Graph, Layout
from ckpt_viz.object_graph.keras_variables import is_automatic
from ckpt_viz.object_graph.nodes import Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.remedy import Advice
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.finding import Finding
from ckpt_viz.restore_check.keras_dry_run import METHOD, KerasOutcome
from ckpt_viz.text import count, listed, readable, shape_words

_MAX_NAMED = 5
_UNBUILT = 2  # variables of an optimizer that is not built: a counter and a rate
_AS_SAVED = "Change the model as it was saved"
_OF_FAILURES = (
    *(Stays.NO_GROUP, Stays.COUNT, Stays.MISSING, Stays.SHAPE, Stays.DTYPE),
    *(Stays.UNREADABLE, Stays.AFTER_FAILURE, Stays.OPTIMIZER_SKIPPED, Stays.UNKNOWN, Stays.REFUSED),
)


def keras_weights(run: DryRun, outcome: KerasOutcome) -> Iterator[Finding]:
    """Find why the call raises, and what it does without a message."""
    rules = _Rules(run, outcome)
    yield from rules.not_built()
    yield from rules.whole_file()
    yield from rules.failures()
    yield from rules.partly_overwritten()
    yield from rules.exchanged()
    yield from rules.skipped()
    yield from rules.zeroed()
    yield from rules.cast()
    yield from rules.unused()
    yield from rules.left()
    yield from rules.unknown()


class _Rules:
    """The rules of one check, with what all of them ask."""

    def __init__(self, run: DryRun, outcome: KerasOutcome) -> None:
        assert run.saved is not None
        self.run, self.outcome = run, outcome
        self.live, self.saved = run.live, run.saved
        self.loading, self.target = outcome.loading, outcome.target
        self.of_object = {
            obj: tuple(v for v in saveable.own if v in self.target.variables)
            for obj, saveable in enumerate(self.target.weights.saveables)
        }

    def _finding(
        self,
        severity: Severity,
        kind: Kind,
        sentence: str,
        advice: str,
        *,
        nodes: Iterable[int] = (),
        objects: Iterable[int] = (),
    ) -> Finding:
        on_saved, on_live = tuple(dict.fromkeys(nodes)), tuple(dict.fromkeys(objects))
        return Finding(
            severity,
            kind,
            self.saved.name(on_saved[0]) if on_saved else None,
            self.live.name(on_live[0]) if on_live else None,
            sentence,
            Advice(advice),
            on_saved,
            on_live,
        )

    def _is_refused(self) -> bool:
        """Return whether the call ends before it reads."""
        return bool(self.loading.raises) and not self.target.is_built

    def _owner(self, number: int) -> tuple[int, ...]:
        node = self.target.objects.get(number)
        return () if node is None else (node,)

    def _owners(self, nodes: Iterable[int]) -> list[int]:
        """Return the saved objects that hold some values."""
        return list(dict.fromkeys(self.saved.tree.parents[node] for node in nodes))

    def _holder(self, node: int) -> int:
        """Return the saved object that a value belongs to; a slot belongs to its optimizer."""
        slot = self.saved.nodes[node].slot
        owner = None if slot is None else slot.optimizer
        return self.saved.tree.parents[node] if owner is None else owner

    def _optimizers(self) -> Iterator[int]:
        roles = (node.role for node in self.saved.nodes)
        return (node for node, role in enumerate(roles) if role is Role.OPTIMIZER)

    def _place(self, number: int) -> str:
        """Return what people call an object of the model."""
        node, saveable = self.target.objects.get(number), self.target.weights.saveables[number]
        if node is None or node == 0:
            return readable(saveable.name or saveable.class_name)
        return self.live.names.place(node)

    def _objects(self, variables: Iterable[int]) -> list[int]:
        return [self.target.variables[v] for v in variables if v in self.target.variables]

    # --- what raises

    def not_built(self) -> Iterator[Finding]:
        if self._is_refused() and not self.loading.failures:
            yield self._finding(
                Severity.ERROR,
                Kind.NOT_BUILT,
                "The model is not built, so load_weights raises ValueError before it reads.",
                "Call the model on some data first, or build it: model.build(input_shape).",
                objects=(0,),
            )

    def _is_of_whole_file(self) -> bool:
        """Return whether the file and the model do not fit as a whole."""
        is_of_one = bool(self.loading.failures)
        return bool(self.loading.raises) and not (is_of_one or self._is_refused())

    def _loads_nothing(self) -> bool:
        """Return whether one error explains why all values stay."""
        is_first = self._is_of_whole_file() and not self.loading.overwritten
        return self._is_refused() or is_first

    def whole_file(self) -> Iterator[Finding]:
        """Find that the file and the model do not fit as a whole, as by the number of layers."""
        if self._is_of_whole_file():
            yield self._finding(
                Severity.ERROR,
                Kind.KEY_MISSING,
                f"load_weights raises {self.loading.raises}: {readable(self.loading.text).strip()}",
                "Give load_weights by_name=True, too, or leave out skip_mismatch."
                if self.loading.text == NEEDS_BY_NAME
                else f"{_AS_SAVED}, or call check.fix().apply(): it restores what fits by names.",
                objects=(0,),
            )

    def failures(self) -> Iterator[Finding]:
        skips = not self.loading.raises
        severity = Severity.WARNING if skips else Severity.ERROR
        for number in self.loading.failures:
            own = self.of_object.get(number, ())
            reasons = [self.loading.loaded[v].stays for v in own]
            first = next(
                (v for v, why in zip(own, reasons, strict=True) if why in _OF_FAILURES), None
            )
            stays = None if first is None else self.loading.loaded[first].stays
            every = self.target.weights.saveables[number].own
            kept = sum(self.loading.loaded[v].key is None for v in every)
            effect = f"keeps {count(kept, 'value')}" if skips else "makes load_weights raise"
            sentence = f"{self._why(number, first, stays)}; this {effect}."
            kind = Kind.SHAPE if stays is Stays.SHAPE else Kind.KEY_MISSING
            kind = Kind.DTYPE if stays is Stays.DTYPE else kind
            nodes, objects = self._group(number), self._objects(own)
            if stays is Stays.SHAPE and first is not None:
                objects.sort(key=lambda obj: obj != self.target.variables[first])
                misfit = self._saved_of(first)
                nodes.sort(key=lambda node: node != misfit)
            elif number in self.target.objects:
                objects.insert(0, self.target.objects[number])
            advice = self._advice(stays, skips=skips)
            yield self._finding(severity, kind, sentence, advice, nodes=nodes, objects=objects)

    def _why(self, number: int, variable: int | None, stays: Stays | None) -> str:
        place, failure = self._place(number), self.loading.failures[number]
        if failure.refuses:
            return f"Keras cannot load {place}: {readable(failure.text).strip()}"
        if variable is None or stays is None:
            return f"{place} has no variables, and the file has some for it"
        name = self.live.names.place(self.target.variables[variable])
        if stays is Stays.SHAPE:
            node = self._saved_of(variable)
            if node is None:
                return f"{name} has another shape in the file"
            saved_shape = shape_words(self.saved.nodes[node].attributes[0].shape or ())
            now = self.target.weights.variables[variable].shape or ()
            shapes = f"{saved_shape} in the file and {shape_words(now)} in the model"
            return f"{name} has the shape {shapes}"
        if stays is Stays.NO_GROUP:
            return f"The file has no weights for {place}"
        if stays is Stays.COUNT:
            saved = len(self._group(number))
            own = count(len(self.target.weights.saveables[number].own), "variable")
            return f"{place} has {own} in the model and {saved} in the file"
        if stays is Stays.MISSING:
            return f"The file has no {self._key(variable)}"
        if stays is Stays.DTYPE:
            return f"Keras cannot convert the saved value of {name}"
        return f"The saved value of {name} cannot be read"

    def _advice(self, stays: Stays | None, *, skips: bool) -> str:
        if skips:
            return "Train these values again, or change the model so that the saved ones fit."
        start = "Load before you add the new part" if stays is Stays.NO_GROUP else _AS_SAVED
        return f"{start}, or call check.fix().apply(): it restores the rest by names."

    def _key(self, variable: int) -> str:
        return self.live.nodes[self.target.variables[variable]].attributes[0].checkpoint_key

    def _saved_of(self, variable: int) -> int | None:
        """Return the saved node that belongs to a variable: that of its path, or of its names."""
        if variable in self._offered:
            return self._offered[variable]
        node = self.outcome.nodes.get(self._key(variable))
        return self._counterparts.get(self.target.variables[variable]) if node is None else node

    @cached_property
    def _offered(self) -> Mapping[int, int]:
        """The saved node that each variable of an object gets in turn, where some do not fit."""
        saveables = self.target.weights.saveables
        return {
            variable: self.outcome.nodes[key]
            for number, failure in self.loading.failures.items()
            if len(failure.offered) == len(saveables[number].own)
            for variable, key in zip(saveables[number].own, failure.offered, strict=True)
        }

    @cached_property
    def _counterparts(self) -> Mapping[int, int]:
        return {pair.obj: pair.node for pair in self.run.mapping.parts.values()}

    def _group(self, number: int) -> list[int]:
        """Return the saved values of an object: those under its path, or those of its names."""
        failure = self.loading.failures.get(number)
        if failure is not None and failure.offered:
            return [self.outcome.nodes[key] for key in failure.offered]
        if self.saved.layout is not Layout.KERAS_PATHS:
            of_own = map(self._saved_of, self.of_object.get(number, ()))
            return [node for node in of_own if node is not None]
        node = self.target.objects.get(number)
        if node is None:
            return []
        prefix = "/".join([*self.live.path(node), "vars/"]) if node else "vars/"
        return [i for key, i in self.outcome.nodes.items() if key.startswith(prefix)]

    def partly_overwritten(self) -> Iterator[Finding]:
        changed = self.loading.overwritten
        if not (self.loading.raises and changed):
            return
        objects, every = self._objects(changed), count(len(self.loading.loaded), "variable")
        yield self._finding(
            Severity.ERROR,
            Kind.PARTIAL_OVERWRITE,
            f"{len(objects)} of {every} already have saved values when load_weights raises: "
            f"{self._names(objects)}.",
            "Keep the values first: snapshot = cv.snapshot(model). After an error, "
            "snapshot.restore() puts them back.",
            objects=objects,
        )

    # --- what passes in silence

    def exchanged(self) -> Iterator[Finding]:
        for exchange in self.loading.exchanged:
            saveable = self.target.weights.saveables[exchange.gets]
            names = (exchange.saved_name, saveable.name or "")
            if all(is_automatic(name, saveable.class_name) for name in names):
                continue
            taker, named = self._place(exchange.gets), self._place(exchange.named_so)
            yield self._finding(
                Severity.WARNING,
                Kind.MISPLACED,
                f"{taker} gets the values that belong to {named} by the names in the file: Keras "
                "goes by the order of layers.",
                "Call check.fix().apply(): it restores by the names of layers.",
                nodes=[*self._owners(self._group(exchange.gets)), *self._group(exchange.gets)],
                objects=[
                    *self._owner(exchange.gets),
                    *self._objects(self.of_object.get(exchange.gets, ())),
                ],
            )

    def skipped(self) -> Iterator[Finding]:
        for state in self.loading.skipped:
            nodes = [self.outcome.nodes[key] for key in self._keys_below(state.path)]
            own = self.of_object.get(state.saveable, ())
            yield self._finding(
                Severity.WARNING,
                Kind.OPTIMIZER_CHANGED,
                "Keras skips the whole state of the optimizer, with one line of warning: the file "
                f"has {count(len(nodes), 'value')}, and this optimizer {len(own)}.",
                "Use the class and options that were saved, for the same variables."
                if len(own) > _UNBUILT
                else "Build the optimizer first: model.optimizer.build(model.trainable_variables).",
                nodes=[*self._owners(nodes), *nodes],
                objects=[*self._owner(state.saveable), *self._objects(own)],
            )
        for path in self.loading.skipped_lists:
            yield self._finding(
                Severity.WARNING,
                Kind.UNMATCHED,
                f"The file has no group {readable(path)}: the layers in this list keep their "
                "values.",
                "Save the weights again by this version of Keras, from a model that has them.",
            )

    def zeroed(self) -> Iterator[Finding]:
        for number, saveable in enumerate(self.target.weights.saveables):
            zeroed = () if saveable.loading is None else saveable.loading.zeroed
            is_set = (v for v in zeroed if self.loading.loaded[v].stays is Stays.ZEROED)
            names = [self.target.weights.variables[v].name for v in is_set]
            if names:
                yield self._finding(
                    Severity.WARNING,
                    Kind.UNMATCHED,
                    f"load_weights sets {listed(names)} of {self._place(number)} to zero, and "
                    "training cannot change them from there.",
                    "Load the weights before enable_lora(), or call check.fix().apply(): it leaves "
                    "these values.",
                    objects=self._owner(number),
                )

    def cast(self) -> Iterator[Finding]:
        casts = Counter(loaded.cast for loaded in self.loading.loaded if loaded.cast)
        for (saved, live), number in casts.items():
            variables = [
                v for v, loaded in enumerate(self.loading.loaded) if loaded.cast == (saved, live)
            ]
            objects = self._objects(variables)
            yield self._finding(
                Severity.WARNING,
                Kind.DTYPE,
                f"Keras converts {count(number, 'value')} from {saved} to {live} in silence: "
                f"{self._names(objects)}.",
                f"Make the model with the dtype {saved} if its numbers matter.",
                objects=objects,
            )

    def unused(self) -> Iterator[Finding]:
        ends_early = bool(self.loading.raises) and self.saved.layout is not Layout.KERAS_PATHS
        if self._loads_nothing() or ends_early:  # the error is why the rest gets no place
            return
        explained = {key for state in self.loading.skipped for key in self._keys_below(state.path)}
        explained |= {self._saved_key(i) for n in self.loading.failures for i in self._group(n)}
        by_owner: dict[int, list[int]] = {}
        for key in self.loading.unused:
            if key in self.outcome.nodes and key not in explained:
                node = self.outcome.nodes[key]
                by_owner.setdefault(self._holder(node), []).append(node)
        is_silent = self.run.method == METHOD
        leaves = f"{METHOD} leaves them out without a message" if is_silent else "they stay there"
        for owner, nodes in by_owner.items():
            name = self.saved.names.place(owner) if owner else "the model"
            yield self._finding(
                Severity.WARNING,
                Kind.UNRESOLVED,
                f"No object of the model takes {count(len(nodes), 'saved value')} of {name}; "
                f"{leaves}.",
                "Add the part to the model, or leave it out on purpose.",
                nodes=[owner, *nodes],
            )
        state = self.outcome.not_read
        if state:
            yield self._finding(
                Severity.INFO,
                Kind.OPTIMIZER_MISSING,
                f"load_weights reads no optimizer from `.h5`: {count(len(state), 'value')} of the "
                "file stay there.",
                "Call check.fix().apply(), which restores these values, too; or load the whole "
                "model by keras.saving.load_model(path).",
                nodes=[*self._optimizers(), *state],
            )

    def _keys_below(self, path: str) -> list[str]:
        return [key for key in self.outcome.nodes if key.startswith(f"{path}/vars/")]

    def _saved_key(self, node: int) -> str:
        return self.saved.nodes[node].attributes[0].checkpoint_key

    def left(self) -> Iterator[Finding]:
        if self._loads_nothing():
            return
        left = [
            v
            for v, loaded in enumerate(self.loading.loaded)
            if loaded.key is None and loaded.stays not in (*_OF_FAILURES, Stays.ERROR_BEFORE)
        ]
        objects = self._objects(left)
        if objects:
            yield self._finding(
                Severity.WARNING,
                Kind.UNMATCHED,
                f"The model keeps its own values of {count(len(objects), 'variable')}: "
                f"{self._names(objects)}.",
                "Save them with the model, or set them by your own code.",
                objects=objects,
            )

    def unknown(self) -> Iterator[Finding]:
        for number in self.loading.unknown:
            saveable = self.target.weights.saveables[number]
            own = self.of_object.get(number, ())
            what = (
                f"{self._place(number)} loads its values by its own load_own_variables of "
                f"{saveable.class_name}: only a load shows what it does."
            )
            if self.saved.layout is not Layout.KERAS_PATHS:
                what = (
                    f"Keras 2 converts the saved values of {self._place(number)}, which have an "
                    "older form: only a load shows the result."
                )
            yield self._finding(
                Severity.INFO,
                Kind.UNKNOWABLE,
                what,
                "Load into a copy of the model to see the result.",
                nodes=self._group(number),
                objects=self._objects(own),
            )

    def _names(self, objects: list[int]) -> str:
        return names_of(self.live, objects)


def names_of(graph: Graph, nodes: list[int]) -> str:
    """Return what people call the first few of some nodes."""
    names = [graph.names.place_or_state(node) for node in nodes[:_MAX_NAMED]]
    more = len(nodes) - len(names)
    return listed([*names, *([f"{more} more"] if more else [])])
