"""Live objects in JupyterLab: the side panel, what opens from it, and an unchanged kernel."""

from __future__ import annotations

import json
import re
import sys
import sysconfig
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from playwright.sync_api import Locator, expect

from tests.support import frontend
from tests.support.kernels import Kernel
from tests.ui.file_browser import state_of
from tests.ui.jupyter import JupyterLab, SharedKernel, SharedPage
from tests.ui.live_panel import PROGRAM, RENAME, SAVE, TRAIN, Live, complaints
from tests.ui.pages import open_exports
from tests.ui.processes import Server
from tests.ui.tables import line
from tests.ui.test_access import weak_contrasts
from tests.ui.test_explorer import row

pytestmark = pytest.mark.tf

VERSION = metadata.version("ckpt-viz")


@pytest.fixture(scope="module")
def shared(shared_page: SharedPage) -> Iterator[SharedKernel]:
    """The kernel of most tests here, which no other tests have seen."""
    kernel = SharedKernel()
    yield kernel
    kernel.shut_down(shared_page.taken())


@pytest.fixture
def live(lab: JupyterLab, shared: SharedKernel, request: pytest.FixtureRequest) -> Live:
    """The panel, and a directory for notebooks that run in the shared kernel."""
    return Live(lab, _file_name(request), shared.started(lab))


@pytest.fixture
def apart(lab: JupyterLab, request: pytest.FixtureRequest) -> Live:
    """The panel, and a directory for notebooks that run in kernels of their own."""
    return Live(lab, _file_name(request))


@pytest.fixture
def bare(lab: JupyterLab, request: pytest.FixtureRequest) -> Live:
    """The panel, and a directory for notebooks of a kernel that starts without TensorFlow."""
    return Live(lab, _file_name(request), lab.start_kernel("python3"))


def _file_name(request: pytest.FixtureRequest) -> str:
    return re.sub(r"\W+", "-", request.node.name)


# --- the list


def test_the_list_is_renewed_by_each_cell_that_has_run(live: Live) -> None:
    live.start("second = tf.Module()", "del net", "1 / 0", ran=0)
    live.show_panel()
    live.lab.run_cell(0)
    live.expect_listed("ckpt", "net")
    expect(live.item("net")).to_contain_text("Net")
    expect(live.item("ckpt")).to_contain_text("tf.train.Checkpoint")
    expect(live.panel).to_contain_text("program.ipynb")
    live.lab.run_cell(1)
    live.expect_listed("ckpt", "net", "second")
    live.lab.run_cell(2)
    live.expect_listed("ckpt", "second")
    live.lab.screenshot("live-objects")
    live.lab.run_cell(3)
    live.expect_listed("ckpt", "second")
    expect(live.panel.get_by_role("status")).to_have_count(0)


def test_without_a_notebook_the_panel_asks_for_one(apart: Live) -> None:
    apart.show_panel()
    apart.expect_said("Open a notebook")
    apart.lab.open_notebook(apart.write("1"))
    apart.expect_said("The kernel has not imported TensorFlow.")
    apart.lab.save()
    apart.lab.shut_down_kernel()
    apart.expect_said("The notebook has no kernel yet.")
    apart.lab.close()
    apart.expect_said("Open a notebook")
    assert complaints(apart.lab) == []


def test_the_list_follows_the_notebook_or_console_in_front(live: Live) -> None:
    live.start()
    live.show_panel()
    live.expect_listed("ckpt", "net")
    live.lab.open_notebook(live.write("1", path="other.ipynb"))
    live.expect_said("The kernel has not imported TensorFlow.")
    expect(live.panel).to_contain_text("other.ipynb")
    live.lab.execute("notebook:create-console", activate=True)
    live.bring()
    live.expect_listed("ckpt", "net")
    expect(live.panel).to_contain_text("program.ipynb")
    open_console(live)
    live.expect_said("The kernel has not imported TensorFlow.")
    expect(live.panel).to_contain_text("Console 1")
    live.bring()
    live.expect_listed("ckpt", "net")


def open_console(live: Live) -> None:
    """Open a console with a kernel of its own; JupyterLab would count all that the page had."""
    kernel = {"name": "python3"}
    live.lab.execute(
        "console:create",
        **{"activate": True, "kernelPreference": kernel, "path": "console", "name": "Console 1"},
    )


def test_a_closed_notebook_leaves_the_list_of_the_console(apart: Live) -> None:
    apart.lab.open_notebook(apart.write("1"))
    open_console(apart)
    apart.show_panel()
    apart.bring()
    expect(apart.panel).to_contain_text("program.ipynb")
    apart.lab.save()
    apart.lab.close()
    expect(apart.panel).to_contain_text("Console 1")


ECHO = """
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel
class Echo(Kernel):
    implementation = implementation_version = banner = "Echo"
    language_info = {"name": "echo", "mimetype": "text/plain", "file_extension": ".txt"}
    async def do_execute(self, *_, **__):
        return {"status": "ok", "execution_count": 0, "payload": [], "user_expressions": {}}
IPKernelApp.launch_instance(kernel_class=Echo)
"""


def add_kernel(server: Server, name: str, *command: str) -> None:
    """Let the server know of a kernel that this command starts."""
    directory = server.root.parent / "jupyter_data_dir" / "kernels" / name
    directory.mkdir(parents=True)
    argv = [*command, "-f", "{connection_file}"]
    spec = {
        "argv": argv,
        "display_name": name,
        "language": "python",
        "env": {"PYTHONPATH": ""},  # which may hold ckpt-viz
    }
    (directory / "kernel.json").write_text(json.dumps(spec))


def change_kernel(live: Live, name: str) -> None:
    """Have the current notebook run in another kernel."""
    context = "jupyterapp.shell.currentWidget.sessionContext"
    live.page.evaluate(f"name => {context}.changeKernel({{ name }}).then(() => undefined)", name)
    live.lab.await_idle()


def test_a_kernel_of_a_different_language_gets_a_message(apart: Live) -> None:
    add_kernel(apart.lab.server, "echo", sys.executable, "-c", ECHO)
    apart.lab.open_notebook(apart.write("1"))
    apart.show_panel()
    change_kernel(apart, "echo")
    apart.expect_said("The kernel runs echo, not Python.")


# --- what no kernel notices


def connected(live: Live) -> Kernel:
    """Return the current notebook's kernel, to be asked without the page."""
    directory = live.lab.server.root.parent / "jupyter_runtime_dir"
    client = BlockingKernelClient()
    client.load_connection_file(str(directory / f"kernel-{live.lab.kernel_id}.json"))
    client.start_channels()
    client.wait_for_ready(timeout=60)
    kernel = Kernel(client)
    kernel.value("'x' * 1_000_000")  # ZeroMQ imports a module to send a large message
    return kernel


def test_looking_leaves_no_trace_in_the_kernel(live: Live) -> None:
    live.start("6 * 7", "_ + 1", "'last'", SAVE, ran=5)
    path = live.write("1", path="second.ipynb")
    kernel = connected(live)
    before = kernel.state()
    asked = live.requests
    live.show_panel()
    live.expect_listed("ckpt", "net")
    assert kernel.state() == before
    live.lab.open_notebook(path, live.lab.kernel_id)
    expect(live.panel).to_contain_text("second.ipynb")
    live.bring()
    live.expect_listed("ckpt", "net")
    assert kernel.state() == before
    assert live.requests >= asked + 3

    tab = live.open("net")
    row(tab, "step").click()
    expect(tab.locator(".ckv-values")).to_contain_text("7")
    live.check("ckpt", "saved", "ckpt.index")
    after = kernel.state()
    del before["modules"], after["modules"]
    assert after == before


def test_tensorflow_is_not_imported_to_look(apart: Live) -> None:
    apart.lab.open_notebook(apart.write("import sys; 'tensorflow' in sys.modules"))
    apart.show_panel()
    for _ in range(2):
        apart.lab.run_cell(0)
        apart.expect_said("The kernel has not imported TensorFlow.")
    expect(apart.lab.output(0)).to_contain_text("False")
    modules = "{one for one in __import__('sys').modules if one.startswith('ckpt_viz')}"
    assert connected(apart).value(modules) == set()


def test_a_hidden_panel_asks_nothing(live: Live) -> None:
    live.start("second = tf.Module()")
    live.show_panel()
    live.expect_listed("ckpt", "net")
    live.page.keyboard.press("Control+b")  # hides the panel
    expect(live.panel).to_be_hidden()
    asked = live.requests
    for _ in range(3):
        live.lab.run_cell(1)
    assert live.requests == asked + 3
    live.show_panel()
    live.expect_listed("ckpt", "net", "second")
    assert live.requests == asked + 4


# --- live explorers


def test_a_click_opens_the_explorer_of_what_is_there_now(live: Live, tmp_path: Path) -> None:
    live.start()
    live.show_panel()
    tab = live.open("ckpt")
    expect(tab.get_by_role("treegrid")).to_be_focused()
    title = tab.locator(".ckv-title")
    expect(title).to_have_attribute("title", re.compile("live object"))
    row(tab, "step").click()
    expect(tab.locator(".ckv-values")).to_contain_text("int32")
    expect(tab.locator(".ckv-elements")).to_contain_text("7")
    tab.get_by_role("button", name="Python expression").click()
    expect(tab.locator(".ckv-details code")).to_have_text("ckpt.net.step")
    live.lab.screenshot("live-tab")
    open_exports(tab)
    with live.page.expect_download() as download:
        tab.get_by_role("button", name="Graph, DOT (Graphviz)").click()
    download.value.save_as(tmp_path / "graph.gv")
    assert (tmp_path / "graph.gv").read_text("utf-8").startswith("digraph")
    assert complaints(live.lab) == []


def test_after_a_cell_one_reads_again_and_stays_where_one_was(live: Live) -> None:
    live.start(TRAIN, "net.step.assign_add(1)")
    live.show_panel()
    tab = live.open("net")
    row(tab, "step").click()
    expect(tab.locator(".ckv-elements")).to_contain_text("7")
    expect(live.notices).to_be_empty()
    live.bring()
    live.lab.run_cell(1)
    live.click("net")
    expect(live.notices).to_contain_text("Cells have run since this was read")
    expect(row(tab, "added")).to_have_count(0)
    live.notices.get_by_role("button", name="Refresh").click()
    expect(row(tab, "added")).to_be_visible()
    expect(live.notices).to_be_empty()
    expect(row(tab, "step")).to_have_attribute("aria-selected", "true")
    expect(tab.locator(".ckv-elements")).to_contain_text("8")
    live.bring()
    live.lab.run_cell(2)
    live.click("net")
    expect(live.notices).to_contain_text("Cells have run since this was read")
    live.page.keyboard.press("Alt+Shift+R")
    expect(live.notices).to_be_empty()
    expect(tab.locator(".ckv-elements")).to_contain_text("9")


def test_a_restarted_kernel_has_no_objects_until_the_cell_ran_again(bare: Live) -> None:
    bare.start()
    bare.show_panel()
    tab = bare.open("net")
    row(tab, "step").click()
    bare.bring()
    bare.lab.restart_kernel()
    bare.expect_said("The kernel has not imported TensorFlow.")
    bare.bring("net")
    bare.files.toolbar.get_by_role("button").first.click()
    expect(bare.problem).to_contain_text("The kernel has no variable net: run the cell")
    expect(tab.get_by_role("treegrid")).to_be_visible()
    bare.bring()
    bare.lab.run_cell(0)
    bare.click("net")
    bare.problem.get_by_role("button", name="Try again").click()
    expect(bare.notices).to_be_empty()
    row(tab, "step").click()
    expect(tab.locator(".ckv-elements")).to_contain_text("7")
    assert complaints(bare.lab) == []


# --- checks


def files_in(directory: Path) -> dict[str, tuple[int, int, int]]:
    """Return size, times and mode of each file below a directory, but the notebooks.

    Not their content: other tests leave files of gigabytes.
    """
    return {
        name: state
        for name, state in state_of(directory).items()
        if not name.endswith(".ipynb") and (directory / name).is_file()
    }


VALUES = "print(net.step.numpy(), net.renamed.numpy(), sorted(vars(net)), len(vars(ckpt)))"


def _select_renamed(tab: Locator) -> None:
    """Select the renamed variable in the table of a check."""
    line(tab, "net").click()
    tab.page.keyboard.press("ArrowRight")
    line(tab, "renamed").click()


def test_a_check_tells_what_a_rename_breaks_and_changes_nothing(live: Live) -> None:
    live.start(SAVE, RENAME, "net.step.assign(70)", VALUES, ran=5)
    before, values = files_in(live.lab.server.root), live.lab.output(4).inner_text()
    live.show_panel()
    tab = live.check("ckpt", "saved", "ckpt.index")
    expect(live.headline).to_contain_text("assert_consumed() and")
    expect(live.headline).to_contain_text("renamed")
    live.lab.screenshot("live-check")
    # In a tab, too, a person changes the program in thought, and plays what follows.
    _select_renamed(tab)
    live.lab.page.keyboard.press("e")
    strip = tab.locator(".ckv-changing")
    expect(tab.get_by_role("combobox", name="Name of net.renamed")).to_be_focused()
    live.lab.page.keyboard.press("Delete")  # of the text; no name removes the part
    live.lab.page.keyboard.press("Enter")
    expect(strip.locator("li").first).to_contain_text("Remove net.renamed")
    strip.get_by_role("button", name="Show as code").click()
    expect(strip.locator("pre")).to_have_text("del ckpt.net.renamed")
    expect(strip).to_contain_text("All steps are the same.")  # none asks for this name
    tab.get_by_role("button", name="Step by step").click()
    expect(tab.locator(".ckv-play-sentence")).to_contain_text("binds the root")
    live.lab.screenshot("live-changed")
    live.bring()
    live.lab.run_cell(4)
    assert live.lab.output(4).inner_text() == values
    assert files_in(live.lab.server.root) == before
    assert complaints(live.lab) == []


def test_a_check_restores_and_has_code_with_the_name_of_the_variable(live: Live) -> None:
    name = "a_rather_long_name_of_a_checkpoint"
    save = f"path = ckpt.write('saved/{name}')"
    live.start(save, RENAME, "net.step.assign(70)", "print(net.step.numpy())", ran=4)
    live.show_panel()
    tab = live.check("ckpt", "saved", f"{name}.index")
    for button in tab.locator(".ckv-toolbar button:enabled:visible").all():
        button.click(trial=True, timeout=2000)
    tab.get_by_role("button", name="Code", exact=True).click()
    expect(tab.locator(".ckv-code-text").last).to_contain_text("ckpt.net.renamed")
    # A tab has no cells.
    expect(tab.get_by_role("button", name="Insert below")).to_have_count(0)
    tab.locator(".ckv-restore").click()
    expect(live.headline).to_contain_text("Restored all 2 values.")
    live.lab.screenshot("live-restored")
    live.bring()
    live.lab.run_cell(4)
    expect(live.lab.output(4)).to_have_text("7")


def test_of_a_fixed_program_the_check_passes_when_it_is_refreshed(live: Live) -> None:
    fix = "net.kernel = net.renamed; del net.renamed"
    live.start("path = ckpt.save('saved/ckpt')", RENAME, fix, ran=3)
    live.show_panel()
    live.check("ckpt", "saved", "ckpt-1.index")
    expect(live.headline).to_contain_text("fail")
    live.bring()
    live.lab.run_cell(3)
    live.bring("ckpt-1 → ckpt")
    live.notices.get_by_role("button", name="Refresh").click()
    expect(live.headline).to_contain_text("pass")


def test_a_file_is_dropped_on_a_live_explorer(live: Live) -> None:
    live.start(SAVE, ran=2)
    live.show_panel()
    tab = live.open("ckpt")
    live.lab.execute("filebrowser:activate")
    live.lab.execute("filebrowser:go-to-path", path=f"{live.files.name}/saved")
    live.drag("ckpt.index", tab)
    expect(live.headline).to_be_visible()
    expect(live.files.title).to_have_text("ckpt → ckpt")


@pytest.fixture
def beside(live: Live) -> Iterator[Live]:
    """A panel on the right, with the file browser on the left."""

    def switch() -> None:
        live.page.locator("li[data-id=ckpt-viz-live-objects]").click(button="right")
        live.page.get_by_role("menuitem", name="Switch Sidebar Side").click()
        live.page.keyboard.press("Alt+Shift+K")

    switch()
    yield live
    switch()


def test_a_file_is_dropped_on_a_row_of_the_list(beside: Live) -> None:
    beside.start(SAVE, RENAME, ran=3)
    beside.show_panel()
    beside.expect_listed("ckpt", "net")
    beside.lab.execute("filebrowser:activate")
    beside.lab.execute("filebrowser:go-to-path", path=f"{beside.files.name}/saved")
    beside.drag("ckpt.index", beside.item("ckpt"))
    expect(beside.headline).to_contain_text("fail")
    expect(beside.files.title).to_have_text("ckpt → ckpt")


def test_a_file_that_is_no_checkpoint_gets_a_sentence(live: Live) -> None:
    live.start()
    live.show_panel()
    tab = live.open("ckpt")
    names = ("vectors.index", "notes.txt")
    for name in names:
        (live.files.place / name).write_bytes(b"IxF2" + bytes(200))
    live.lab.execute("filebrowser:activate")
    live.files.show()
    for name in names:
        live.drag(name, tab)
        dialog = live.page.get_by_role("dialog")
        expect(dialog).to_contain_text("Check Restore")
        expect(dialog).to_contain_text(name)
        live.lab.screenshot(f"live-no-checkpoint-{name}")
        dialog.get_by_role("button").click()
        expect(live.files.title).to_have_text("ckpt")


# --- code


def run_inserted(live: Live) -> Locator:
    """Run the active cell; return its explorer."""
    live.lab.run_cell(live.active)
    explorer = live.lab.output(live.active).locator(".ckpt-viz")
    explorer.get_by_role("treegrid").wait_for()
    return explorer


def choose_from_palette(live: Live, command: str) -> None:
    live.lab.execute("apputils:activate-command-palette")
    palette = live.page.locator("#modal-command-palette")
    palette.locator("input").fill(command)
    palette.locator(".lm-CommandPalette-item").filter(has_text=command).click()


def test_inserted_code_shows_the_object_and_imports_once(live: Live) -> None:
    live.start("'the last'")
    live.show_panel()
    live.lab.select_cell(0)
    live.press("net", "Insert code")
    assert live.sources[1:] == ["import ckpt_viz as cv\n\ncv.show(net)", "'the last'"]
    assert live.active == 1
    expect(row(run_inserted(live), "step")).to_be_visible()
    live.press("ckpt", "Insert code")
    assert live.sources[2:] == ["cv.show(ckpt)", "'the last'"]
    expect(row(run_inserted(live), "net")).to_be_visible()


@pytest.mark.parametrize(
    ("directory", "written"),
    [
        ("notebooks", "../saved/ckpt"),
        pytest.param(".", "saved/ckpt", marks=pytest.mark.more),
    ],
)
def test_inserted_code_checks_by_a_path_from_the_notebook(
    live: Live, directory: str, written: str
) -> None:
    path = Path(directory, "program.ipynb").as_posix()
    live.start(f"{SAVE}; {RENAME}", f"os.chdir({directory!r})", path=path, ran=3)
    live.show_panel()
    live.press("ckpt", "Check…")
    live.pick(*([] if directory == "." else [".."]), "saved", "ckpt.index")
    live.headline.wait_for()
    choose_from_palette(live, "Insert Code for Live Explorer")
    expect(live.files.title).to_have_text("program.ipynb")
    source = live.sources[live.active]
    assert source == f'import ckpt_viz as cv\n\ncv.show(cv.check(ckpt, "{written}"))'
    expect(run_inserted(live).locator(".ckv-check-words")).to_contain_text("fail")
    live.lab.screenshot("live-inserted-check")


# --- pages that are loaded again


def test_reloaded_the_page_shows_live_tabs_again(live: Live) -> None:
    live.start(SAVE, ran=2)
    live.show_panel()
    live.open("net")
    live.check("ckpt", "saved", "ckpt.index")
    live.bring()
    live.lab.save()
    path = f"{live.files.name}/saved/ckpt.index"
    tabs = live.name_of_tab("net"), live.name_of_tab("ckpt", path)
    live.click("net")
    live.files.reload(*tabs)
    live.bring("net")
    expect(row(live.tab, "step")).to_be_visible()
    live.bring("ckpt → ckpt")
    expect(live.headline).to_be_visible()
    expect(live.notices).to_be_empty()
    assert complaints(live.lab) == []


def test_without_their_kernel_live_tabs_say_so(apart: Live) -> None:
    apart.start()
    apart.show_panel()
    tab = apart.open("net")
    apart.bring()
    apart.lab.save()
    name = apart.name_of_tab("net")
    apart.lab.shut_down_kernel()
    apart.bring("net")
    expect(tab.get_by_role("treegrid")).to_be_visible()
    apart.files.toolbar.get_by_role("button").first.click()
    expect(apart.problem).to_contain_text("Its kernel is gone")
    apart.files.reload(name)
    apart.bring("net")
    expect(apart.problem).to_contain_text("Its kernel is gone")
    apart.lab.screenshot("live-tab-without-kernel")
    assert complaints(apart.lab) == []


# --- other environments


@pytest.fixture(scope="module")
def without_ckpt_viz(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own with all that is installed here but ckpt_viz: its Python."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory / "venv", with_pip=False, symlinks=True)
    paths = {"base": str(directory / "venv"), "platbase": str(directory / "venv")}
    own = Path(sysconfig.get_path("purelib", "venv", paths))
    for one in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(one).iterdir():
            if "ckpt_viz" not in path.name and not (own / path.name).exists():
                (own / path.name).symlink_to(path)
    python = directory / "venv" / "bin" / "python"
    add_kernel(server, "without-ckpt-viz", str(python), "-m", "ipykernel_launcher")
    return python


def test_a_kernel_without_ckpt_viz_lists_and_says_what_it_lacks(
    apart: Live, without_ckpt_viz: Path
) -> None:
    program = PROGRAM.format(directory=str(apart.files.place))
    apart.lab.open_notebook(apart.write(program))
    change_kernel(apart, "without-ckpt-viz")
    apart.show_panel()
    apart.lab.run_cell(0)
    apart.expect_listed("ckpt", "net")
    said = apart.panel.get_by_role("status")
    expect(said).to_have_text(
        "To open them, the kernel's environment needs ckpt-viz: run %pip install ckpt-viz "
        f"in a cell ({without_ckpt_viz})."
    )
    apart.click("net")
    expect(apart.problem).to_contain_text("The kernel's environment has no ckpt-viz")
    expect(apart.problem).to_contain_text("%pip install ckpt-viz")
    apart.lab.screenshot("live-without-ckpt-viz")


OTHER_VERSION = """
from ckpt_viz.entrances.jupyter import live_tabs
live_tabs._version = lambda: "9.9.9"
"""
OTHER_FORMAT = """
from ckpt_viz.graphs.render import payload
live_tabs.payload = type("payload", (), {"VERSION": 99})
"""
AS_BEFORE = """
import importlib; importlib.reload(live_tabs)
"""


def test_versions_that_differ_are_named(live: Live) -> None:
    live.start(OTHER_VERSION, OTHER_FORMAT, AS_BEFORE, ran=2)
    live.show_panel()
    live.open("net")
    expect(live.notices.get_by_role("note")).to_have_text(
        f"This page has ckpt-viz {VERSION}, the kernel has 9.9.9: "
        "install the same version in both environments."
    )
    live.bring()
    live.lab.run_cell(2)
    live.click("ckpt")
    expect(live.problem).to_contain_text("The kernel has ckpt-viz 9.9.9, which sends graphs")
    expect(live.problem).to_contain_text(f"in format 99; this page has {VERSION}, which reads")
    expect(live.tab.get_by_role("treegrid")).to_have_count(0)
    live.bring()
    live.lab.run_cell(3)


BLIND = """
from ckpt_viz.entrances.jupyter import live_tabs
live_tabs._is_seen = lambda path: False
"""


def test_a_kernel_that_does_not_see_the_file_reports_it(live: Live) -> None:
    live.start(SAVE, BLIND, "import importlib; importlib.reload(live_tabs)", ran=3)
    live.show_panel()
    live.press("ckpt", "Check…")
    live.pick("saved", "ckpt.index")
    expect(live.problem).to_contain_text("sees no such checkpoint")
    expect(live.problem).to_contain_text("It may run on another machine than Jupyter's server")
    live.bring()
    live.lab.run_cell(3)


# --- kernels that are busy

# A cell that runs until the file is there.
WAIT = "import time\nwhile not os.path.exists('go'): time.sleep(0.05)"
BREAK = f"{WAIT}\nraise ValueError"


def run_waiting(live: Live, index: int) -> None:
    """Start a cell that waits."""
    live.bring()
    live.lab.select_cell(index)
    live.page.evaluate("void jupyterapp.commands.execute('notebook:run-cell')")
    live.page.locator(".jp-NotebookPanel:visible .jp-InputPrompt").get_by_text("[*]").wait_for()


def go_on(live: Live) -> None:
    (live.files.place / "go").touch()
    live.bring()
    live.lab.await_idle()


def test_while_a_cell_runs_the_tab_waits_and_can_be_cancelled(live: Live) -> None:
    live.start(WAIT)
    live.show_panel()
    live.expect_listed("ckpt", "net")
    run_waiting(live, 1)
    asked = live.requests
    tab = live.click("net")
    waiting = tab.get_by_role("status").filter(
        has_text=re.compile("net comes after|Asking the kernel for net")
    )
    expect(waiting).to_be_visible()
    live.lab.screenshot("live-busy")
    waiting.get_by_role("button", name="Cancel").click()
    expect(live.problem).to_contain_text("Cancelled")
    assert live.requests <= asked + 1
    live.problem.get_by_role("button", name="Try again").click()
    expect(waiting).to_be_visible()
    go_on(live)
    live.click("net")
    expect(row(tab, "step")).to_be_visible()


def test_a_busy_kernel_is_asked_once_and_a_cell_that_fails_takes_nothing_along(live: Live) -> None:
    live.start(BREAK)
    run_waiting(live, 1)
    asked = live.requests
    for _ in range(3):
        live.show_panel()
        expect(live.panel.get_by_role("status")).to_contain_text("Waiting for the kernel")
        live.page.keyboard.press("Control+b")
        expect(live.panel).to_be_hidden()
    assert live.requests == asked + 1
    live.show_panel()
    go_on(live)
    live.expect_listed("ckpt", "net")
    expect(live.panel.get_by_role("status")).to_have_count(0)


# --- for everybody


@pytest.fixture(scope="module")
def axe() -> str:
    return (frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js").read_text("utf-8")


def violations(axe: str, place: Locator) -> list[str]:
    place.page.evaluate(axe)
    found: list[dict[str, Any]] = place.evaluate("async e => (await axe.run(e)).violations")
    return [
        f"{rule['impact']} {rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


def test_panel_and_tab_are_for_everybody(live: Live, axe: str) -> None:
    live.start(SAVE, RENAME, "opt = tf.keras.optimizers.Adam()", ran=4)
    live.show_panel()
    tab = live.open("net")
    row(tab, "step").click()
    expect(tab.locator(".ckv-values")).to_contain_text("7")
    for theme in ("Light", "Dark"):
        live.lab.show_theme(theme)
        assert violations(axe, live.panel) == []
        assert violations(axe, tab) == []
        assert weak_contrasts(live.page) == {}
    check = live.check("ckpt", "saved", "ckpt.index")
    _select_renamed(check)
    for theme in ("Dark", "Light"):
        live.lab.show_theme(theme)
        assert violations(axe, check) == []
        live.lab.screenshot(f"live-check-{theme.lower()}")


def test_all_buttons_are_reached_by_keys_and_say_whose_they_are(live: Live) -> None:
    live.start()
    live.show_panel()
    live.expect_listed("ckpt", "net")
    expect(live.item("ckpt").locator(".ckpt-viz-live-open")).to_be_focused()
    live.page.keyboard.press("Alt+Shift+K")
    expect(live.page.locator(".jp-Notebook :focus, .jp-Notebook:focus")).not_to_have_count(0)
    live.page.keyboard.press("Alt+Shift+K")
    expect(live.item("ckpt").locator(".ckpt-viz-live-open")).to_be_focused()
    heard = []
    for _ in range(6):
        heard.append(live.page.evaluate("document.activeElement.textContent.trim()"))
        live.page.keyboard.press("Tab")
    assert heard == [
        *("ckpt tf.train.Checkpoint", "Check…", "Insert code"),
        *("net Net", "Check…", "Insert code"),
    ]
    described = live.item("net").get_by_role("button").evaluate_all("e => e.map(b => b.title)")
    assert all("net" in one for one in described)
    live.item("net").locator(".ckpt-viz-live-open").focus()
    live.page.keyboard.press("Enter")
    expect(row(live.tab, "step")).to_be_visible()
