"""What a new kind of finding needs: three places of the package, and no other."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import ckpt_viz as cv

PACKAGE = Path(cv.__file__).parent
CHECKPOINT = Path(__file__).parent / "data/old_versions"
RULE = """
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Advice


def many_nodes(case, explained):
    yield case.run.finding(
        Severity.WARNING,
        Kind.MANY_NODES,
        f"The checkpoint has {len(case.saved.nodes)} nodes.",
        Advice("Save fewer objects."),
        nodes=(0,),
        objects=(0,),
    )
"""
PROGRAM = """
import sys
import ckpt_viz as cv

path = sys.argv[1]
check = cv.check(cv.graph(path), path)
print(check.details)
print(check.findings[0].kind.value, check.to_json()["problems"][0]["kind"])
"""


def with_another_kind(at: Path) -> None:
    """Copy the package, and add a kind of finding to the copy."""
    shutil.copytree(
        PACKAGE, at / "ckpt_viz", ignore=shutil.ignore_patterns("labextension", "__pycache__")
    )
    insert(
        at / "ckpt_viz/matching/changes/kind.py",
        "    LEFTOVER = ",
        '    MANY_NODES = "many_nodes"\n',
    )
    (at / "ckpt_viz/answers/rules/many_nodes.py").write_text(RULE)
    findings = at / "ckpt_viz/answers/rules/findings.py"
    insert(findings, "    misplaced,\n", "    many_nodes,\n")
    insert(findings, "    worth_knowing.overwritten,\n", "    many_nodes.many_nodes,\n")


def insert(path: Path, before: str, line: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, line + before))


def test_a_new_kind_of_finding_needs_three_places(tmp_path: Path) -> None:
    with_another_kind(tmp_path)
    (index, *_) = sorted(CHECKPOINT.rglob("*.index"))
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(index.with_suffix(""))],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    text = run.stdout
    assert "! warning, many nodes  the root" in text
    assert "Save fewer objects." in text
    assert text.rstrip().endswith("many_nodes many_nodes")
