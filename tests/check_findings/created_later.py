"""Pairs for values that wait for what the program's own code creates at its first call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.table import DEFERRED, FAIL, Maker, Pair, Rows
from tests.support.programs import ckpt, keras_3_adam, legacy_adam, module, save_any, saved, var

rows = Rows()
shows, silent = rows.shows, rows.silent


def square() -> Any:
    return var([[1.0, 2.0], [3.0, 4.0]])


def new_weight(holder: Any) -> None:
    """Give an object its weight, as functions beside a class do."""
    holder.w = square()


def lazy_classes() -> dict[str, type]:
    """Return classes of modules that make their variables when called, by the name of a test."""
    import tensorflow as tf

    class AsksForIt(tf.Module):  # type: ignore[misc]
        def __call__(self, x: Any) -> Any:
            if not hasattr(self, "w"):
                self.w = square()
            return x @ self.w

    class HoldsNone(tf.Module):  # type: ignore[misc]
        w: Any = None

        @tf.function  # type: ignore[untyped-decorator]
        def __call__(self, x: Any) -> Any:
            if self.w is None:
                self.w = square()
            return x @ self.w

    class MayStayNone(tf.Module):  # type: ignore[misc]
        w: Any = None

        def __call__(self, x: Any) -> Any:
            self.w = (self.w or square()) if x.shape[0] else None
            return x @ self.w

    class HalfBuilt(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.is_built, self.b = False, var([0.0, 0.0])

        def _initialize(self) -> None:
            self.w, self.is_built = square(), True

        @tf.Module.with_name_scope  # type: ignore[untyped-decorator]
        def __call__(self, x: Any) -> Any:
            if not self.is_built:
                self._initialize()
            return x @ self.w + self.b

    class FillsAList(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weights: list[Any] = []

        def __call__(self, x: Any) -> Any:
            if not self.weights:
                self.weights.append(square())
            return x @ self.weights[0]

    class FillsADict(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weights: dict[str, Any] = {}

        def __call__(self, x: Any) -> Any:
            if not self.weights:
                self.weights["first"] = square()
            return x @ self.weights["first"]

    class ByName(tf.Module):  # type: ignore[misc]
        def __call__(self, x: Any) -> Any:
            for number in range(2):
                if not hasattr(self, f"w{number}"):
                    setattr(self, f"w{number}", square())
            return x @ self.w0 @ self.w1

    class ByAFunction(tf.Module):  # type: ignore[misc]
        def __call__(self, x: Any) -> Any:
            if not hasattr(self, "w"):
                new_weight(self)
            return x @ self.w

    class ByAProperty(tf.Module):  # type: ignore[misc]
        @property
        def w(self) -> Any:
            if not hasattr(self, "_w"):
                self._w = square()
            return self._w

        def __call__(self, x: Any) -> Any:
            return x @ self.w

    class MakesAModule(tf.Module):  # type: ignore[misc]
        def __call__(self, x: Any) -> Any:
            if not hasattr(self, "inner"):
                self.inner = AsksForIt()
            return self.inner(x)

    class Holds(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.some, self.__last = [AsksForIt(), AsksForIt()], None

        def __call__(self, x: Any) -> Any:
            if self.__last is None:
                self.__last = square()
            return self.some[1](self.some[0](x)) @ self.__last

    made = (AsksForIt, HoldsNone, MayStayNone, HalfBuilt, FillsAList, FillsADict)
    others = (ByName, ByAFunction, ByAProperty, MakesAModule, Holds)
    return {cls.__name__: cls for cls in (*made, *others)}


def call(target: Any) -> None:
    import tensorflow as tf

    target.net(tf.ones([1, 2]))


def _lazy(name: str) -> Maker:
    def pair(at: Path) -> Pair:
        cls = lazy_classes()[name]
        source = ckpt(net=cls())
        call(source)
        return Pair(save_any(at, source), lambda: ckpt(net=cls()), after=call)

    pair.__name__ = f"net_that_{name}"
    return pair


for _name, _method in {
    "AsksForIt": "1 saved value waits until AsksForIt.__call__() has created its object",
    "HoldsNone": "HoldsNone.__call__()",
    "MayStayNone": "MayStayNone.__call__()",
    "HalfBuilt": "HalfBuilt._initialize()",
    "FillsAList": "FillsAList.__call__()",
    "FillsADict": "FillsADict.__call__()",
    "ByName": "2 saved values wait until ByName.__call__() has created their objects",
    "ByAFunction": "ByAFunction.__call__()",
    "ByAProperty": "ByAProperty.w()",
    "MakesAModule": "MakesAModule.__call__()",
    "Holds": "3 saved values wait until Holds.__call__() and AsksForIt.__call__() have created",
}.items():
    shows(
        Kind.DEFERRED,
        DEFERRED,
        None,
        "(root).net",
        _method,
        "Then assert_consumed() passes.",
        "Call the module once",
    )(_lazy(_name))


def train(target: Any) -> None:
    call(target)
    variables = [target.net.w]
    target.optimizer.apply_gradients([(variable * 0.0 + 1.0, variable) for variable in variables])


def _trained(at: Path, make_optimizer: Callable[[], Any]) -> Pair:
    cls = lazy_classes()["AsksForIt"]

    def make() -> Any:
        return ckpt(net=cls(), optimizer=make_optimizer())

    source = make()
    train(source)
    return Pair(save_any(at, source), make, after=train)


_waits_beside = shows(
    Kind.DEFERRED, DEFERRED, None, "(root).net", "AsksForIt.__call__()", "the other findings, too"
)


@_waits_beside
def lazy_net_with_an_optimizer_of_keras_3(at: Path) -> Pair:
    return _trained(at, keras_3_adam)


@_waits_beside
def lazy_net_with_a_legacy_optimizer(at: Path) -> Pair:
    return _trained(at, legacy_adam)


@silent(Kind.DEFERRED)
def variable_that_a_method_of_the_constructor_made(at: Path) -> Pair:
    import tensorflow as tf

    class Net(tf.Module):  # type: ignore[misc]
        def __init__(self, is_deep: bool) -> None:
            super().__init__()
            self._make(is_deep)

        def _make(self, is_deep: bool) -> None:
            self.a = var()
            if is_deep:
                self.b = var()

        def __call__(self, x: Any) -> Any:
            return x + self.a

    return Pair(saved(at, net=Net(True)), lambda: ckpt(net=Net(False)))


@silent(Kind.DEFERRED)
def variable_that_a_method_only_forgets(at: Path) -> Pair:
    import tensorflow as tf

    class Net(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a = var()

        def forget(self) -> None:
            self.b = None

    return Pair(saved(at, net=module(a=var(), b=var())), lambda: ckpt(net=Net()))


@silent(Kind.DEFERRED)
def variable_that_the_class_has_under_another_name_now(at: Path) -> Pair:
    source = ckpt(net=lazy_classes()["AsksForIt"]())
    call(source)
    return Pair(save_any(at, source), lambda: ckpt(net=lazy_classes()["ByAProperty"]()))


@shows(
    Kind.UNRESOLVED,
    FAIL,
    "(root).net",
    None,
    "The program has no place for the values of net (2 values)",
    "unless the program makes their objects later",
)
def module_that_lost_all_its_variables(at: Path) -> Pair:
    return Pair(saved(at, net=module(a=var(), b=var())), lambda: ckpt(net=module()))
