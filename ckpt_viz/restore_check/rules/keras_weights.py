"""What Keras' `load_weights` passes over in silence, and why it raises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ckpt_viz.changes.kind import Kind
from ckpt_viz.correspondence.pairs import is_guess
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
# Why a value stays that makes its object fail, and why others stay with it.
_OF_FAILURES = (
    *(Stays.NO_GROUP, Stays.COUNT, Stays.MISSING),
    *(Stays.SHAPE, Stays.DTYPE, Stays.UNREADABLE, Stays.REFUSED),
)
_EXPLAINED = (*_OF_FAILURES, Stays.AFTER_FAILURE, Stays.OPTIMIZER_SKIPPED, Stays.UNKNOWN)


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
    yield from rules.by_order()


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

    @cached_property
    def _failing(self) -> list[int]:
        """The objects that do not get all of their values, optimizers last.

        Those that only a list without a group leads to have a finding of the list. None if the call
        ends before it looks at any.
        """
        if self.loading.text == NEEDS_BY_NAME:
            return []
        in_lists = {n for numbers in self._in_lists.values() for n in numbers}
        failing = [
            number
            for number, own in self.of_object.items()
            if number not in in_lists
            and (number in self.loading.failures or self._first_that_fails(own) is not None)
        ]
        return sorted(failing, key=lambda number: self._is_optimizer(number))

    @cached_property
    def _in_lists(self) -> Mapping[str, list[int]]:
        """The objects that keep their values as the file has no group for a list, by its path."""
        failed = self.loading.failures
        lists = self.loading.skipped_lists.items()
        return {path: [n for n in numbers if n not in failed] for path, numbers in lists}

    def _first_that_fails(self, own: Iterable[int]) -> int | None:
        return next((v for v in own if self._reason(v) in _OF_FAILURES), None)

    def _reason(self, variable: int) -> Stays | None:
        """Return why a variable stays, also after an error that keeps the call from reaching it."""
        stays = self.loading.loaded[variable].stays
        is_reached = stays not in (Stays.NOT_LOADED, Stays.ERROR_BEFORE) or not self.loading.raises
        return stays if is_reached or variable not in self._misfits else Stays.SHAPE

    @cached_property
    def _misfits(self) -> frozenset[int]:
        misfits = {pair.obj for pair in self.run.mapping.misfits}
        return frozenset(v for v, obj in self.target.variables.items() if obj in misfits)

    def _is_optimizer(self, number: int) -> bool:
        node = self.target.objects.get(number)
        return node is not None and self.live.nodes[node].role is Role.OPTIMIZER

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
        for number in self._failing:
            own = self.of_object.get(number, ())
            first = self._first_that_fails(own)
            stays = None if first is None else self._reason(first)
            is_misfit = first is not None and self.loading.loaded[first].stays is not stays
            raises = bool(self.loading.raises) and (is_misfit or number in self.loading.failures)
            every = self.target.weights.saveables[number].own
            kept = sum(self.loading.loaded[v].key is None for v in every)
            effect = "makes load_weights raise" if raises else f"keeps {count(kept, 'value')}"
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
            severity = Severity.ERROR if raises else Severity.WARNING
            advice = self._advice(number, stays, raises=raises)
            yield self._finding(severity, kind, sentence, advice, nodes=nodes, objects=objects)

    def _why(self, number: int, variable: int | None, stays: Stays | None) -> str:
        place, failure = self._place(number), self.loading.failures.get(number)
        if failure is not None and failure.refuses:
            return f"Keras cannot load {place}: {readable(failure.text).strip()}"
        if variable is None or stays is None:
            return f"{place} has no variables, and the file has some for it"
        name = self.live.names.place_or_state(self.target.variables[variable])
        other_part = self._other_part(number)
        if stays is Stays.SHAPE:
            node = self._saved_of(variable)
            if node is None:
                return f"{name} has another shape in the file"
            saved_shape = shape_words(self.saved.nodes[node].attributes[0].shape or ())
            now = shape_words(self.target.weights.variables[variable].shape or ())
            if other_part:
                misfit = f"{saved_shape} does not fit {name}, {now}"
                return f"Keras reads {other_part} for {place}: {misfit}"
            return f"{name} has the shape {saved_shape} in the file and {now} in the model"
        if stays is Stays.NO_GROUP:
            if other_part:
                return f"Keras does not look at {other_part} of the file for {place}"
            return f"The file has no weights for {place}"
        if stays is Stays.COUNT:
            saved = len(self._group(number))
            count_of_own = len(self.target.weights.saveables[number].own)
            where = f"{other_part}, which Keras reads for it, has {saved}" if other_part else ""
            has = f"{place} has {count(count_of_own, 'variable')} in the model"
            return f"{has} and {where or f'{saved} in the file'}"
        if stays is Stays.MISSING:
            return f"The file has no {self._key(variable)}"
        if stays is Stays.DTYPE:
            return f"Keras cannot convert the saved value of {name}"
        return f"The saved value of {name} cannot be read"

    def _other_part(self, number: int) -> str:
        """Return what people call the saved part that has another name, or is in another place.

        Keras reads it for an object, or does not look at it.
        """
        obj = self.target.objects.get(number)
        own = None if obj is None else self._counterparts.get(obj)
        read = next(iter(self._owners(self._group(number))), None)
        if read is None or read == own:
            other = own if read is None else None
        else:
            other = read if own is not None or self._is_of_another(read, number) else None
        return "" if other is None else self.saved.names.place(other)

    def _is_of_another(self, node: int, number: int) -> bool:
        """Return whether a saved part belongs to another object, or has another name."""
        saveable = self.target.weights.saveables[number]
        name = self.saved.nodes[node].own_name or saveable.name or ""
        has_other_name = name != saveable.name and not is_automatic(name, saveable.class_name)
        return node in self._objects_of or has_other_name

    def _advice(self, number: int, stays: Stays | None, *, raises: bool) -> str:
        if not raises:
            return "Train these values again, or change the model so that the saved ones fit."
        is_new = stays is Stays.NO_GROUP and not self._other_part(number)
        start = "Load before you add the new part" if is_new else _AS_SAVED
        return f"{start}, or call check.fix().apply(): it restores the rest by names."

    def _key(self, variable: int) -> str:
        return self.live.nodes[self.target.variables[variable]].attributes[0].checkpoint_key

    def _saved_of(self, variable: int) -> int | None:
        """Return the saved value that Keras looks at for a variable, or that belongs to it."""
        key = self.loading.offers.of_variables.get(variable, self._key(variable))
        node = self._offered.get(variable, self.outcome.nodes.get(key))
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
        """The saved part of each object, as far as it is sure."""
        return {obj: node for node, obj in self._objects_of.items()}

    @cached_property
    def _objects_of(self) -> Mapping[int, int]:
        parts = self.run.mapping.parts.values()
        return {pair.node: pair.obj for pair in parts if not is_guess(pair)}

    def _group(self, number: int) -> list[int]:
        """Return the saved values that Keras finds for an object."""
        failure = self.loading.failures.get(number)
        keys = self.loading.offers.of_objects.get(number, ())
        if failure is not None and failure.offered:
            keys = failure.offered
        return [self.outcome.nodes[key] for key in keys if key in self.outcome.nodes]

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
            taker = self._place(exchange.gets)
            named = readable(exchange.saved_name)
            if exchange.named_so is not None:
                named = self._place(exchange.named_so)
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
            nodes = self._below(state.path)
            own = self.of_object.get(state.saveable, ())
            if own and all(self.loading.loaded[v].key for v in own):
                continue  # the optimizer around this one has loaded them
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
        for path, numbers in self._in_lists.items():
            if not numbers:
                continue
            left = [v for number in numbers for v in self.of_object.get(number, ())]
            yield self._finding(
                Severity.WARNING,
                Kind.UNMATCHED,
                f"The file has no group {readable(path)}: the layers in this list keep their "
                "values.",
                "Save the weights again by this version of Keras, from a model that has them.",
                objects=self._objects(left),
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
        if self._is_refused() or self.loading.text == NEEDS_BY_NAME:
            return
        explained = {n for state in self.loading.skipped for n in self._below(state.path)}
        own = {o for n in self._failing for o in self._objects(self.of_object.get(n, ()))}
        explained |= {node for node, obj in self._objects_of.items() if obj in own}
        of_own_place = (number for number in self._failing if not self._other_part(number))
        explained |= {node for number in of_own_place for node in self._group(number)}
        nowhere: dict[int, list[int]] = {}
        elsewhere: dict[int, list[int]] = {}
        for node in (self.outcome.nodes[key] for key in self.loading.unused):
            if node in explained:
                continue
            if node not in self._objects_of:
                nowhere.setdefault(self._holder(node), []).append(node)
            elif not self.loading.raises:
                elsewhere.setdefault(self._holder(node), []).append(node)
        is_silent = self.run.method == METHOD and not self.loading.raises
        leaves = f"{METHOD} leaves them out without a message" if is_silent else "they stay there"
        for owner, nodes in nowhere.items():
            name = self.saved.names.place(owner) if owner else "the model"
            yield self._finding(
                Severity.WARNING,
                Kind.UNRESOLVED,
                f"No object of the model takes {count(len(nodes), 'saved value')} of {name}; "
                f"{leaves}.",
                "Add the part to the model, or leave it out on purpose.",
                nodes=[owner, *nodes],
            )
        for owner, nodes in elsewhere.items():
            name = self.saved.names.place(owner) if owner else "the model"
            yield self._finding(
                Severity.WARNING,
                Kind.MISPLACED,
                f"{METHOD} leaves {count(len(nodes), 'saved value')} of {name} out, though the "
                "model has the part: Keras looks for it in another place.",
                "Call check.fix().apply(): it restores by the names of layers.",
                nodes=[owner, *nodes],
                objects=[self._objects_of[node] for node in nodes],
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

    def _below(self, path: str) -> list[int]:
        return [n for key, n in self.outcome.nodes.items() if key.startswith(f"{path}/vars/")]

    def left(self) -> Iterator[Finding]:
        if self._is_refused():
            return
        left = [
            v
            for v, loaded in enumerate(self.loading.loaded)
            if loaded.key is None and loaded.stays not in (*_EXPLAINED, Stays.ERROR_BEFORE)
        ]
        objects = self._objects(left)
        if self.loading.raises:  # what the call does not reach has a place, or no saved value
            objects = [obj for obj in objects if obj not in self._counterparts]
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

    def by_order(self) -> Iterator[Finding]:
        """Find layers without names that go by their order, though the file has another number."""
        numbers = self.loading.offers.by_order
        nodes = [node for n in numbers for node in self._group(n)]
        if numbers:
            yield self._finding(
                Severity.WARNING,
                Kind.UNKNOWABLE,
                "The file has another number of layers without names: only the order tells "
                f"{count(len(numbers), 'layer')} apart, which may get values of others.",
                "Load the file before you change the layers. Then give each layer its own name.",
                nodes=nodes,
                objects=[o for n in numbers for o in self._owner(n)],
            )

    def _names(self, objects: list[int]) -> str:
        return names_of(self.live, objects)


def names_of(graph: Graph, nodes: list[int]) -> str:
    """Return what people call the first few of some nodes."""
    names = [graph.names.place_or_state(node) for node in nodes[:_MAX_NAMED]]
    more = len(nodes) - len(names)
    return listed([*names, *([f"{more} more"] if more else [])])
