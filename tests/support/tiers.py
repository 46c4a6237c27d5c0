"""Which of the collected tests a run executes.

One rule: the first tier runs each claim once for each mechanism, and `--all` runs it for all its
inputs. So the first tier leaves out

- what is marked `more`: a claim of another test at another host, version or size, or of the built
  site or wheel;
- of a dear test with many inputs those between a sample, which is spread over all of them. A test
  is dear if it needs TensorFlow or a browser, or is slow;
- likewise of the tests of a file in JupyterLab, which show one feature there.

A test that is marked `claim_in_id` has a claim for each first word of its ids, up to a hyphen.

`--rest` runs what `--all` has beyond the first tier.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from math import isqrt
from pathlib import Path

import pytest

_DEAR = ("tf", "ui", "slow")
_TESTS = Path(__file__).parents[1]
_IMPORTED = re.compile(r"^(?:from|import) (tests\.[\w.]+)(?: import (\(.*?\)|.*?)$)?", re.M | re.S)


def in_first_tier(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return the tests of the first tier."""
    by_claim: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("more") is None:
            by_claim[_claim(item)].append(item)
    return {
        item
        for inputs in by_claim.values()
        for item in (spread(inputs) if _is_dear(inputs[0]) else inputs)
    }


def in_rest(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that are not in the first tier, or are smaller there."""
    first = in_first_tier(items)
    return {item for item in items if item not in first or _tries_more(item)}


def spread(inputs: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
    """Return a sample of the inputs of a test, from the first to the last."""
    size = sample_size(len(inputs))
    return [inputs[number * len(inputs) // size] for number in range(size)]


def sample_size(inputs: int) -> int:
    """Return how many of the inputs of a dear test the first tier tries.

    >>> [sample_size(inputs) for inputs in (1, 3, 9, 30, 100, 400)]
    [1, 2, 3, 5, 10, 20]
    """
    return min(inputs, max(2, isqrt(inputs)))


def _claim(item: pytest.Item) -> str:
    """Return a name that a test shares with those for other inputs, or of the same feature."""
    if "lab" in getattr(item, "fixturenames", ()):
        return str(item.path)
    is_in_id = item.get_closest_marker("claim_in_id") is not None
    return item.nodeid.partition("-" if is_in_id else "[")[0]


def _is_dear(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(marker) for marker in _DEAR)


def _tries_more(item: pytest.Item) -> bool:
    name = item.originalname if isinstance(item, pytest.Function) else None
    return _TESTS in item.path.parents and name in trying_more(item.path)


@cache
def trying_more(path: Path) -> frozenset[str]:
    """Return the names in a module that have more with `--all`.

    They lead to a name from `amounts`, or from a module that imports it. A name leads to all that
    its definition names, such as fixtures. If `pytestmark` or a fixture of all leads there, all do.
    """
    if "tests.support.amounts" not in _reached(_name(path)):
        return frozenset()
    tree = ast.parse(path.read_text("utf-8"))
    found = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and ".test_" not in node.module
        for alias in node.names
        if any(map(_has_amounts, (node.module, f"{node.module}.{alias.name}")))
    }
    led = [(_defined(statement), _named(statement)) for statement in tree.body]
    of_all = {"pytestmark", *_of_all(tree)}
    size = -1
    while size != len(found):
        size = len(found)
        for defined, named in led:
            if named & found:
                found |= named if defined is None else defined
        if of_all & found:
            found |= {name for defined, _ in led for name in defined or ()}
    return frozenset(found)


def _has_amounts(module: str) -> bool:
    return "tests.support.amounts" in _reached(module)


def _defined(statement: ast.stmt) -> frozenset[str] | None:
    """Return the names that a statement defines; None for one that may change what it names."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return frozenset({statement.name})
        case ast.Assign(targets=targets) if all(isinstance(one, ast.Name) for one in targets):
            return frozenset(one.id for one in targets if isinstance(one, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            return frozenset({name})
        case ast.Import() | ast.ImportFrom():
            return frozenset()
    return None


def _named(statement: ast.stmt) -> frozenset[str]:
    names = set()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Constant(value=str() as name):
                names.add(name)
    return frozenset(names)


def _of_all(tree: ast.Module) -> Iterator[str]:
    """Yield the fixtures that each test of the module has, whether it names them or not."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and any(k.arg == "autouse" for k in call.keywords):
                    yield node.name


@cache
def _reached(module: str) -> frozenset[str]:
    """Return the modules of the tests that a module imports, also by way of others.

    What it takes from another `test_` module is a small helper: the amounts there are for others.
    """
    reached, waiting = {module}, [module]
    while waiting:
        new = {name for name in _imports(waiting.pop()) if ".test_" not in name} - reached
        reached |= new
        waiting += new
    return frozenset(reached)


@cache
def _imports(module: str) -> frozenset[str]:
    path = _TESTS.parent.joinpath(*module.split("."))
    source = path.with_suffix(".py")
    if not source.exists():
        source = path / "__init__.py"
    if not source.exists():
        return frozenset()
    names = set[str]()
    for place, imported in _IMPORTED.findall(source.read_text("utf-8")):
        names |= {place, *(f"{place}.{name}" for name in re.findall(r"\w+", imported))}
    return frozenset(names)


def _name(path: Path) -> str:
    return ".".join(path.relative_to(_TESTS.parent).with_suffix("").parts)
