"""Which object a saved node is bound to."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.check_rows.objects import NotTracked, answering_with_errors, counted, special, unlistable
from tests.check_rows.table import ALL, Pair, Topic
from tests.support.programs import ckpt, module, rewritten, saved, var, with_children, written

row = Topic()


@row("existing")
def saved_shared_and_live_apart(at: Path) -> Pair:
    shared = module(v=var())
    path = saved(at, a=module(x=shared), b=module(x=shared))
    return Pair(path, lambda: ckpt(a=module(x=module(v=var())), b=module(x=module(v=var()))))


@row()
def saved_apart_and_live_shared(at: Path) -> Pair:
    def live() -> Any:
        shared = module(v=var())
        return ckpt(a=shared, b=shared)

    return Pair(saved(at, a=module(v=var(1.0)), b=module(v=var(2.0))), live)


@row(raises="ValueError")
def saved_apart_and_live_shared_takes_the_first_shape(at: Path) -> Pair:
    def live() -> Any:
        shared = var([0.0, 0.0])
        return ckpt(a=shared, b=shared)

    return Pair(saved(at, a=var(1.0), b=var([1.0, 2.0])), live)


@row()
def saved_apart_and_live_shared_never_reads_the_second(at: Path) -> Pair:
    def live() -> Any:
        shared = var(0.0)
        return ckpt(a=shared, b=shared)

    return Pair(saved(at, a=var(1.0), b=var([1, 2])), live)


@row()
def edges_exchanged(at: Path) -> Pair:
    path = saved(at, x=module(v=var()), y=module(v=var()))

    def live() -> Any:
        first, second = module(v=var()), module(v=var())
        return ckpt(x=second, y=first, z=module(x=first, y=second))

    return Pair(path, live)


@row("existing")
def shallow_path_to_shared_node_wins(at: Path) -> Pair:
    deep = module(v=var())
    path = saved(at, a=module(b=module(c=deep)), z=deep)

    def live() -> Any:
        return ckpt(a=module(b=module(c=module(v=var()))), z=module(v=var()))

    return Pair(path, live)


@row()
def dependency_loop(at: Path) -> Pair:
    def make(value: Any) -> Any:
        first, second = module(v=var(value)), module(w=var([value]))
        first.next, second.next = second, first
        return ckpt(start=first)

    return Pair(str(make(1.0).save(str(at / "ckpt"))), lambda: make(2.0))


@row("existing")
def loop_saved_and_chain_live(at: Path) -> Pair:
    first = module(v=var())
    first.next = module(v=var(), next=first)
    path = saved(at, start=first)
    return Pair(
        path,
        lambda: ckpt(start=module(v=var(), next=module(v=var(), next=module(v=var())))),
    )


@row("consumed")
def chain_saved_and_loop_live(at: Path) -> Pair:
    path = saved(at, start=module(v=var(), next=module(v=var(), next=module(w=var()))))

    def live() -> Any:
        first = module(v=var())
        first.next = module(v=var(), next=first)
        return ckpt(start=first)

    return Pair(path, live)


@row()
def root_tracks_itself(at: Path) -> Pair:
    def make() -> Any:
        root = module(v=var())
        root.me = root
        return ckpt(root)

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row("existing")
def renamed(at: Path) -> Pair:
    return Pair(saved(at, old=var()), lambda: ckpt(new=var()))


@row("existing")
def program_has_more(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), w=var()))


@row("consumed")
def checkpoint_has_more(at: Path) -> Pair:
    return Pair(saved(at, v=var(), w=module(deep=module(x=var()))), lambda: ckpt(v=var()))


@row()
def checkpoint_has_more_without_values(at: Path) -> Pair:
    return Pair(saved(at, v=var(), w=module(deep=module())), lambda: ckpt(v=var()))


@row("existing")
def model_saved_one_level_higher(at: Path) -> Pair:
    path = saved(at, model=module(v=var(), w=module(x=var())))
    return Pair(path, lambda: ckpt(module(v=var(), w=module(x=var()))))


@row(ALL)
def model_read_one_level_lower(at: Path) -> Pair:
    path = written(at, module(v=var()))
    return Pair(path, lambda: ckpt(model=module(v=var())), "read")


@row("existing nontrivial")
def model_restored_one_level_lower(at: Path) -> Pair:
    return Pair(written(at, module(v=var())), lambda: ckpt(model=module(v=var())))


@row()
def attached_keywords(at: Path) -> Pair:
    path = saved(at, module(v=var()), step=var(1), rate=var(2.0))
    return Pair(path, lambda: ckpt(module(v=var()), step=var(0), rate=var(0.0)))


@row("consumed")
def attached_keyword_is_gone(at: Path) -> Pair:
    return Pair(saved(at, module(v=var()), step=var(1)), lambda: ckpt(module(v=var())))


@row("existing")
def attached_keyword_is_new(at: Path) -> Pair:
    return Pair(saved(at, module(v=var())), lambda: ckpt(module(v=var()), step=var(1)))


@row()
def attached_keyword_read(at: Path) -> Pair:
    path = written(at, module(v=var()), step=var(1))
    return Pair(path, lambda: ckpt(module(v=var()), step=var(0)), "read")


@row()
def attached_keyword_has_become_an_attribute(at: Path) -> Pair:
    path = saved(at, module(v=var()), step=var(1))
    return Pair(path, lambda: ckpt(module(v=var(), step=var(0))))


@row()
def attribute_has_become_an_attached_keyword(at: Path) -> Pair:
    path = saved(at, module(v=var(), step=var(1)))
    return Pair(path, lambda: ckpt(module(v=var()), step=var(0)))


@row()
def attached_keyword_that_the_root_has_too(at: Path) -> Pair:
    def make() -> Any:
        root = module(v=var())
        return ckpt(root, v=root.v, again=root.v)

    return Pair(str(make().save(str(at / "ckpt"))), make)


def _with_a_hidden_child(value: float, **others: Any) -> Any:
    """Return a checkpoint whose root has been given a child of a keyword's name since."""
    checkpoint = ckpt(module(v=var()), step=module(w=var()))
    checkpoint.root.step = var(value)
    for name, of in others.items():
        setattr(checkpoint.root, name, of(checkpoint.root.step))
    return checkpoint


@row("existing")
def attached_keyword_that_hides_a_later_child(at: Path) -> Pair:
    path = saved(at, module(v=var()), step=module(w=var()))
    return Pair(path, lambda: _with_a_hidden_child(1.0))


@row("existing")
def attached_keyword_that_hides_a_child_that_is_held_elsewhere(at: Path) -> Pair:
    path = saved(at, module(v=var()), step=module(w=var()))
    return Pair(path, lambda: _with_a_hidden_child(1.0, z=lambda step: module(step=step)))


@row("existing")
def hidden_child_takes_the_value_of_its_name(at: Path) -> Pair:
    return Pair(saved(at, v=var(), step=var(5.0)), lambda: _with_a_hidden_child(1.0))


@row("existing")
def attached_object_whose_node_the_root_reached_first(at: Path) -> Pair:
    shared = var()
    path = saved(at, module(v=shared), step=shared)
    return Pair(path, lambda: ckpt(module(v=var()), step=var()))


@row(raises="ValueError", says=["(2,)", "()"])
def attached_keyword_of_another_shape(at: Path) -> Pair:
    path = saved(at, module(v=var()), step=var([1.0, 2.0]))
    return Pair(path, lambda: ckpt(module(v=var()), step=var(1.0)))


@row("consumed")
def attached_subtree(at: Path) -> Pair:
    path = saved(at, module(v=var()), other=module(a=var(), b=var()))
    return Pair(path, lambda: ckpt(module(v=var()), other=module(a=var())))


@row()
def attached_keyword_that_reaches_the_root(at: Path) -> Pair:
    def make() -> Any:
        root = module(v=var())
        return ckpt(root, other=module(back=root, w=var()))

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row()
def weak_reference_to_the_root(at: Path) -> Pair:
    root = module(v=var())

    def live() -> Any:
        target = module(v=var())
        return with_children(ckpt(weakref.ref(target)), _keeps=NotTracked(target))

    return Pair(saved(at, root), live)


@row()
def checkpoint_as_the_root_of_another(at: Path) -> Pair:
    path = saved(at, ckpt(v=var()))
    return Pair(path, lambda: ckpt(ckpt(v=var())))


@row("existing")
def inner_checkpoint_has_a_counter_of_its_own(at: Path) -> Pair:
    return Pair(saved(at, inner=ckpt(v=var())), lambda: ckpt(inner=counted(ckpt(v=var()))))


@row()
def root_has_a_counter_of_its_own(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(module(v=var(), save_counter=var(0, dtype="int64")))

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row()
def counter_was_there_before(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: counted(ckpt(v=var())))


@row()
def counter_of_a_root_was_there_before(at: Path) -> Pair:
    return Pair(saved(at, module(v=var())), lambda: counted(ckpt(module(v=var()))))


@row("existing")
def counter_that_was_there_before_is_read_from_a_written_file(at: Path) -> Pair:
    return Pair(written(at, v=var()), lambda: counted(ckpt(v=var())), "read")


@row(raises="ValueError", says=["int64", "float32"])
def saved_counter_is_a_float(at: Path) -> Pair:
    return Pair(written(at, module(v=var(), save_counter=var(1.0))), lambda: ckpt(v=var()))


@row()
def saved_counter_is_a_vector(at: Path) -> Pair:
    path = written(at, module(v=var(), save_counter=var([1, 2], dtype="int64")))
    return Pair(path, lambda: ckpt(v=var()))


@row(raises="ValueError", says=["(2,)"])
def saved_counter_of_a_root_is_a_vector(at: Path) -> Pair:
    path = written(at, module(v=var(), save_counter=var([1, 2], dtype="int64")))
    return Pair(path, lambda: ckpt(module(v=var())))


@row("consumed")
def saved_counter_has_children(at: Path) -> Pair:
    path = written(at, module(v=var(), save_counter=module(x=var())))
    return Pair(path, lambda: ckpt(v=var()))


@row()
def name_of_an_edge_needs_escaping(at: Path) -> Pair:
    def make() -> Any:
        odd = module()
        for name in ("a/b", "a.b", "a..b", ".S", "", " ", "ü", "%s", "x" * 300):
            setattr(odd, name, module(v=var()))
        return ckpt(odd=odd)

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row(raises="NotFoundError")
def edge_called_like_the_separator_of_keys(at: Path) -> Pair:
    def make() -> Any:
        odd = module()
        setattr(odd, ".ATTRIBUTES", module(v=var()))
        return ckpt(odd=odd)

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row()
def edge_called_like_a_slot(at: Path) -> Pair:
    def make() -> Any:
        odd = module()
        setattr(odd, ".OPTIMIZER_SLOT", module(v=var()))
        return ckpt(odd=odd)

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row("consumed")
def file_does_not_say_which_nodes_have_values(at: Path) -> Pair:
    def forget(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes:
            node.ClearField("has_checkpoint_values")

    path = rewritten(at, saved(at, v=var(), w=module(x=var(), y=module())), forget)
    return Pair(path, lambda: ckpt(v=var()))


@row()
def object_finds_children_in_its_own_way(at: Path) -> Pair:
    path = saved(at, m=module(old=var(), other=var()))
    return Pair(path, lambda: ckpt(m=_renaming()(new=var(), other=var())))


@row()
def object_finds_something_else_for_every_child(at: Path) -> Pair:
    path = saved(at, m=module(a=var(), b=var()))
    return Pair(path, lambda: ckpt(m=_one_for_all()(a=var(), b=var())))


@row()
def object_finds_what_it_does_not_list(at: Path) -> Pair:
    path = saved(at, m=module(hidden=module(v=var()), other=var()))
    return Pair(path, lambda: ckpt(m=_hiding()(other=var())))


@row(raises="RuntimeError")
def object_raises_when_it_is_asked_for_a_child(at: Path) -> Pair:
    return Pair(saved(at, m=module(a=var())), lambda: ckpt(m=_refusing()(a=var())))


@row(raises="RuntimeError")
def object_raises_when_it_lists_its_children(at: Path) -> Pair:
    path = saved(at, m=module(a=var()))
    return Pair(path, lambda: ckpt(m=unlistable()()))


@row(raises="InvalidArgumentError", says=["int64", "float"])
def saved_counter_of_a_root_is_a_float(at: Path) -> Pair:
    path = written(at, module(v=var(), save_counter=var(1.0)))
    return Pair(path, lambda: ckpt(module(v=var())))


@row("existing")
def object_with_an_adapter_that_renames_what_is_missing(at: Path) -> Pair:
    path = saved(at, m=module(old=var(), other=var()))
    return Pair(path, lambda: ckpt(m=_adapted()(new=var(), other=var())))


@row()
def object_that_delegates_to_another(at: Path) -> Pair:
    path = saved(at, m=module(v=var()))
    return Pair(path, lambda: ckpt(m=_delegating(module(v=var()))))


@row()
def object_that_delegates_beside_the_other(at: Path) -> Pair:
    def live() -> Any:
        inner = module(v=var())
        return ckpt(a=_delegating(inner), b=inner)

    return Pair(saved(at, a=module(v=var()), b=module(v=var())), live)


@row()
def object_that_delegates_to_a_variable_beside_it(at: Path) -> Pair:
    def live() -> Any:
        inner = var()
        return ckpt(a=_delegating(inner), b=inner)

    return Pair(saved(at, a=var(1.0), b=var([1.0, 2.0])), live)


@row()
def object_without_children_falls_back_to_what_it_tracks(at: Path) -> Pair:
    return Pair(saved(at, m=module(a=var())), lambda: ckpt(m=_listing_nothing()(a=var())))


@row()
def object_answers_every_attribute_with_an_error(at: Path) -> Pair:
    def live() -> Any:
        target = ckpt(m=answering_with_errors()(a=var()))
        object.__setattr__(target.m, "ready", True)
        return target

    return Pair(saved(at, m=module(a=var())), live)


@row()
def two_edges_of_one_name(at: Path) -> Pair:
    def change(proto: Any, values: dict[str, Any]) -> None:
        for child in proto.nodes[0].children:
            if child.local_name == "w":
                child.local_name = "v"

    return Pair(rewritten(at, saved(at, v=var(), w=var()), change), lambda: ckpt(v=var()))


@row()
def attached_keyword_set_anew(at: Path) -> Pair:
    def live() -> Any:
        target = ckpt(module(v=var()), step=var())
        target.step = var([1.0, 2.0])
        return target

    return Pair(saved(at, module(v=var()), step=var()), live)


@row("consumed")
def attribute_set_on_a_checkpoint_with_a_root(at: Path) -> Pair:
    def live() -> Any:
        target = ckpt(module(v=var()))
        target.more = var()
        return target

    return Pair(saved(at, module(v=var()), more=var()), live)


def _usual(self: Any, name: str, cached: Any) -> Any:
    from tensorflow.python.trackable.base import Trackable

    return Trackable._lookup_dependency(self, name, cached)


def _renaming() -> Callable[..., Any]:
    return special(
        _lookup_dependency=lambda self, name, cached=None: _usual(
            self, "new" if name == "old" else name, cached
        )
    )


def _adapted() -> Callable[..., Any]:
    class Adapter:
        def is_applicable(self, trackable: Any) -> bool:
            return True

        def maybe_reshard(self, name: str) -> tuple[str, Any]:
            return "new", None

    return special(_checkpoint_adapter=lambda self, path: Adapter())


def _delegating(inner: Any) -> Any:
    """Return an object whose bookkeeping another one keeps."""
    from tensorflow.python.trackable.base import Trackable
    from tensorflow.python.trackable.base_delegate import DelegatingTrackableMixin

    class Delegating(DelegatingTrackableMixin, Trackable):  # type: ignore[misc]
        pass

    return Delegating(inner)


def _one_for_all() -> Callable[..., Any]:
    return special(_lookup_dependency=lambda self, name, cached=None: self.__dict__.get("a"))


def _hiding() -> Callable[..., Any]:
    hidden = module(v=var())
    return special(
        _lookup_dependency=lambda self, name, cached=None: (
            hidden if name == "hidden" else _usual(self, name, cached)
        )
    )


def _refusing() -> Callable[..., Any]:
    def lookup(self: Any, name: str, cached: Any = None) -> Any:
        if self.ready:
            raise RuntimeError("no children for you")

    return special(_lookup_dependency=lookup)


def _listing_nothing() -> Callable[..., Any]:
    return special(_trackable_children=lambda self, save_type="checkpoint", **kwargs: {})


@row()
def older_file_does_not_say_which_nodes_have_values(at: Path) -> Pair:
    def forget(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes:
            node.ClearField("has_checkpoint_values")

    path = saved(at, v=var(), late=module(inner=module()))
    return Pair(rewritten(at, path, forget), lambda: ckpt(v=var()))
