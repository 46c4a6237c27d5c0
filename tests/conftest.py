"""The parts that all tests share: amounts, the seed of a run, its order, the front end."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from tests.support import amounts, frontend, network
from tests.support.once import make_once
from tests.support.shares import in_shares

_MOST_WORKERS = 4  # each imports TensorFlow, and those of browser tests run a JupyterLab
# Workers share the processors: threads of their own would only get in each other's way.
_ONE_THREAD = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
_SEED = "hypothesis_seed"
_SEED_OF_RUN = "CKPT_VIZ_SEED_OF_TESTS"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run all tests with all their inputs")
    parser.addoption(
        "--exhaustive",
        action="store_true",
        help="as --all, with as many random inputs as before a release",
    )


def _tier(config: pytest.Config) -> amounts.Tier:
    if config.getoption("--exhaustive"):
        return amounts.Tier.EXHAUSTIVE
    return amounts.Tier.ALL if config.getoption("--all") else amounts.Tier.FIRST


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
    amounts.choose(_tier(config))
    if config.getoption(_SEED) is None:
        # Workers inherit the environment; xdist does not send them what a hook has set.
        seed = os.environ.setdefault(_SEED_OF_RUN, str(random.SystemRandom().randrange(1 << 32)))
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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have workers begin with what is slow, so that nobody waits for it at the end."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        ordered = sorted(items, key=lambda item: item.get_closest_marker("slow") is None)
        browser = [item for item in ordered if item.get_closest_marker("ui")]
        others = [item for item in ordered if not item.get_closest_marker("ui")]
        items[:] = in_shares(browser, others, workers)


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The seed of all that is random in this run."""
    return int(pytestconfig.getoption(_SEED))


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
