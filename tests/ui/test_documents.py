"""Checkpoints opened from JupyterLab's file browser: with the mouse, and without a kernel."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchmarks.bytes_read import write_sparse
from tests.ui.file_browser import (
    CHANGED_MS,
    Files,
    comparison,
    document,
    is_ours,
    show_values,
    state_of,
)
from tests.ui.jupyter import JupyterLab
from tests.ui.pages import choose_view, open_exports
from tests.ui.test_explorer import row

_ICON = "[data-icon='ckpt-viz:checkpoint']"


@pytest.fixture
def files(lab: JupyterLab, request: pytest.FixtureRequest) -> Files:
    return Files(lab, re.sub(r"\W+", "-", request.node.name))


# --- what a double click opens


def test_an_index_opens_as_a_document(files: Files) -> None:
    files.add("adam")
    tab = files.open("ckpt-1.index")
    expect(row(tab, "optimizer")).to_be_visible()
    expect(row(tab, "(root)")).to_be_visible()
    expect(tab.locator(".ckpt-viz-notices")).to_be_empty()
    expect(files.title.locator(_ICON)).to_be_visible()
    expect(files.item("ckpt-1.index").locator(_ICON)).to_be_visible()
    files.lab.screenshot("document")
    assert files.complaints == []


def test_a_document_is_coloured_by_values_that_the_server_reads(files: Files) -> None:
    files.add("adam")
    tab = files.open("ckpt-1.index")
    tab.get_by_label("Colour by").select_option("norm")
    expect(tab.get_by_role("columnheader", name="norm")).to_be_visible()
    # The parameters are right of what is in sight: the open rows above them have the colour.
    expect(tab.locator(".ckv-node .ckv-measure-line").first).to_be_visible()
    tab.get_by_role("row", name="_operations").click()
    tab.get_by_role("treegrid").press("ArrowLeft")
    expect(tab.locator(".ckv-node.ckv-filled").first).to_be_visible()
    tab.get_by_role("combobox", name="Search").fill("norm>0")
    expect(tab.locator("mark").first).to_be_visible()
    files.lab.screenshot("document-by-norm")
    assert files.complaints == []


@pytest.mark.parametrize(
    ("saved", "name", "child"),
    [
        ("several_shards", "ckpt.data-00001-of-00002", "a"),
        ("name_based", "model.meta", "dense"),
        ("saved_model", "saved_model.pb", "optimizer"),
    ],
)
def test_so_does_every_other_file_of_a_checkpoint(
    files: Files, saved: str, name: str, child: str
) -> None:
    files.add(saved)
    expect(row(files.open(name), child)).to_be_visible()


def test_a_state_file_shows_the_latest_and_lists_all_that_are_kept(files: Files) -> None:
    files.add("state")
    for number in ("1", "2"):  # by which one sees which of them is shown
        files.write(f"ckpt-{number}", f"saved_{number}")
    tab = files.open("checkpoint")
    expect(row(tab, "saved_2")).to_be_visible()
    kept = files.toolbar.get_by_label("Checkpoints that are kept here")
    expect(kept.locator("option")).to_have_text(["ckpt-2 (latest)", "ckpt-1"])
    kept.select_option("ckpt-1")
    expect(row(tab, "saved_1")).to_be_visible()
    expect(kept.locator("option")).to_have_count(2)
    kept.select_option("ckpt-2 (latest)")
    expect(row(tab, "saved_2")).to_be_visible()


def test_a_kept_checkpoint_that_is_gone_cannot_be_chosen(files: Files) -> None:
    files.add("state")
    for path in files.place.glob("ckpt-1.*"):
        path.unlink()
    files.open("checkpoint")
    gone = files.toolbar.locator("option", has_text="ckpt-1 (gone)")
    expect(gone).to_have_count(1)
    expect(gone).to_be_disabled()


@pytest.mark.parametrize(("saved", "child"), [("saved_model", "optimizer"), ("state", "a")])
def test_directories_open_from_their_context_menu(files: Files, saved: str, child: str) -> None:
    files.add(saved, "here")
    files.show()
    files.choose("here", menu="Open in Checkpoint Explorer")
    files.await_tab("here")
    expect(row(files.tab, child)).to_be_visible()
    assert files.complaints == []


def test_other_indexes_are_left_to_the_editor_and_say_what_they_are(files: Files) -> None:
    (files.place / "vectors.index").write_bytes(b"IxF2" + bytes(200))
    files.show()
    files.item("vectors.index").dblclick()
    expect(files.title).to_have_text("vectors.index")
    expect(files.page.locator(".jp-FileEditor")).to_be_visible()
    expect(files.tab).to_have_count(0)
    files.choose("vectors.index", menu="Open With > Checkpoint Explorer")
    expect(files.tab.get_by_role("alert")).to_contain_text("an index of FAISS")
    expect(files.tab.get_by_role("treegrid")).to_have_count(0)


def test_a_file_that_is_no_checkpoint_shows_a_message_until_it_is_one(files: Files) -> None:
    files.add("adam")
    index = files.place / "ckpt-1.index"
    good = index.read_bytes()
    index.write_bytes(b"DIRC" + bytes(60))
    files.show()
    files.item("ckpt-1.index").dblclick()
    problem = files.tab.get_by_role("alert")
    expect(problem).to_contain_text("the index of a Git repository")
    index.write_bytes(good)
    problem.get_by_role("button", name="Try again").click()
    expect(row(files.tab, "optimizer")).to_be_visible()
    expect(problem).to_have_count(0)


def test_an_index_opens_whatever_its_name(files: Files) -> None:
    files.write("eff-1", "kernel")
    index, shard = (files.place / f"eff-1{end}" for end in (".index", ".data-00000-of-00001"))
    for path in (index, shard):
        os.utime(path, (10**9, 10**9))
    shutil.copy(index, files.place / "copied")
    shutil.copy(shard, files.place / "copied.data-00000-of-00001")
    shutil.copy(index, files.place / "alone")
    (files.place / "words.index").write_text("checkpoint, 1\nkernel, 2\n")
    files.show()
    # Without the shard there is no object graph, only the tree that the keys spell out.
    for name, shown in {"eff-1.index": "kernel", "copied": "kernel", "alone": "(root)"}.items():
        expect(files.item(name).locator(_ICON)).to_be_visible()
        expect(row(files.open(name), shown)).to_be_visible()
    expect(files.item("words.index").locator(_ICON)).to_have_count(0)
    files.lab.screenshot("document-found")
    files.choose("eff-1.index", "copied", menu="Compare Checkpoints")
    files.await_tab("eff-1 → copied")
    files.item("words.index").dblclick()
    expect(files.title).to_have_text("words.index")
    expect(files.page.locator(".jp-FileEditor")).to_be_visible()
    assert files.complaints == []


def test_a_listing_is_asked_about_once_until_it_changes(files: Files) -> None:
    files.write("eff-1", "kernel")
    asked: list[str] = []
    files.lab.listen(
        "request", lambda one: asked.append(one.url) if "/v1/checkpoints" in one.url else None
    )
    files.show()
    expect(files.item("eff-1.index").locator(_ICON)).to_be_visible()
    for _ in range(3):
        files.show()
    (files.place / "eff-1.index").write_text("no checkpoint any more")
    files.show()
    expect(files.item("eff-1.index").locator(_ICON)).to_have_count(0)
    assert len(asked) == 2
    files.item("eff-1.index").dblclick()
    expect(files.page.locator(".jp-FileEditor")).to_be_visible()
    assert files.complaints == []


@pytest.mark.parametrize(
    ("saved", "name"),
    [
        ("keras_archive", "model.keras"),
        ("keras_2_h5", "model.h5"),
        ("keras_weights", "model.weights.h5"),
    ],
)
def test_a_file_of_keras_opens_as_a_document(files: Files, saved: str, name: str) -> None:
    files.add(saved)
    tab = files.open(name)
    expect(files.title.locator(_ICON)).to_be_visible()
    expect(files.item(name).locator(_ICON)).to_be_visible()
    row(tab, "kernel").click()
    show_values(tab)
    expect(tab.locator(".ckv-values")).to_contain_text("float32 2×1")
    expect(files.page.locator(".jp-Dialog")).to_have_count(0)
    files.lab.screenshot(f"document-{saved}")
    assert files.complaints == []


def test_json_of_keras_stays_with_its_viewer_and_opens_on_request(files: Files) -> None:
    files.add("keras_shards")
    files.show()
    files.item("model.weights.json").dblclick()
    expect(files.page.locator(".jp-RenderedJSON")).to_be_visible()
    files.close()
    files.choose("model.weights.json", menu="Open in Checkpoint Explorer")
    files.await_tab("model.weights.json")
    expect(row(files.tab, "optimizer")).to_be_visible()
    files.open("model_00001.weights.h5")
    expect(files.tab).to_contain_text("is a shard of the weights")
    assert files.complaints == []


def test_files_of_keras_in_two_formats_are_compared(files: Files) -> None:
    for saved, name in {"keras_weights": "new.weights.h5", "keras_2_h5": "old.h5"}.items():
        (file,) = files.add(saved, saved).iterdir()
        file.rename(files.place / name)
    os.utime(files.place / "old.h5", (10**9, 10**9))
    files.show()
    files.choose("new.weights.h5", "old.h5", menu="Compare Checkpoints")
    files.await_tab("old.h5 → new.weights.h5")
    expect(files.tab.locator(".ckv-check-head")).to_contain_text("1 value only in b")
    files.lab.screenshot("document-comparison-of-keras")
    assert files.complaints == []


def test_a_damaged_file_of_keras_shows_a_message(files: Files) -> None:
    path = files.add("keras_weights") / "model.weights.h5"
    os.truncate(path, 2000)
    files.show()
    files.item(path.name).dblclick()
    expect(files.tab.get_by_role("alert")).to_contain_text("found 2,000 of")
    expect(files.tab.get_by_role("treegrid")).to_have_count(0)


def test_a_checkpoint_of_many_gigabytes_opens(files: Files) -> None:
    write_sparse(str(files.place / "ckpt-large"), 50, 200 << 20)
    tab = files.open("ckpt-large.index")
    row(tab, "layer_00007").click()
    expect(tab.locator(".ckv-details")).to_contain_text("52428800")
    # Whoever reads all files of this server is not to read these.
    for path in files.place.glob("ckpt-large*"):
        path.unlink()


# --- what one does in a tab


def test_values_come_from_the_server(files: Files) -> None:
    files.write("ckpt-1", "kernel", filled=7)
    tab = files.open("ckpt-1.index")
    row(tab, "kernel").click()
    show_values(tab)
    expect(tab.locator(".ckv-values")).to_contain_text("float32 3×2")
    expect(tab.locator(".ckv-elements")).to_contain_text("1.01")


def test_files_are_handed_over(files: Files, tmp_path: Path) -> None:
    files.write("ckpt-1", "kernel")
    tab = files.open("ckpt-1.index")
    for words, start in {"Outline, SVG": "<svg", "Graph, JSON": "{"}.items():
        open_exports(tab)
        with files.page.expect_download() as download:
            tab.get_by_role("button", name=words).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        text = path.read_text("utf-8")
        assert text.startswith(start)
        assert "kernel" in text


def test_the_textbook_view_draws(files: Files) -> None:
    files.add("adam")
    tab = files.open("ckpt-1.index")
    choose_view(tab, "TensorFlow's guide")
    tab.locator(".ckv-textbook .ckv-node").first.wait_for()
    files.lab.screenshot("document-textbook")
    assert files.complaints == []


# --- what is open is opened again, and what is closed is gone


def _open_beside_and_reload(files: Files) -> None:
    """Open a directory and a comparison beside the first file, and reload the page."""
    files.choose("run", menu="Open in Checkpoint Explorer")
    files.await_tab("run")
    files.choose("ckpt-1.index", "ckpt-2.index", menu="Compare Checkpoints")
    files.await_tab("ckpt-1 → ckpt-2")
    one, other = (f"{files.name}/ckpt-{number}.index" for number in (1, 2))
    files.reload(document(one), document(f"{files.name}/run"), comparison(other, one))
    files.await_tab("ckpt-1 → ckpt-2")


def test_what_is_open_is_open_again_after_a_reload(files: Files) -> None:
    files.write("ckpt-1", "kernel")
    files.write("ckpt-2", "bias")
    files.add("state", "run")
    files.open("ckpt-1.index")
    _open_beside_and_reload(files)
    expect(files.tab.locator(".ckv-sentence")).to_be_visible()
    for title, child in {"ckpt-1.index": "kernel", "run": "a"}.items():
        files.page.get_by_role("tab", name=title, exact=True).click()
        files.await_tab(title)
        expect(row(files.tab, child)).to_be_visible()
    assert files.complaints == []


def test_nothing_is_asked_for_a_tab_that_is_closed(files: Files) -> None:
    files.write("ckpt-1", "kernel")
    files.write("ckpt-2", "bias")
    files.open("ckpt-1.index")
    files.open("ckpt-2.index")
    files.close()
    files.await_tab("ckpt-1.index")
    asked: list[str] = []
    files.lab.listen("request", lambda request: asked.append(request.url))
    for _ in range(2):  # between which the other one would have asked, too
        with files.page.expect_request(is_ours, timeout=CHANGED_MS):
            pass
    files.close()
    expect(files.tab).to_have_count(0)
    assert [url for url in asked if "ckpt-1" in url]
    assert [url for url in asked if "ckpt-2" in url] == []
    assert files.complaints == []


# --- nothing is written


@pytest.mark.parametrize("mode", [0o755, pytest.param(0o555, marks=pytest.mark.more)])
def test_nothing_is_written(files: Files, mode: int) -> None:
    files.write("ckpt-1", "kernel")
    files.write("ckpt-2", "bias")
    files.add("state", "run")
    for path in (files.place / "run", files.place):
        path.chmod(mode)
    root = files.lab.server.root
    before = state_of(root)

    tab = files.open("ckpt-1.index")
    row(tab, "kernel").click()
    show_values(tab)
    open_exports(tab)
    with files.page.expect_download():
        tab.get_by_role("button", name="Graph, JSON").click()
    files.toolbar.locator("button").first.click()
    expect(tab.locator(".ckpt-viz-loading")).to_have_count(0)
    files.page.keyboard.press("Control+s")
    _open_beside_and_reload(files)
    for left in (2, 1, 0):
        files.close()
        expect(files.page.locator(".ckpt-viz-tab")).to_have_count(left)
    assert state_of(root) == before
    assert files.complaints == []


# --- files that change


def test_what_has_changed_is_said_and_read_again_when_asked(files: Files) -> None:
    files.write("ckpt-1", "kernel")
    tab = files.open("ckpt-1.index")
    row(tab, "kernel").click()
    files.write("ckpt-1", "bias", "kernel")
    note = tab.get_by_role("status").filter(has_text="The files have changed")
    expect(note).to_be_visible(timeout=CHANGED_MS)
    files.lab.screenshot("document-changed")
    expect(row(tab, "bias")).to_have_count(0)
    note.get_by_role("button", name="Refresh").click()
    expect(row(tab, "bias")).to_be_visible()
    expect(row(tab, "kernel")).to_have_attribute("aria-selected", "true")
    expect(note).to_have_count(0)


def test_of_a_deleted_file_what_was_shown_stays(files: Files) -> None:
    files.write("ckpt-1", "kernel")
    tab = files.open("ckpt-1.index")
    for path in files.place.glob("ckpt-1.*"):
        path.unlink()
    note = tab.get_by_role("status").filter(has_text="The files have changed")
    expect(note).to_be_visible(timeout=CHANGED_MS)
    note.get_by_role("button", name="Refresh").click()
    expect(tab.get_by_role("alert")).to_contain_text("ckpt-1.index")
    files.lab.screenshot("document-gone")
    expect(row(tab, "kernel")).to_be_visible()
