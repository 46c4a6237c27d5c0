"""Lists, dicts and tuples."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.check_rows.objects import holding_a_poisoned_list
from tests.check_rows.table import ALL, Pair, Topic
from tests.support import live_objects
from tests.support.programs import ckpt, module, saved, var

row = Topic()


@row()
def containers_of_every_kind(at: Path) -> Pair:
    return Pair(live_objects.containers().save(str(at / "ckpt")), live_objects.containers)


@row()
def list_keeps_the_index_of_what_is_no_trackable(at: Path) -> Pair:
    path = saved(at, x=module(**{"1": var(), "3": var()}))
    return Pair(path, lambda: ckpt(x=[None, var(), "text", var(), 4]))


@row("consumed")
def list_is_shorter(at: Path) -> Pair:
    return Pair(saved(at, x=[var(), var()]), lambda: ckpt(x=[var()]))


@row("existing")
def list_is_longer(at: Path) -> Pair:
    return Pair(saved(at, x=[var()]), lambda: ckpt(x=[var(), var()]))


@row(raises="ValueError", says=["(1,)", "(2,)"])
def list_is_shifted(at: Path) -> Pair:
    path = saved(at, x=[var([1.0]), var([1.0, 2.0])])
    return Pair(path, lambda: ckpt(x=[var([0.0, 0.0])]))


@row()
def list_saved_and_dict_live(at: Path) -> Pair:
    return Pair(saved(at, x=[var(), var()]), lambda: ckpt(x={"0": var(), "1": var()}))


@row()
def tuple_saved_and_list_live(at: Path) -> Pair:
    return Pair(saved(at, x=(var(), 1, var())), lambda: ckpt(x=[var(), None, var()]))


@row()
def dict_in_another_order(at: Path) -> Pair:
    return Pair(saved(at, x={"a": var(), "b": var()}), lambda: ckpt(x={"b": var(), "a": var()}))


@row()
def dict_with_keys_that_need_escaping(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(x={"a/b.c": var(), "": var(), "ü": var()})

    return Pair(make().save(str(at / "ckpt")), make)


@row()
def ordered_dict(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(x=OrderedDict(b=var(), a=var()))

    return Pair(make().save(str(at / "ckpt")), make)


Named = namedtuple("Named", ["first", "second"])


@row()
def namedtuple_by_name_and_by_index(at: Path) -> Pair:
    return Pair(saved(at, x=Named(var(), var())), lambda: ckpt(x=[var(), var()]))


@row()
def list_saved_and_namedtuple_live(at: Path) -> Pair:
    return Pair(saved(at, x=[var(), var()]), lambda: ckpt(x=Named(var(), var())))


@row("consumed")
def tuple_without_trackables_is_not_tracked(at: Path) -> Pair:
    return Pair(saved(at, x=(var(),), v=var()), lambda: ckpt(x=module(y=(1, 2)), v=var()))


def _untracked(item: Any) -> dict[str, Any]:
    return {
        "default dict": defaultdict(list, {"a": item}),
        "counter": Counter(),
        "deque": deque([item]),
        "set": {item.ref()},
        "special list": type("SpecialList", (list,), {})([item]),
        "special dict": type("SpecialDict", (dict,), {})(a=item),
        "tensor": item + 1.0,
        "array": item.numpy(),
        "number": 1.0,
        "function": lambda: item,
    }


for _kind in ("default dict", "counter", "deque", "set", "special list", "special dict",
              "tensor", "array", "number", "function"):  # fmt: skip

    def _untracked_pair(at: Path, kind: str = _kind) -> Pair:
        path = saved(at, m=module(v=var(), x=_untracked(var())[kind]))
        return Pair(path, lambda: ckpt(m=module(v=var(), x=_untracked(var())[kind])))

    row(name=f"{_kind} is not tracked on either side")(_untracked_pair)


@row("consumed")
def list_saved_and_deque_live(at: Path) -> Pair:
    return Pair(saved(at, m=module(x=[var()])), lambda: ckpt(m=module(x=deque([var()]))))


@row()
def empty_containers_are_ignored(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), a=[], b={}, c=module(d=[{}, ()])))


@row()
def empty_containers_saved(at: Path) -> Pair:
    return Pair(saved(at, v=var(), a=[], b={}), lambda: ckpt(v=var()))


@row()
def containers_of_numbers_only(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), a=[1, 2], b={"x": 1}, c={1: 2}))


@row()
def attribute_set_anew(at: Path) -> Pair:
    def live() -> Any:
        target = ckpt(m=module(a=var([1.0, 2.0]), b=var()))
        target.m.a = var(5.0)
        return target

    return Pair(saved(at, m=module(a=var(), b=var())), live)


@row("consumed")
def attribute_deleted(at: Path) -> Pair:
    def live() -> Any:
        target = ckpt(m=module(a=var(), b=var()))
        del target.m.a
        return target

    return Pair(saved(at, m=module(a=var(), b=var())), live)


@row()
def attribute_set_to_what_is_no_trackable(at: Path) -> Pair:
    def live() -> Any:
        target = ckpt(m=module(a=var(), b=var()))
        target.m.a = 3
        return target

    return Pair(saved(at, m=module(a=var(), b=var())), live)


@row("consumed")
def attribute_that_is_not_to_be_tracked(at: Path) -> Pair:
    def live() -> Any:
        from tensorflow.python.trackable.data_structures import NoDependency

        return ckpt(m=module(a=NoDependency(var()), b=var()))

    return Pair(saved(at, m=module(a=var(), b=var())), live)


def _list_changes() -> dict[str, Callable[[Any], Any]]:
    return {
        "append": lambda items: items.append(var()),
        "extend": lambda items: items.extend([var()]),
        "add in place": lambda items: items.__iadd__([var()]),
        "times two": lambda items: items.__imul__(2),
        "times none": lambda items: items.__imul__(0),
        "item replaced": lambda items: items.__setitem__(0, var()),
        "item replaced by itself": lambda items: items.__setitem__(0, items[0]),
        "item deleted": lambda items: items.__delitem__(0),
        "slice deleted": lambda items: items.__delitem__(slice(0, 2)),
        "slice replaced": lambda items: items.__setitem__(slice(0, 1), [var()]),
        "insert": lambda items: items.insert(0, var()),
        "pop": lambda items: items.pop(),
        "clear": lambda items: items.clear(),
        "reverse": lambda items: items.reverse(),
        "changed outside": lambda items: items._storage.append(var()),
    }


# What the change of a list of three variables leads to; None: the list cannot be listed any more.
_AFTER_LIST_CHANGE: Mapping[str, str | None] = {
    "append": "existing",
    "extend": "existing",
    "add in place": "existing",
    "times two": "",
    **dict.fromkeys(
        (
            "times none", "item replaced", "item replaced by itself", "item deleted",
            "slice deleted", "slice replaced", "insert", "pop", "clear", "reverse",
            "changed outside",
        )
    ),
}  # fmt: skip


def _changed_list(change: str) -> Any:
    holder = module(items=[var(), var(), var()])
    _list_changes()[change](holder.items)
    return holder


for _change, _fails in _AFTER_LIST_CHANGE.items():

    def _list_pair(at: Path, change: str = _change) -> Pair:
        path = saved(at, m=module(items=[var(), var(), var()]))
        return Pair(path, lambda: ckpt(m=_changed_list(change)))

    def _unreached_list_pair(at: Path, change: str = _change) -> Pair:
        return Pair(saved(at, v=var()), lambda: ckpt(v=var(), m=_changed_list(change)))

    row(
        _fails or "",
        raises="ValueError" if _fails is None else None,
        name=f"list after {_change}",
    )(_list_pair)
    row(ALL if _fails is None else "existing", name=f"list after {_change}, not in the checkpoint")(
        _unreached_list_pair
    )


@row(raises="ValueError")
def list_of_lists_sorted(at: Path) -> Pair:
    def live() -> Any:
        holder = module(items=[[2], [1]])
        holder.items.sort()
        return ckpt(m=holder)

    return Pair(saved(at, m=module(items=[[1], [2]])), live)


@row("existing")
def list_of_numbers_changes_freely(at: Path) -> Pair:
    def live() -> Any:
        holder = module(items=[3, 1, 2])
        holder.items[0] = 5
        holder.items.sort()
        del holder.items[0]
        return ckpt(m=holder, w=var())

    return Pair(saved(at, m=module(items=[1])), live)


@row(raises="ValueError")
def list_of_numbers_changed_outside(at: Path) -> Pair:
    def live() -> Any:
        numbers = [1, 2]
        holder = module(items=numbers)
        numbers.append(3)
        return ckpt(m=holder)

    return Pair(saved(at, m=module(items=[1, 2])), live)


@row()
def none_in_a_list_replaced(at: Path) -> Pair:
    def live() -> Any:
        holder = module(items=[None, var()])
        holder.items[0] = var()
        return ckpt(m=holder)

    return Pair(saved(at, m=module(items=[var(), var()])), live)


@row(raises="ValueError")
def placeholder_in_a_list_replaced(at: Path) -> Pair:
    def live() -> Any:
        holder = module(items=[module(), var()])
        holder.items[0] = var()
        return ckpt(m=holder)

    return Pair(saved(at, m=module(items=[var(), var()])), live)


@row(raises="ValueError")
def poisoned_list_deep_down(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(a=module(b={"c": (module(items=[var(), var()]),)}))

    def live() -> Any:
        target = make()
        target.a.b["c"][0].items.pop()
        return target

    return Pair(make().save(str(at / "ckpt")), live)


@row(raises="ValueError")
def poisoned_list_attached_beside_the_root(at: Path) -> Pair:
    def live() -> Any:
        target = ckpt(module(v=var()), more=[var(), var()])
        target.more.reverse()
        return target

    return Pair(saved(at, module(v=var()), more=[var(), var()]), live)


@row(raises="ValueError")
def poisoned_list_comes_before_a_wrong_shape(at: Path) -> Pair:
    path = saved(at, a=var([1.0, 2.0]), m=module(items=[var(), var()]))
    return Pair(path, lambda: ckpt(a=var(), m=holding_a_poisoned_list([var(), var()])))


@row(raises="ValueError", says=["(2,)"])
def wrong_shape_comes_before_a_poisoned_list_that_is_attached(at: Path) -> Pair:
    path = saved(at, module(v=var([1.0, 2.0])), m=module(items=[var(), var()]))
    return Pair(path, lambda: ckpt(module(v=var()), m=holding_a_poisoned_list([var(), var()])))


def _changed_dict(change: str) -> Any:
    holder = module(items={"a": var(), "b": var(), "n": 1})
    items = holder.items
    changes: dict[str, Callable[[], Any]] = {
        "new key": lambda: items.__setitem__("c", var()),
        "update": lambda: items.update({"c": var()}),
        "setdefault": lambda: items.setdefault("c", var()),
        "number replaced": lambda: items.__setitem__("n", 2),
        "value replaced": lambda: items.__setitem__("a", var()),
        "value replaced by a number": lambda: items.__setitem__("a", 1),
        "number replaced by a value": lambda: items.__setitem__("n", var()),
        "key deleted": lambda: items.__delitem__("a"),
        "number deleted": lambda: items.__delitem__("n"),
        "pop": lambda: items.pop("a"),
        "pop of a number": lambda: items.pop("n"),
        "popitem": lambda: items.popitem(),
        "clear": lambda: items.clear(),
        "changed outside": lambda: items.__wrapped__.__setitem__("c", var()),
        "number for a key": lambda: items.__setitem__(1, var()),
        "number for a key of a number": lambda: items.__setitem__(1, 2),
        "tuple for a key": lambda: items.__setitem__(("a", 1), var()),
    }
    changes[change]()
    return holder


_DICT_CHANGES = {
    "new key": "existing",
    "update": "existing",
    "setdefault": None,
    "number replaced": "",
    "value replaced": "",
    "value replaced by a number": "",
    "number replaced by a value": "existing",
    "key deleted": "",
    "number deleted": "",
    "pop": None,
    "pop of a number": None,
    "popitem": None,
    "clear": None,
    "changed outside": None,
    "number for a key": None,
    "number for a key of a number": "",
    "tuple for a key": None,
}


for _change, _fails in _DICT_CHANGES.items():

    def _dict_pair(at: Path, change: str = _change) -> Pair:
        path = saved(at, m=module(items={"a": var(), "b": var(), "n": 1}))
        return Pair(path, lambda: ckpt(m=_changed_dict(change)))

    row(
        _fails or "",
        raises="ValueError" if _fails is None else None,
        name=f"dict after {_change}",
    )(_dict_pair)


@row(ALL)
def poisoned_dict_that_is_not_in_the_checkpoint(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), m=_changed_dict("pop")))


@row(raises="ValueError")
def namedtuple_with_a_constructor_of_its_own(at: Path) -> Pair:
    class Special(namedtuple("Special", ["a", "b"])):
        def __new__(cls, a: Any) -> Any:
            return super().__new__(cls, a, 1)

    return Pair(saved(at, m=module(x=(var(), 1))), lambda: ckpt(m=module(x=Special(var()))))


@row(ALL)
def poisoned_list_where_everything_else_matches(at: Path) -> Pair:
    return Pair(
        saved(at, v=var()), lambda: ckpt(v=var(), m=holding_a_poisoned_list([1, var(), var()]))
    )
