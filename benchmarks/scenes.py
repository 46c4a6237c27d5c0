"""The pictures of a whole program around the explorer: JupyterLab, other hosts, a terminal."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.support import frontend
from tests.ui import processes
from tests.ui.file_browser import Files
from tests.ui.forked_kernels import forked_kernels
from tests.ui.jupyter import JupyterLab, code_cell
from tests.ui.widget_hosts import make_scripts, opened_host

_SIZE = {"width": 1500, "height": 900}
_BUILT = frontend.LABEXTENSION.parent / "ckpt_viz" / "labextension"

_TRAIN = """\
import tensorflow as tf

class Net(tf.Module):
    def __init__(self, head):
        layer = lambda *shape: tf.Variable(tf.ones(shape), name="kernel")
        self.hidden, self.{head} = tf.Module(), tf.Module()
        self.hidden.kernel, self.{head}.kernel = layer(3, 5), layer(5, 1)

ckpt = tf.train.Checkpoint(step=tf.Variable(1), net=Net("{head}"))
"""
_SAVE = """
manager = tf.train.CheckpointManager(ckpt, "tf_ckpts", max_to_keep=None)
for _ in range(4):
    ckpt.step.assign_add(10)
    ckpt.net.hidden.kernel.assign_add(tf.ones((3, 5)))
    manager.save()
"""
_IMPORTS = """\
%%capture
import tensorflow as tf
import ckpt_viz as cv
"""
_MODEL = """\
model = tf.keras.Sequential([
    tf.keras.layers.Input((28, 28, 1)),
    tf.keras.layers.Conv2D(16, 3, activation="relu", name="conv1"),
    tf.keras.layers.Conv2D(32, 3, activation="relu", name="conv2"),
    tf.keras.layers.GlobalAveragePooling2D(name="average"),
    tf.keras.layers.Dense(10, name="fc"),
])
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
ckpt = tf.train.Checkpoint(model=model, optimizer=optimizer)
"""
_CHECK = f"""\
import tempfile
import ckpt_viz as cv
{_TRAIN.format(head="out")}
path = ckpt.save(tempfile.mkdtemp() + "/ckpt")
{_TRAIN.format(head="head")}
cv.show(cv.check(ckpt, path))
"""
_HOSTS = {"host_vscode.png": "vscode-dark", "host_frame.png": "frame-light"}
_COMMANDS = (
    "ckpt-viz diff tf_ckpts/ckpt-2 tf_ckpts/ckpt-4",
    "ckpt-viz check --run train.py:ckpt tf_ckpts/ckpt-4",
)
_TERMINAL = """\
body { margin: 0; background: #0d1117; }
pre { margin: 0; padding: 28px 34px; width: max-content; }
pre { color: #e6edf3; font: 15px/1.5 monospace; }
.c1 { font-weight: bold; } .c2, .c90 { color: #8b949e; } .c31 { color: #ff7b72; }
.c32 { color: #7ee787; } .c33 { color: #e3b341; } .c35 { color: #d2a8ff; }
.c36 { color: #79c0ff; }
"""


def taken(browser: Browser, directory: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the PNG of each picture; write below an empty directory."""
    served = directory / "jupyterlab"
    labextensions = directory / "labextensions"
    served.mkdir()
    labextensions.mkdir()
    (labextensions / "ckpt-viz").symlink_to(_BUILT, target_is_directory=True)
    with (
        forked_kernels() as kernels,
        processes.jupyterlab(served, labextensions, first_view="layers", kernels=kernels) as server,
    ):
        page = browser.new_page(viewport=_SIZE)
        lab = JupyterLab(page, server, workspace="pictures")
        yield "explorer.png", _notebook(lab)
        yield "documents.png", _documents(lab)
        yield from _hosts(browser, server, directory / "hosts")
        yield "terminal.png", _terminal(browser, server.root / "training")
        lab.shut_down()


def _notebook(lab: JupyterLab) -> bytes:
    cells = [code_cell(source) for source in (_IMPORTS, _MODEL, "cv.show(ckpt)")]
    lab.create_notebook("model.ipynb", *cells)
    lab.open_notebook("model.ipynb")
    lab.run_all()
    lab.execute("application:toggle-left-area")
    explorer = lab.output(2).locator(".ckpt-viz")
    explorer.locator(".ckv-drawing .ckv-node").first.wait_for()
    explorer.locator(".ckv-name").get_by_text("conv2", exact=True).click()
    explorer.evaluate("element => element.scrollIntoView({ block: 'end' })")
    lab.page.wait_for_timeout(1000)
    return lab.page.screenshot()


def _documents(lab: JupyterLab) -> bytes:
    lab.save()
    lab.close()
    lab.execute("application:toggle-left-area")
    files = Files(lab, "training")
    _write_checkpoints(files.place)
    files.name = "training/tf_ckpts"
    files.show()
    files.choose("ckpt-2.index", "ckpt-4.index", menu="Compare Checkpoints")
    expect(files.tab.locator(".ckv-table-line").first).to_be_visible()
    lab.page.wait_for_timeout(1000)
    return lab.page.screenshot()


def _hosts(
    browser: Browser, server: processes.Server, scripts: Path
) -> Iterator[tuple[str, bytes]]:
    scripts.mkdir()
    make_scripts(scripts)
    kernel = None
    for picture, name in _HOSTS.items():
        with opened_host(browser, server, scripts, name, kernel) as host:
            kernel = host.kernel
            host.run(_CHECK)
            expect(host.explorer.locator(".ckv-sentence")).to_be_visible()
            host.page.wait_for_timeout(1000)
            yield picture, host.page.locator("#output").screenshot()


def _write_checkpoints(directory: Path) -> None:
    program = _TRAIN.format(head="out") + _SAVE
    subprocess.run([sys.executable, "-c", program], cwd=directory, check=True)
    (directory / "train.py").write_text(_TRAIN.format(head="head"))


def _terminal(browser: Browser, directory: Path) -> bytes:
    printed = "\n\n".join(
        f"\x1b[1m$ {command}\x1b[0m\n{_output(command, directory)}" for command in _COMMANDS
    )
    page = browser.new_page(viewport=_SIZE, device_scale_factor=1)
    page.set_content(f"<style>{_TERMINAL}</style><pre>{_coloured(printed)}</pre>")
    png = page.locator("pre").screenshot()
    page.close()
    return png


def _output(command: str, directory: Path) -> str:
    _, *arguments = command.split()
    run = "from ckpt_viz.cli import main; main()"
    words = [sys.executable, "-c", run, *arguments, "--color", "always"]
    # The status is 1, since both commands find something.
    done = subprocess.run(words, cwd=directory, text=True, stdout=subprocess.PIPE, check=False)
    return done.stdout.rstrip()


def _coloured(printed: str) -> str:
    """Return what a terminal prints as HTML, its colours as classes."""
    start, *parts = re.split(r"\x1b\[([\d;]*)m", printed)
    pieces = [html.escape(start)]
    for codes, text in zip(parts[::2], parts[1::2], strict=True):
        classes = " ".join(f"c{code}" for code in codes.split(";"))
        pieces.append(f'<span class="{classes}">{html.escape(text)}</span>')
    return "".join(pieces)
