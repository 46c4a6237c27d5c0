"""The cells of the test matrix: each TensorFlow in an environment of its own.

`nox -s "tests(tensorflow='2.15')"` runs one cell in the Python that runs nox, `--force-python 3.12`
in another one. `nox -R` runs it again without installing. Arguments of pytest follow `--`.
"""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "venv"

# The oldest that pyproject.toml allows, with Keras 2; the first with Keras 3; and others up to the
# latest.
TENSORFLOWS = ["2.15", "2.16", "2.18", "2.20", "2.21"]


@nox.session
@nox.parametrize("tensorflow", TENSORFLOWS)
def tests(session: nox.Session, tensorflow: str) -> None:
    """Run all tests but those of the browser and the linters."""
    session.install("--editable", ".[dev]", f"tensorflow=={tensorflow}.*")
    ignored = "--ignore=tests/test_tooling.py"
    session.run("python", "-m", "pytest", "-m", "not ui", ignored, *session.posargs)
