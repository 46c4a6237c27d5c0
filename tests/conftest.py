"""The parts that all tests share: amounts, the seed of a run, its order, the front end."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.support import amounts, frontend
from tests.support.once import make_once

_MOST_WORKERS = 4  # each imports TensorFlow, and those of browser tests run a JupyterLab
_SEED = "hypothesis_seed"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--exhaustive",
        action="store_true",
        help="try as many random and hostile inputs as before a release",
    )


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads the seed
def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Else each process that tests start, and there are hundreds, compiles the package anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    amounts.try_all(config.getoption("--exhaustive"))
    if config.getoption(_SEED) is None:
        setattr(config.option, _SEED, str(random.SystemRandom().randrange(1 << 32)))


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
    """Of `pytest -n auto`."""
    return min(_MOST_WORKERS, os.cpu_count() or 1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give the browser tests to one worker at first, while others do the rest.

    Each worker begins with a share of the items, in their order, and helps others at their end.
    So browser tests, which wait a lot, run beside those that compute.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    browser = [item for item in items if item.get_closest_marker("ui")]
    others = [item for item in items if not item.get_closest_marker("ui")]
    half = len(items) // 2
    items[:] = [*others[:half], *browser, *others[half:]]


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
    assert not failure.exists(), failure.read_text()


def _built(factory: pytest.TempPathFactory) -> Path:
    def build(place: Path) -> None:
        done = frontend.run_script("build")
        if done.returncode:
            (place / "failure").write_text(done.stdout)

    return make_once("front-end", build, factory)
