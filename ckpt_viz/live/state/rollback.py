"""Changes of live objects that happen wholly or not at all.

What a restore may change is held first: values, and TensorFlow's records of values that wait for
objects to be built. If the change raises, everything comes back. One object that refuses its old
value does not keep the others from theirs, and a second Ctrl+C waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ckpt_viz.errors import HalfChangedError, SourceError
from ckpt_viz.files.values.memory import Budget
from ckpt_viz.ground.interrupts import Interrupts, OwnDirectory
from ckpt_viz.ground.text import listed
from ckpt_viz.live.objects.composed_variables import leaves_of
from ckpt_viz.live.state.holding import (
    HeldState,
    bytes_below,
    error_words,
    has_value,
    is_held_by,
    put,
    state_of,
)
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_registered as tf_registered
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.live.tensorflow_names import tensorflow_state as tf_state
from ckpt_viz.live.tensorflow_names.shadows import instance_dict, trackable_attributes

# Where TensorFlow records what was restored and what waits. The last five are those of optimizers
# and of a Checkpoint: slot variables, and the counter, which a restore makes.
_RECORDS = (
    "_self_unconditional_checkpoint_dependencies",
    "_self_unconditional_dependency_names",
    "_self_unconditional_deferred_dependencies",
    "_self_update_uid",
    "_self_name_based_restores",
    "_self_saveable_object_factories",
    "_deferred_slot_restorations",
    "_slots",
    "_weights",
    "_save_counter",
    "_attached_dependencies",
)
_MISSING = object()
_MOST_NAMED = 20


@dataclass(frozen=True)
class Held:
    """An old value: the names of its objects, what puts it back, and whether it is in place."""

    names: Callable[[], Sequence[str]]
    put_back: Callable[[], None]
    is_in_place: Callable[[], bool]


def hold(objects: Sequence[tuple[Callable[[], str], Any]], budget: Budget) -> list[Held]:
    """Return copies of what objects have now, each given with what names it.

    A variable of a strategy is held replica by replica: a sum over them would be divided among
    them. Raises SourceError for what cannot be copied.
    """
    held: list[Held] = []
    by_saver: dict[str, list[tuple[Callable[[], str], Any]]] = {}
    for name, obj in objects:
        saver = tf_registered.registered_saver_name(obj)
        if saver is not None:
            by_saver.setdefault(saver, []).append((name, obj))
            continue
        for leaf in leaves_of(obj):
            state: HeldState | None = _copied(partial(state_of, leaf), name)
            if state is not None:
                budget.add(sum(tf_state.nbytes_of(part.value) for part in state.parts))
                held.append(_held(leaf, state, name))
    return held + [_held_by_saver(saver, members, budget) for saver, members in by_saver.items()]


def _copied(copy: Callable[[], Any], name: Callable[[], str]) -> Any:
    try:
        return copy()
    except Exception as error:  # the object's own code
        raise SourceError(
            f"{name()}: its value cannot be copied, so it could not be put back: "
            f"{error_words(error)}; "
            "nothing was changed"
        ) from error


def _held(obj: Any, state: HeldState, name: Callable[[], str]) -> Held:
    def put_back() -> None:
        if has_value(state):
            put(obj, state)
        elif not is_held_by(obj, state):
            raise ValueError("it had no value before, and keeps the new one")

    return Held(lambda: (name(),), put_back, lambda: is_held_by(obj, state))


def _held_by_saver(
    saver: str, objects: Sequence[tuple[Callable[[], str], Any]], budget: Budget
) -> Held:
    directory = OwnDirectory()
    prefix = f"{directory.name}/state"
    by_number = {str(number): obj for number, (_, obj) in enumerate(objects)}

    def names() -> Sequence[str]:
        return tuple(name() for name, _ in objects)

    _copied(lambda: tf_state.save_by(saver, by_number, prefix), lambda: listed(names()))
    budget.add(bytes_below(directory.name))

    def put_back() -> None:
        assert directory.name  # it exists as long as this function
        tf_state.restore_by(saver, by_number, prefix)

    return Held(names, put_back, lambda: False)


# --- the records


def records_of(objects: Iterable[Any]) -> Callable[[], None]:
    """Return what puts TensorFlow's records of restores back to what they are now."""
    holders = {id(holder): holder for obj in objects for holder in _holders_of(obj)}
    kept = [
        partial(_put_record, holder, name, _kept(_record(holder, name)))
        for holder in holders.values()
        for name in _RECORDS
    ]

    def put_back() -> None:
        for put_record in kept:
            put_record()

    return put_back


def _holders_of(obj: Any) -> Iterator[Any]:
    """Yield an object, and those inside it that keep its records: of wrappers, of optimizers."""
    yield obj
    yield from tf_restore.bookkeepers_of(obj)
    if tf_restore.restore_slot_hook(obj) is not None:
        yield from trackable_attributes(obj).values()


def _record(holder: Any, name: str) -> Any:
    if tf_private.is_data_structure(holder):  # a proxy may have no `__dict__` of its own
        return getattr(holder, name, _MISSING) if name.startswith("_self_") else _MISSING
    return instance_dict(holder).get(name, _MISSING)


def _kept(value: Any) -> Callable[[], Any]:
    """Return what gives back a value with its content of now: the same dicts, lists and sets."""
    if type(value) is dict:
        inner = {key: _kept(item) for key, item in value.items()}

        def back() -> Any:
            content = {key: give() for key, give in inner.items()}
            value.clear()
            value.update(content)
            return value

        return back
    if type(value) not in (list, set):
        return lambda: value
    content = value.copy()

    def back_to_content() -> Any:
        value.clear()
        (value.extend if type(value) is list else value.update)(content)
        return value

    return back_to_content


def _put_record(holder: Any, name: str, kept: Callable[[], Any]) -> None:
    value = kept()
    if _record(holder, name) is value:
        return
    if tf_private.is_data_structure(holder):
        delattr(holder, name) if value is _MISSING else setattr(holder, name, value)
    elif value is _MISSING:
        del instance_dict(holder)[name]
    else:
        instance_dict(holder)[name] = value


# --- the change


def all_or_nothing(
    title: str, change: Callable[[], None], held: Sequence[Held], put_records: Callable[[], None]
) -> None:
    """Change objects; if that raises anything, put everything back and raise the same.

    Raises HalfChangedError if an object does not take its old value.
    """
    half: HalfChangedError | None = None
    try:
        with Interrupts() as interrupts:
            try:
                try:
                    change()
                finally:
                    interrupts.hold()
            except BaseException as error:
                done = put_each([*(value.put_back for value in held), put_records])
                half = _half_changed(title, held, done.failures)
                if half is not None:
                    half.__cause__ = error
                raise done.interrupt or error from error
    finally:
        if half is not None:  # goes before a Ctrl+C, which has waited or was the reason
            raise half


def _half_changed(
    title: str, held: Sequence[Held], failures: Mapping[int, BaseException]
) -> HalfChangedError | None:
    changed: dict[str, str] = {}
    for number, error in failures.items():
        if number == len(held):
            changed["TensorFlow's records of waiting values"] = error_words(error)
        elif not _is_in_place(held[number]):
            changed.update(dict.fromkeys(held[number].names(), error_words(error)))
    if not changed:
        return None
    old = dict.fromkeys(name for value in held for name in value.names() if name not in changed)
    names = listed([f"{name} ({why})" for name, why in changed.items()], most=_MOST_NAMED)
    return HalfChangedError(
        f"{title}: the change failed, and not every old value could be put back. Changed: {names}; "
        f"as before: {listed(tuple(old), most=_MOST_NAMED) or 'nothing'}. Restore what has changed "
        "from a checkpoint",
        tuple(old),
        tuple(changed),
    )


def _is_in_place(held: Held) -> bool:
    try:
        return held.is_in_place()
    except Exception:  # the object's own code: the value is unknown
        return False


class RaisedErrors(NamedTuple):
    """What calls have raised, by position, and an interrupt that came in between."""

    failures: dict[int, BaseException]
    interrupt: BaseException | None


def put_each(puts: Sequence[Callable[[], None]]) -> RaisedErrors:
    """Call all, also after one that raises; signals must wait.

    What raises no Exception, such as a KeyboardInterrupt, has come from outside: that call is
    repeated.
    """
    failures: dict[int, BaseException] = {}
    interrupt: BaseException | None = None
    for number, call in enumerate(puts):
        error = _raised_by(call)
        if error is not None and not isinstance(error, Exception):
            interrupt, error = error, _raised_by(call)
        if error is not None:
            failures[number] = error
    return RaisedErrors(failures, interrupt)


def _raised_by(call: Callable[[], None]) -> BaseException | None:
    try:
        call()
    except BaseException as error:
        return error
    return None
