"""Imports point down only: the order of the modules is the architecture."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import ckpt_viz

PACKAGE = Path(ckpt_viz.__file__).parent

# From the ground up. A module imports only from layers below its own, inside functions too.
LAYERS = (
    {"text", "wording"},
    {"gc_pause", "errors", "interrupts", "jupyter.live_objects"},
    {"expressions"},
    {"jupyter.kernel_run", "jupyter.time_limit"},
    {"program", "values.frame", "values.memory", "values.report", "values.row", "values.running"},
    {"formats.confinement"},
    {"formats.files", "formats.protos"},
    {"formats.sstable", "formats.dtypes"},
    {"formats.new_files", "formats.slices", "formats.table_writer", "formats.wire"},
    {"formats.crc32c", "formats.entries", "formats.stored_bytes", "formats.tensors"},
    {"formats.bundle", "formats.saver_v1", "values.stretches"},
    {"formats.bundle_writer", "formats.lost_files", "formats.stored_ranges"},
    {"values.fine_bins", "values.moments", "values.strings"},
    {"values.histogram", "values.partial"},
    {"values.difference", "values.pieces"},
    {"values.assembly", "values.spread"},
    {"values.tracks"},
    {"formats.checkpoint_state", "formats.meta_graph", "formats.saved_model"},
    {"object_graph.calls", "object_graph.keys", "object_graph.name_evidence"},
    {"object_graph.nodes", "object_graph.optimizer_table"},
    {"object_graph.keras_optimizers", "object_graph.scope_slots", "object_graph.tree"},
    {"object_graph.hanging", "object_graph.layers", "object_graph.parameters"},
    {"object_graph.lookup"},
    {"object_graph.keras_2_slots", "object_graph.keras_3_slots"},
    {"object_graph.slots"},
    {"object_graph.roles", "object_graph.scopes"},
    {"object_graph.graph"},
    {"values.held"},
    {"object_graph.merge", "object_graph.overlay", "object_graph.subtrees", "matching.trace"},
    {"object_graph.ways"},
    {"object_graph.groups", "object_graph.names", "object_graph.places"},
    {"object_graph.layer_names"},
    {"object_graph.causes"},
    {"search.glob", "search.grammar", "search.measures", "search.syntax"},
    {"search.index"},
    {"search.fields", "search.pasted"},
    {"search.evaluate"},
    {"matching.read_failures", "matching.sides_of_match"},
    {"matching.engine", "matching.graph_side", "matching.saved_graph"},
    {"matching.name_based_restore"},
    {"mapping.full_names", "mapping.migrations"},
    {"mapping.pairs", "mapping.sequences", "mapping.signatures"},
    {"mapping.alignment", "mapping.parts"},
    {"mapping.by_names", "mapping.counterparts", "mapping.part_questions"},
    {"mapping.optimizer_classes"},
    {"mapping.optimizers", "mapping.states"},
    {"mapping.pairing"},
    {"mapping.mapper"},
    {"mapping.value_mapping"},
    {"mapping.defaults"},
    {"correspondence.alignment", "correspondence.items", "correspondence.names"},
    {"correspondence.descriptions"},
    {"correspondence.pairing"},
    {"correspondence.optimizers", "correspondence.siblings"},
    {"correspondence.whole_tree"},
    {"correspondence.correspond"},
    {"changes.change"},
    {"changes.edges", "changes.of_optimizers", "changes.sentences"},
    {"changes.in_sequences"},
    {"changes.reading"},
    {"saved.file_types", "saved.location", "saved.other_files"},
    {"saved.from_keys", "saved.name_based", "saved.typed", "saved.variable_facts"},
    {"saved.object_based", "saved.saved_access"},
    {"saved.v1_reader", "saved.v2_reader"},
    {"saved.readers"},
    {"saved.listing"},
    {"saved.nearby"},
    {"saved.locate"},
    {"saved.saved_source"},
    {"values.boxes", "values.measured", "values.places", "values.reading", "values.verifying"},
    {"timeline.cells"},
    {"live.tensorflow_private"},
    {"live.wrappers"},
    {"live.shadows"},
    {
        "live.tensorflow_restore",
        "live.accessors",
        "live.code_reading",
        "live.keras_calls",
        "live.saver",
        "live.untracked",
    },
    {"live.tensorflow_session", "live.tensorflow_state"},
    {"live.facts"},
    {"live.left_aside", "live.losses"},
    {"live.building", "live.iterators", "live.opening", "live.tables", "live.walk"},
    {"live.holding", "live.restore_failures"},
    {"live.gathering", "live.rollback"},
    {"live.restore_side", "live.live_source"},
    {"live.eager_values", "live.restore_target", "live.session_values"},
    {"live.status"},
    {"restore_check.objects_in_code", "restore_check.runs"},
    {
        "restore_check.new_objects",
        "restore_check.skeleton",
        "restore_check.verdicts",
    },
    {"restore_check.dry_run", "restore_check.exceptions"},
    {
        "restore_check.coverage",
        "restore_check.file_dry_run",
        "restore_check.finding",
        "restore_check.live_dry_run",
        "restore_check.saver_dry_run",
        "restore_check.sides",
    },
    {"restore_check.failures", "restore_check.rehearsal", "restore_check.verified"},
    {"restore_check.placement"},
    {"restore_check.case"},
    {
        "restore_check.harmless",
        "restore_check.keras_exports",
        "restore_check.outlook",
        "restore_check.twins",
    },
    {"restore_check.folding", "restore_check.other_levels", "restore_check.without_values"},
    {
        "restore_check.rules.ambiguous",
        "restore_check.rules.by_name",
        "restore_check.rules.created_later",
        "restore_check.rules.left_aside",
        "restore_check.rules.leftovers",
        "restore_check.rules.misplaced",
        "restore_check.rules.not_built",
        "restore_check.rules.optimizers",
        "restore_check.rules.raising",
        "restore_check.rules.roots",
        "restore_check.rules.structure",
        "restore_check.rules.tracking",
        "restore_check.rules.worth_knowing",
        "restore_check.rules.wrong_paths",
        "restore_check.rules.wrong_values",
    },
    {"restore_check.findings"},
    {"restore_fix.guesses"},
    {"restore_fix.left_out"},
    {
        "restore_fix.applying",
        "restore_fix.arrangement",
        "restore_fix.code",
        "restore_fix.in_words",
    },
    {"restore_check.check_overlay"},
    {"restore_fix.fixed_places", "restore_fix.rewrite"},
    {"restore_fix.fix"},
    {"timeline.lines"},
    {"timeline.plan"},
    {"timeline.reading"},
    {"timeline.compared"},
    {"graph_diff.moved", "graph_diff.pairing", "graph_diff.value_comparison"},
    {"graph_diff.node_difference"},
    {"graph_diff.comparison"},
    {"graph_diff.diff_overlay"},
    {"render.signs"},
    {
        "render.families",
        "render.palette",
        "render.row_tree",
        "render.text",
        "render.writing",
    },
    {
        "render.graph_json",
        "render.outline",
        "render.plan",
        "render.plan_json",
        "render.verified",
    },
    {"values.table_json", "values.table_text"},
    {"values.table_html"},
    {"values.table", "graph_diff.value_change"},
    {"graph_diff.value_changes"},
    {"render.layer_outline"},
    {"render.row_words"},
    {"render.dot", "render.layer_text", "render.payload", "render.svg"},
    {"render.html", "render.static_html"},
    {"render.exports", "render.pictured"},
    {"values.snapshot"},
    {"live.any_source"},
    {"restore_check.run"},
    {"graph_diff.diff_result", "restore_check.check_result"},
    {"timeline.sources"},
    {"timeline.evidence", "timeline.ranking"},
    {"timeline.rules"},
    {"timeline.findings"},
    {"timeline.record", "timeline.work"},
    {"timeline.words", "timeline.between", "timeline.change_map", "timeline.restoring"},
    {"timeline.frame", "timeline.history_html", "timeline.history_json", "timeline.history_text"},
    {"timeline.view_payload", "timeline.questions", "jupyter.snapshots"},
    {"jupyter.shared_models"},
    {"jupyter.history_view"},
    {"timeline.history"},
    {"api"},
    {"jupyter.shown"},
    {"jupyter.answers"},
    {"commands.output", "commands.versions"},
    {"commands.graphs", "commands.numbers"},
    {"jupyter.widget", "jupyter.live_tabs", "cli"},
    {"jupyter.failed_restores"},
    {"server.messages", "server.options", "server.refusals", "server.slim_notebooks"},
    {"server.graphs", "server.paths", "server.processes", "server.worker"},
    {"server.histories"},
    {"server.jobs", "server.workers"},
    {"server.service"},
    {"server.handlers"},
    {"server.extension"},
    {"__init__"},
)


def _modules() -> dict[str, Path]:
    """Return the package's modules by dotted name, subpackages without their `__init__`."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if not name.endswith(".__init__"):
            found[name] = path
    return found


def test_every_module_has_a_layer() -> None:
    assert set(_modules()) == set().union(*LAYERS)


def test_imports_point_down_only() -> None:
    height = {module: level for level, layer in enumerate(LAYERS) for module in layer}
    upward = [
        f"{module} imports {imported}"
        for module in height
        for imported in _imports_of(module)
        if height[imported] >= height[module]
    ]
    assert upward == []


def test_subpackages_hold_their_description_alone() -> None:
    for path in PACKAGE.glob("*/__init__.py"):
        (statement,) = ast.parse(path.read_text()).body
        assert isinstance(statement, ast.Expr)


def test_only_the_live_side_names_tensorflow() -> None:
    naming = {
        name
        for name, path in _modules().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(name.split(".")[0] in ("tensorflow", "keras") for name in _names(node))
    }
    assert naming == set()  # tensorflow_private looks its names up with import_module


def test_only_the_server_part_names_jupyter_server() -> None:
    naming = {
        name
        for name, path in _modules().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(
            one.split(".")[0] in ("jupyter_core", "jupyter_server", "tornado")
            for one in _names(node)
        )
    }
    assert naming == {"server.handlers", "server.paths"}


def test_importing_the_package_imports_neither_jupyter_nor_tensorflow() -> None:
    heavy = "{'jupyter_server', 'tornado', 'IPython', 'tensorflow', 'numpy'}"
    source = f"import sys, ckpt_viz; print({heavy} & {{m.split('.')[0] for m in sys.modules}})"
    output = subprocess.run(
        [sys.executable, "-c", source], check=True, capture_output=True, text=True
    ).stdout
    assert output == "set()\n"


def _imports_of(module: str) -> Iterator[str]:
    """Yield the modules that a module imports, whole or names of them."""
    modules = _modules()
    for node in ast.walk(ast.parse(modules[module].read_text())):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _names(node):
                parts = name.split(".")[1:] if name.startswith("ckpt_viz.") else []
                # `from a import b` names either a module b or something in the module a
                for candidate in (".".join(parts), ".".join(parts[:-1])):
                    if candidate in modules:
                        yield candidate
                        break


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [f"{node.module}.{alias.name}" for alias in node.names]
