"""Why a restore raises, in words: the kind of failure, its reason, and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.formats.bundles.lost_files import LostFiles, lost_by_key, lost_files
from ckpt_viz.graphs.nodes.nodes import Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.remedy import Advice, OtherPath, PartialFix, PathResult, Remedy
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.pairs import Certainty
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping
from ckpt_viz.matching.engines.trace import Cause, Failure

IS_POISONED = "Unable to save the object"
IMPORT_SAVER = Advice("Import the module that registers the saver before restoring.")
_NO_SAVER = "checkpoint saver registry does not have name"
_OF_MAP = Advice("Correct this pair of the map.")
_OWN_CODE = Advice("Fix the object's own code, which raises this.")
_KINDS = {
    Cause.SHAPE: Kind.SHAPE,
    Cause.DTYPE: Kind.DTYPE,
    Cause.KEY_MISSING: Kind.KEY_MISSING,
    Cause.UNREADABLE: Kind.DAMAGED,
    Cause.DAMAGED: Kind.DAMAGED,
    Cause.CHILDREN: Kind.POISONED_CONTAINER,
    Cause.PREDICATE: Kind.SAVER_UNKNOWN,
    Cause.SCOPE: Kind.STRATEGY_SCOPE,
    Cause.STAGES: Kind.KEY_MISSING,
    Cause.SYMBOLIC: Kind.KEY_MISSING,
    Cause.TWO_NAMES: Kind.VALUE_LOST,
    Cause.ABORT: Kind.PROCESS_ABORT,
    Cause.NO_VARIABLE: Kind.UNRESOLVED,
}
REMEDIES = {
    Cause.KEY_MISSING: Advice(
        "Restore into an object of the saved class: this one reads other names."
    ),
    Cause.UNREADABLE: Advice("Copy the whole checkpoint again: the index and every data file."),
    Cause.CHILDREN: Advice(
        "Assign a new list or dict instead of changing the tracked one, and keep "
        "untracked objects out of it."
    ),
    Cause.PREDICATE: Advice("Restore into an object that the saver was registered for."),
    Cause.SCOPE: Advice(
        "Call restore inside the scope() of the strategy that made the variables, and make the "
        "optimizer there, too."
    ),
    Cause.STAGES: Advice(
        "Make the iterator from the saved input pipeline, or leave it out of the restore."
    ),
    Cause.SYMBOLIC: Advice(
        "Set the dataset option `experimental_symbolic_checkpoint` as when the "
        "iterator was saved, or leave the iterator out of the restore."
    ),
    Cause.TWO_NAMES: Advice(
        "Track the variable under one name: leave out the wrapper or the wrapped object."
    ),
    Cause.ABORT: Advice("Make a table of the saved class; do not restore into this one."),
}
_NEXT_SENTENCE = re.compile(r"\. +(\w)")
# TensorFlow's text about a container, after the object itself, whose text may be of any length.
_REASON = re.compile(r"\)\. (.+?)\.?(?:\. |\n|$)")


def kind_of(failure: Failure) -> Kind:
    """Return the kind of finding for a failure."""
    if failure.cause is Cause.CHILDREN and IS_POISONED not in failure.message:
        return Kind.UNKNOWABLE
    if _NO_SAVER in failure.message:  # TensorFlow before 2.16
        return Kind.SAVER_UNKNOWN
    return _KINDS.get(failure.cause, Kind.UNKNOWABLE)


def remedy_for(run: DryRun, failure: Failure) -> Remedy:
    """Return what to do about a failure of a restore."""
    if failure.said is not None:
        return Advice(failure.said[1])
    if failure.cause is Cause.DAMAGED:
        return remedy_for_damage(run)
    if failure.cause in (Cause.SHAPE, Cause.DTYPE):
        return make_as_saved(run, failure.cause.value)
    if kind_of(failure) is Kind.UNKNOWABLE:
        return _OF_MAP if run.outcome.is_of_map else _OWN_CODE
    if _NO_SAVER in failure.message:
        return IMPORT_SAVER
    return REMEDIES.get(failure.cause, _OWN_CODE)


def make_as_saved(run: DryRun, aspect: str, number: int = 1) -> Remedy:
    """Return what to do about variables of another shape or dtype, the `aspect`."""
    variables = "the variable" if number == 1 else "the variables"
    return _or_the_rest(run, f"Make {variables} with the saved {aspect}")


def remedy_for_damage(run: DryRun) -> Remedy:
    """Return what to do about damaged values."""
    whole = run.tested.whole if run.tested is not None else None
    if whole is None:
        return _or_the_rest(run, "Copy the whole checkpoint again")
    return OtherPath(whole, PathResult.IS_WHOLE)


def lost_to(run: DryRun) -> Mapping[str, LostFiles]:
    """Return which missing or cut data files hold the tensors that a restore reads, by key."""
    saved = run.saved
    if saved is None and run.reading is not None:
        with suppress(CkptVizError):
            saved = read_saved(run.reading)
    return lost_by_key(lost_files(saved.stored_in)) if saved is not None else {}


def files_of(lost: Mapping[str, LostFiles], saved: Graph, node: int | None) -> LostFiles | None:
    """Return the missing or cut data files in which a saved node has a tensor; the first of them.

    `lost` is what `lost_to` returns.
    """
    attributes = saved.nodes[node].attributes if lost and node is not None else ()
    keys = (key for a in attributes for key in saved.tensor_keys(a.checkpoint_key))
    return next((lost[key] for key in keys if key in lost), None)


def reason_and_remedy(
    run: DryRun, failure: Failure, number: int, lost: LostFiles | None = None
) -> tuple[str, Remedy]:
    """Return in a sentence why `number` values fail, and what to do.

    `lost` are the data files without which they fail.
    """
    if lost is None:
        return why(failure, number), remedy_for(run, failure)
    call = "run_restore_ops()" if failure.in_session else "the restore"
    return (
        f"{lost.why}; {call} needs {number} and raises {failure.type}.",
        _or_the_rest(run, lost.request) if lost.left else Advice(lost.remedy),
    )


def _or_the_rest(run: DryRun, request: str) -> Remedy:
    """Return a request, with the fix of all else if that has any value."""
    mapping = mapping_in(run)
    if mapping is None:
        return Advice(f"{request}.")
    steps = run.trace.steps if run.trace is not None else ()
    failed = {step.node for step in steps if step.failure is not None}
    if any(
        pair.certainty is not Certainty.GUESS
        and pair.node != mapping.saved.save_counter
        and not (pair.node in failed and mapping.live.nodes[pair.obj].role is Role.VALUE)
        and _is_whole(run, mapping.saved, pair.node)
        for pair in mapping.pairs
    ):
        return PartialFix(instead=request)
    return Advice(f"{request}.")


def mapping_in(run: DryRun) -> ValueMapping | None:
    """Return the mapping that a fix would have; None if there is none."""
    if run.saved is not None:
        return run.mapping
    return None if run.outcome.is_of_map else mapping_of_names(run)


def mapping_of_names(run: DryRun) -> ValueMapping | None:
    """Return the mapping of the names in the file; None if the file cannot be read."""
    return None if named_in(run) is None else run.mapping_of_names


def named_in(run: DryRun) -> Graph | None:
    """Return the names in the file that the call reads; None if there are none to read."""
    if run.reading is not None and run.trace is not None and run.outcome.tensors:
        with suppress(CkptVizError):
            return run.named
    return None


def _is_whole(run: DryRun, saved: Graph, node: int) -> bool:
    """Return whether no stored byte of a node is known to be damaged."""
    faults = run.tested.faults if run.tested is not None else {}
    keys = (
        key for a in saved.nodes[node].attributes for key in saved.tensor_keys(a.checkpoint_key)
    )
    stored = {key: saved.stored(key) for key in keys}
    return not any(key in faults or (tensor and tensor.error) for key, tensor in stored.items())


def why(failure: Failure, number: int = 1) -> str:
    """Return the reason for a failure in a sentence; `number` values fail for the same."""
    later = ", and run_restore_ops() raises" if failure.in_session else ""
    if failure.said is not None:
        return f"{failure.said[0]}: {failure.type}."
    if failure.cause is Cause.DAMAGED:
        stored = "The stored bytes" if number == 1 else f"The stored bytes of {number} values"
        call = "run_restore_ops()" if failure.in_session else "the restore"
        raises = in_words(f"{call} raises {failure.type}", failure.message)
        return f"{stored} are damaged, and {raises}."
    if failure.cause is Cause.ABORT:
        return (
            f"Importing the saved entries (keys of shape {failure.actual}) ends the process: a "
            "DenseHashTable cannot take the entries of a MutableHashTable."
        )
    if failure.cause is Cause.STAGES:
        return (
            f"The saved iterator's dataset ends in the stage {failure.actual}, the program's in "
            f"{failure.expected}: the iterator finds no state{later}."
        )
    if failure.cause is Cause.TWO_NAMES:
        return (
            f"Two tracked objects share one variable, which cannot take both {failure.actual} and "
            f"{failure.expected}: ValueError."
        )
    if failure.cause is Cause.SYMBOLIC:
        return (
            f"The program's iterator, with experimental_symbolic_checkpoint={failure.expected}, "
            f"cannot read the saved state of the stage {failure.actual}{later}."
        )
    if failure.cause in (Cause.SHAPE, Cause.DTYPE) and failure.actual:
        aspect, saved = failure.cause.value, failure.actual
        return f"The saved value has {aspect} {saved}, the program's {failure.expected}{later}."
    if IS_POISONED in failure.message:
        return f"{failure.type}, {IS_POISONED}: {why_poisoned(failure.message)}."
    return f"{in_words(f'{failure.type}{later}', first_sentence(failure.message))}."


def why_poisoned(message: str) -> str:
    """Return why TensorFlow refuses to list the items of a container.

    >>> why_poisoned("Unable to save the object [1] (a list wrapper). It was sorted. Do not.")
    'It was sorted'
    """
    reason = _REASON.search(message)
    return reason[1] if reason is not None else "it was changed in a way that cannot be restored"


def in_words(type_name: str, message: str) -> str:
    """Return an exception's class with its message, which may be empty.

    >>> in_words("KeyError", "'v'"), in_words("NotImplementedError", "")
    ("KeyError: 'v'", 'NotImplementedError')
    """
    return f"{type_name}: {message}" if message else type_name


def first_line(message: str) -> str:
    """Return the first line of a message."""
    return message.partition("\n")[0]


def in_one_sentence(message: str, path: str) -> str:
    """Return the first line of a message as one sentence without its end.

    The path of the checkpoint in it keeps its full stops.

    >>> in_one_sentence("Unable to read file (/My. Runs/a.index). Perhaps: bad.", "/My. Runs/a")
    'Unable to read file (/My. Runs/a.index); perhaps: bad'
    """
    line = first_line(message).rstrip(".")
    parts = line.split(path) if path else [line]
    return path.join(_NEXT_SENTENCE.sub(lambda first: f"; {first[1].lower()}", p) for p in parts)


def first_sentence(message: str) -> str:
    """Return the first sentence of a message, without its full stop."""
    return first_line(message.strip()).split(". ")[0].removesuffix(".")
