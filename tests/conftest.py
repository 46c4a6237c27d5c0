"""The parts that all tests share: the tier, the seed of a run, its order, the front end."""

from __future__ import annotations

import gc
import importlib
import os
import random
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.support import frontend, network, tier, tiers
from tests.support.doctests import DoctestsAlone
from tests.support.groups import Groups
from tests.support.once import make_once
from tests.support.shares import in_shares

if TYPE_CHECKING:
    from tests.hostile.limits import Worker

_MOST_WORKERS = 4  # each imports TensorFlow, and those of browser tests run a JupyterLab
# Workers share the processors: threads of their own would only get in each other's way.
_ONE_THREAD = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
# jsonschema, which tests of Jupyter import, builds a large grammar with this for a format that no
# test asks for: a second in each worker.
sys.modules.setdefault("rfc3987_syntax", ModuleType("rfc3987_syntax"))
_TESTS = Path(__file__).parent
_IMPORTED = pytest.StashKey[set[str]]()
_SEED = "hypothesis_seed"
_SEED_OF_RUN = "CKPT_VIZ_SEED_OF_TESTS"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run all tests with all their inputs")
    parser.addoption(
        "--rest", action="store_true", help="run what --all has beyond a run without options"
    )
    parser.addoption(
        "--exhaustive",
        action="store_true",
        help="as --all, with as many random inputs as before a release, and new ones each time",
    )


def _tier(config: pytest.Config) -> tier.Tier:
    if config.getoption("--exhaustive"):
        return tier.Tier.EXHAUSTIVE
    more = config.getoption("--all") or config.getoption("--rest")
    return tier.Tier.ALL if more else tier.Tier.FIRST


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads the seed
def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.environ.update(_ONE_THREAD)
    # A shell lets its background jobs ignore interrupts; tests send some, also to their children.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Else each process that tests start, and there are hundreds, compiles the package anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    tier.choose(_tier(config))
    _make_repeatable(config)
    config.pluginmanager.register(Groups(config))
    config.pluginmanager.register(DoctestsAlone())


def _make_repeatable(config: pytest.Config) -> None:
    """Give each run the same random inputs, but an exhaustive one new inputs."""
    # What Hypothesis remembers of a run would change the next one, and a deadline is a clock.
    settings.register_profile("repeatable", database=None, deadline=None)
    settings.load_profile("repeatable")
    if config.getoption(_SEED) is not None:
        return
    seed = "0"
    # Hypothesis tries numbers and strings of all modules that a worker has imported so far. Which
    # ones these are depends on the tests before, and those of two runs differ.
    providers._get_local_constants = Constants
    if tier.tier() is tier.Tier.EXHAUSTIVE:
        # Workers inherit the environment; xdist does not send them what a hook has set.
        seed = os.environ.setdefault(_SEED_OF_RUN, str(random.SystemRandom().randrange(1 << 32)))
    else:
        os.environ.setdefault("PYTHONHASHSEED", "0")  # of workers, and of what tests start
    setattr(config.option, _SEED, seed)


def pytest_report_header(config: pytest.Config) -> str:
    return f"random tests: repeat them with {_repeat(config)}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if terminalreporter.stats.get("failed"):
        repeat = _repeat(terminalreporter.config)
        terminalreporter.write_line(f"A random test that failed does so again with {repeat}")


def _repeat(config: pytest.Config) -> str:
    return f"--hypothesis-seed={config.getoption(_SEED)}"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Of `pytest -n auto`: one more than processors, since browser tests wait a lot."""
    return min(_MOST_WORKERS, 1 + (os.cpu_count() or 1))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without a search for garbage: all that is made stays."""
    gc.disable()
    if session.config.getini("testpaths") == session.config.args:
        _compile_a_share()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _compile_a_share() -> None:
    """Have each worker import the tests from another one on: so each compiles some of them.

    To rewrite the assertions of all takes longer than to collect them.
    """
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        paths = sorted(_TESTS.rglob("test_*.py"))
        workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        first = len(paths) * int(worker.removeprefix("gw")) // workers
        for path in paths[first:] + paths[:first]:
            name = ".".join(path.relative_to(_TESTS.parent).with_suffix("").parts)
            with suppress(Exception, pytest.skip.Exception):  # the collection tells of it
                importlib.import_module(name)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the tests of the tier; have workers begin with what is slow."""
    if not _names_a_test(config):
        _choose(config, items)
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        ordered = sorted(items, key=lambda item: item.get_closest_marker("slow") is None)
        browser = [item for item in ordered if item.get_closest_marker("ui")]
        others = [item for item in ordered if not item.get_closest_marker("ui")]
        items[:] = in_shares(browser, others, workers)


def _names_a_test(config: pytest.Config) -> bool:
    """Return whether a person names single tests: then all of their inputs run."""
    return any("::" in argument for argument in config.args)


def _choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--rest"):
        chosen = tiers.in_rest(items)
    elif tier.tier() is tier.Tier.FIRST:
        chosen = tiers.in_first_tier(items)
    else:
        return
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[_IMPORTED] = {name.partition(".")[0] for name in sys.modules}


@pytest.fixture(scope="session")
def imported_by_collection(pytestconfig: pytest.Config) -> set[str]:
    """The packages that were imported when all tests of this run were collected."""
    return pytestconfig.stash[_IMPORTED]


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The seed of all that is random in this run."""
    return int(pytestconfig.getoption(_SEED))


@pytest.fixture(autouse=True)
def _seeded(pytestconfig: pytest.Config) -> None:
    """Give each test the same random values, whichever tests ran before it."""
    seed = int(pytestconfig.getoption(_SEED))  # a parameter of a test may hide the fixture `seed`
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed)
    if tensorflow := sys.modules.get("tensorflow"):
        tensorflow.random.set_seed(seed)


@pytest.fixture(scope="module", autouse=True)
def _old_objects_are_no_garbage() -> None:
    """Keep what is there out of each later search for garbage: Keras searches for each model."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """A process that opens hostile checkpoints."""
    from tests.hostile.limits import Worker

    with Worker() as worker:
        yield worker


@pytest.fixture(scope="session")
def quiet_tensorflow() -> None:
    """Keep TensorFlow from warning of every value that a restore leaves behind."""
    from tests.support.oracle import silence_tensorflow

    silence_tensorflow()


@pytest.fixture(scope="session", autouse=True)
def _front_end_first(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Build before the first test where browser tests are to come: others read the same files."""
    if any(item.get_closest_marker("ui") for item in request.session.items):
        _built(tmp_path_factory)


@pytest.fixture(scope="session")
def front_end(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The front end of today's sources: built, or a failure."""
    failure = _built(tmp_path_factory) / "failure"
    if failure.exists():
        network.skip_if_unreachable(failure.read_text(), "npm's registry")
        pytest.fail(failure.read_text(), pytrace=False)


def _built(factory: pytest.TempPathFactory) -> Path:
    def build(place: Path) -> None:
        if failure := frontend.built():
            (place / "failure").write_text(failure)

    return make_once("front-end", build, factory)
