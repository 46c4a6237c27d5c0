"""The cells of the test matrix, each TensorFlow in an environment of its own; and the site.

`nox -s "tests(tensorflow='2.15')"` runs one cell in the Python that runs nox, `--force-python 3.12`
in another one. `nox -R` runs it again without installing. Arguments of pytest follow `--`.
`nox -s site` builds the site into `build/site`.
"""

from __future__ import annotations

import shutil

import nox

nox.options.default_venv_backend = "venv"

# The oldest that pyproject.toml allows, with Keras 2; the first with Keras 3; and others up to the
# latest.
TENSORFLOWS = ["2.15", "2.16", "2.18", "2.20", "2.21"]


@nox.session
@nox.parametrize("tensorflow", TENSORFLOWS)
def tests(session: nox.Session, tensorflow: str) -> None:
    """Run the tests, but those of the browser and of the tools."""
    session.install("--editable", ".[dev]", f"tensorflow=={tensorflow}.*")
    ignored = "--ignore=tests/test_tooling.py"
    session.run("python", "-m", "pytest", "-m", "not ui", ignored, *session.posargs)


@nox.session
def site(session: nox.Session) -> None:
    """Build the site: the page that opens checkpoints, and the docs and notebooks around it.

    Arguments go to Sphinx: `nox -s site -- -b linkcheck` asks whether links to other sites live.
    """
    session.install("--editable", ".[dev]")
    # The page in which one drops a checkpoint is the start, with JupyterLab in its folder `try`.
    # Sphinx writes the docs beside it: the page has nothing named `_static`, `_images`, `docs`,
    # `notebooks` or `benchmarks`.
    session.run("npm", "--prefix", "labextension", "run", "build:page")
    session.run("npm", "--prefix", "labextension", "run", "build:try")
    shutil.rmtree("build/site", ignore_errors=True)
    shutil.copytree("build/page", "build/site")
    session.run("npm", "--prefix", "labextension", "run", "build:site")
    strict = ("--fresh-env", "--fail-on-warning", "--keep-going", "--quiet")
    places = ("-c", "docs", "-d", "build/doctrees", ".", "build/site")
    session.run("python", "-m", "sphinx", *strict, *session.posargs, *places)
