"""The public functions, such as `graph`, `check`, `fix`, `diff`, `history` and `merged`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.live.sources.any_source import graph_of, is_snapshot
from ckpt_viz.live.sources.pictured import ObjectGraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Executor

    from ckpt_viz.answers.graph_diff.diff_result import GraphDiff
    from ckpt_viz.answers.load_check.load_result import LoadCheck
    from ckpt_viz.answers.restore_check.check_result import RestoreCheck
    from ckpt_viz.answers.restore_fix.fix import RestoreFix
    from ckpt_viz.answers.timeline.history import History
    from ckpt_viz.live.sources.snapshot import Snapshot


def graph(
    source: object,
    *,
    meta: str | os.PathLike[str] | None = None,
    as_saved_by: str | None = None,
) -> ObjectGraph:
    """Return the object graph of a live object or of a saved checkpoint.

    >>> graph = cv.graph("ckpts/ckpt-3")
    >>> graph
    <ObjectGraph of ckpts/ckpt-3 (saved checkpoint): 10 nodes: 4 object, 6 variable>
    >>> float(graph.read("net.head.w").max())
    4.0
    >>> cv.graph(ckpt).accessor(0, "ckpt")  # of a live object
    'ckpt'

    Args:
        source: What to read. Live: anything that TensorFlow can track (`tf.train.Checkpoint`,
            `tf.Module`, a Keras layer, model or optimizer), a `tf.train.CheckpointManager`, the
            status that `restore` returned, a `tf.compat.v1.train.Saver`, a list or dict of such
            objects and variables, also nested, or an assignment map of `init_from_checkpoint`.
            Saved, as str or path, local or remote: a prefix, any of its files, a directory of
            checkpoints (its latest), a SavedModel's directory, a file of Keras, or a directory of
            Orbax (its latest step). A Snapshot is its values in memory. `graph` returns an
            ObjectGraph unchanged.
        meta: The `.meta` file of a name-based checkpoint, if it is not beside the checkpoint.
        as_saved_by: "keras" for the graph of the file that `model.save_weights("x.weights.h5")`
            would write of a Keras model. By default it is the graph that TensorFlow would write.

    Raises:
        CheckpointNotFoundError: The path leads to no checkpoint.
        FormatError: A file is corrupt, truncated or not a checkpoint.
        UnsupportedError: ckpt_viz does not read this kind of file, or an extra is not installed.
        SourceError: The object is neither a path nor trackable. With `as_saved_by`: the object is
            no Keras model, or the model is not built.
    """
    return graph_of(source, meta, as_saved_by)


def check(
    live: object,
    saved: object = None,
    *,
    method: str | None = None,
    options: Any = None,
    verify: bool = False,
) -> RestoreCheck:
    """Return what restoring a checkpoint into a live object would do; change nothing.

    >>> check = cv.check(ckpt, "ckpts/ckpt-3")  # in place of ckpt.restore("ckpts/ckpt-3")
    >>> print(check)
    ckpts/ckpt-3 → Checkpoint
    The head is larger: 3 → 5, and hidden seems to be body now.
    restore() raises ValueError. All asserts fail.
      as saved           restore() to the end   with the fix           in the program
      head               ✗ other shape          ≠ stays, other shape   head             2 values
      hidden             − nowhere              ✓ here                 body             2 values
      … 2 other values   ✓ here                 ✓ here
    check.fix().apply() restores 4 of 6 values; 2 keep their own.
    print(check.details) tells why, with TensorFlow's names.
    >>> check.fix().apply()  # restores what has a place, all values or none
    <RestoreFix of ckpts/ckpt-3 into Checkpoint: 4 values restored>

    Args:
        live: What the program would restore: a `tf.train.Checkpoint` or its manager, a
            `tf.compat.v1.train.Saver`, or any other trackable, checked as
            `tf.train.Checkpoint(root=live)`. The status that `restore` returned shows what that
            call did; do not pass `saved` then. A list or dict of objects is checked as a whole, as
            `snapshot` takes it. With a file, a dict from names to variables, or a list of pairs, is
            an assignment map: `tf.compat.v1.train.init_from_checkpoint(saved, live)`. A Keras model
            and one of Keras' own files are checked as `live.load_weights(saved)`. An ObjectGraph of
            live objects means these objects. A checkpoint, or its path, means a program that would
            save exactly this checkpoint.
        saved: The path exactly as the program passes it to `restore`, an ObjectGraph of a
            checkpoint, a Snapshot, or a manager (its latest checkpoint). None is what
            `tf.train.latest_checkpoint` returns for a directory without a checkpoint.
        method: `"restore"` or `"read"`. The default is the method that the live object has, or the
            call that takes the map or the weights.
        options: The `tf.train.CheckpointOptions` of the call; for `load_weights` a dict, such as
            `{"skip_mismatch": True}`.
        verify: Whether to read the bytes of the values that this restore reads, and to test their
            checksums. Without it, only the restore finds damaged bytes, and raises DataLossError.
            The checksum of a `.keras` archive is always tested.

    Returns:
        A RestoreCheck: `print` it, or make it the last line of a cell. It says which values get no
        place, why, and what to do. `check.fix().apply()` restores every value that has a place, and
        `check.fix().code` is the same as a program. `assert check.consumed` is for a test.
        `check.raises` is the error that the restore itself would raise. `check.findings` are all
        that it found, as data.

    Raises:
        SourceError: The live object cannot be restored into, or the arguments do not fit.
        FormatError: TensorFlow opens the checkpoint, but ckpt_viz cannot read it.
    """
    from ckpt_viz.answers.restore_check.check_result import RestoreCheck
    from ckpt_viz.answers.restore_check.run import AskedCheck

    return RestoreCheck.of(AskedCheck(live, saved, method, options, verify))


def fix(
    live: object,
    saved: object = None,
    *,
    method: str | None = None,
    options: Any = None,
    verify: bool = False,
    guesses: bool | str | Iterable[str] = False,
) -> RestoreFix[RestoreCheck]:
    """Return what restores a checkpoint into a program that has changed since; change nothing.

    >>> fix = cv.fix(ckpt, "ckpts/ckpt-3")
    >>> fix
    <RestoreFix of ckpts/ckpt-3 into Checkpoint: 4 values restored>
    >>> fix.apply().is_applied  # fix.code is the same as a program
    True

    Args:
        live: As for `check`.
        saved: As for `check`.
        method: As for `check`.
        options: As for `check`.
        verify: As for `check`.
        guesses: Whether to take the places that only order or shape speaks for, or the names of the
            saved parts to take them for.

    Returns:
        The fix of `check(live, saved)`. `print` says what it restores. `apply()` restores now, and
        `code` is the same as a program. `write(prefix)` writes a checkpoint that fits the program.

    Raises:
        NoSuchNodeError: A name in `guesses` is none of a saved part with guesses.
        SourceError: There is no checkpoint to restore, or as `check` raises it.
        FormatError: As `check` raises it.
    """
    checked = check(live, saved, method=method, options=options, verify=verify)
    return checked.fix(guesses=guesses)


def check_load_model(
    path: str | os.PathLike[str],
    custom_objects: Mapping[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool = True,
    *,
    keras: object = None,
) -> LoadCheck:
    """Return what `keras.models.load_model` would do with a file.

    >>> tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)]).save("model.keras")
    >>> print(cv.check_load_model("model.keras").raises)
    None

    The check builds the model that the configuration describes, without weights, in a process of
    its own. That process opens no file, starts no program and runs no code of the file. The check
    names every class, function and argument that Keras does not take, not only the first. It tests
    the checksums of a `.keras`, and reads no weights: after them, `load_model` may still fail.

    The first check takes some seconds, to import Keras there. Later ones take less than one.

    Args:
        path: The path exactly as the program passes it to `load_model`: of a `.keras` archive, or
            of an `.h5` file with a whole model.
        custom_objects: The classes and functions of the program that `load_model` gets. Those that
            the program has registered with Keras count, too. Their code does not run: the check
            knows the signatures of their constructors alone.
        compile: Whether `load_model` also compiles the model.
        safe_mode: Whether it refuses Python code in the file.
        keras: The module `keras` or `tf_keras`, or its name. The default is the one that the
            program has imported; of both, `keras`.

    Returns:
        A LoadCheck. `print` shows it; `raises` holds the error that `load_model` would raise, and
        `code` loads the model in spite of it, if a program can.

    Raises:
        SourceError: The arguments do not fit, or Keras is not installed.
        FormatError: Keras opens the file, but its configuration is damaged.
        UnsupportedError: The configuration takes too much memory or time, or it opens a file. Or
            the path leads to a directory of Orbax, or to a SavedModel that tf_keras would load.
    """
    from ckpt_viz.answers.load_check.load_result import LoadOptions, load_check

    return load_check(path, LoadOptions(custom_objects or {}, compile, safe_mode), keras)


def diff(
    a: object,
    b: object,
    *,
    values: bool = False,
    executor: Executor | None = None,
    progress: bool = True,
) -> GraphDiff:
    """Return how two object graphs differ, node by node.

    >>> diff = cv.diff("ckpts/ckpt-2", "ckpts/ckpt-3", values=True, progress=False)
    >>> print(diff)
    ckpts/ckpt-2 → ckpts/ckpt-3
    head changed: by 33 %.
    3 of 6 common values have other numbers.
      a              change                    b
      head           Δ 1 of 2: other numbers   head           2 values
      hidden         ✓ matched                 hidden         2 values
      step           Δ other numbers           step           1 value
      save_counter   Δ other numbers           save_counter   1 value
    values: 3 of 6 common values differ; the largest relative changes:
      net.head.w         33 %  max |b-a| 1, 100 % of elements
      save_counter       50 %  max |b-a| 1, 100 % of elements
      step               50 %  max |b-a| 10, 100 % of elements

    Nodes pair as in a restore of a into b: by their local names from the roots on. Slot variables
    pair by variable, optimizer and name. Between two files, different checksums of the stored bytes
    mean different values; `diff` reads no tensor then.

    Args:
        a: Any source that `graph` takes: live objects, a path, an ObjectGraph.
        b: The other source.
        values: Whether to read the values that may differ: those of other checksums, of live
            objects, of files in the V1 format, and in different slices. `diff.values` then says by
            how much each differs, even if it moved. `print` shows the ten largest changes.
        executor: Any `concurrent.futures.Executor`, for values in files.
        progress: Whether to show a bar if it takes more than a second.

    Returns:
        A GraphDiff. `print` lists the differences; `is_empty` is True if there are none.

    Raises:
        CkptVizError: For either source, as `graph` raises it.
    """
    from ckpt_viz.answers.graph_diff.diff_result import diff_of

    return diff_of(graph(a), graph(b), values=values, executor=executor, progress=progress)


def history(
    source: object,
    *,
    most: int = 1_000,
    unchanged: bool = False,
    executor: Executor | None = None,
    progress: bool = True,
) -> History:
    """Return what each save of a training changed: statistics, differences, and what is wrong.

    >>> history = cv.history("ckpts", progress=False)
    >>> print(history.findings[0].why)
    Unchanged since ckpt-1, 3 variables: net.head.b, net.hidden.w and net.hidden.b; other
    variables change.

    A value whose checksum is that of the checkpoint before is not read again. Of values that never
    change, it reads the smallest, as long as 0.5 % of all bytes last. Ctrl+C ends the reading, and
    the History has what was read until then.

    Args:
        source: A directory of checkpoints, its `checkpoint` file, a `tf.train.CheckpointManager`, a
            pattern such as `ckpts/ckpt-*`, or a list of sources that `graph` takes. A list keeps
            its order. Others are in the order of `save_counter`, of the step variable, of the time
            in the `checkpoint` file, or of the numbers in the names: the first that tells them all.
        most: The most checkpoints to open; of more, some at equal distances.
        unchanged: Whether to read also all values that never change.
        executor: Any `concurrent.futures.Executor`, for the values in files.
        progress: Whether to show a bar if it takes more than a second.

    Returns:
        A History. `print` and notebooks show it; `findings` has what to look at first.

    Raises:
        CheckpointNotFoundError: There is no checkpoint, or none can be opened.
        SourceError: There is no source.
    """
    from ckpt_viz.answers.timeline.history import history_of

    return history_of(source, most=most, unchanged=unchanged, executor=executor, progress=progress)


def compare(
    sources: Sequence[object],
    *,
    executor: Executor | None = None,
    progress: bool = True,
) -> History:
    """Return how far checkpoints without an order are apart: members of an ensemble, candidates.

    >>> members = cv.compare(["ckpts/ckpt-1", "ckpts/ckpt-3"], progress=False)
    >>> round(members.distances[0][1], 3)
    0.643

    Renamed members and other scopes are mapped to each other as a fix maps them. Every value is
    read, but equal bytes of neighbours once.

    Args:
        sources: At least two sources that `graph` takes, or a pattern such as `runs/member-*`.
        executor: Any `concurrent.futures.Executor`, for the values in files.
        progress: Whether to show a bar if it takes more than a second.

    Returns:
        A History whose cells are relative to the mean of the members. `distances` are those between
        members, relative to the norm of their mean.

    Raises:
        CheckpointNotFoundError: There is no checkpoint, or none can be opened.
        SourceError: There are fewer than two sources.
    """
    from ckpt_viz.answers.timeline.history import comparison_of

    return comparison_of(sources, executor=executor, progress=progress)


def average(sources: Sequence[object], weights: Sequence[float] | None = None) -> ObjectGraph:
    """Return the average of checkpoints of one model: `average(paths).write("mean/ckpt")`.

    >>> mean = cv.average(["ckpts/ckpt-1", "ckpts/ckpt-3"])
    >>> float(mean.read("net.head.w").mean())
    3.0
    >>> mean.write("mean/ckpt")
    'mean/ckpt'

    Floats and complex numbers are means, computed in float64 and rounded to their dtype. All else
    is that of the last checkpoint: integers, strings, tables, and the object graph. Renamed parts
    and other scopes are mapped to each other as a fix maps them. Values are read when somebody asks
    for them.

    Args:
        sources: At least two saved sources that `graph` takes.
        weights: One number for each source; they are normalised. None: all count the same.

    Raises:
        EditError: A checkpoint has a value that another one lacks, or of another dtype or shape; or
            only its shape tells which value of another one it is.
        SourceError: There are fewer than two sources, one is live, or the weights do not fit.
        CkptVizError: For a source, as `graph` raises it. Reading a mean raises UnsupportedError if
            a value is NaN.
    """
    from ckpt_viz.live.sources.averaged import averaged

    return ObjectGraph.of(averaged([graph(source) for source in sources], weights))


def merged(parts: Mapping[str, object]) -> ObjectGraph:
    """Return parts of several checkpoints under one root: `{"model": a, "optimizer": b}`.

    >>> both = cv.merged({"net": "ckpts/ckpt-1", "step": "ckpts/ckpt-3"})
    >>> int(both.read("step")), float(both.read("net.head.w").mean())
    (30, 2.0)

    A checkpoint gives its part that has the name of the place. If it has none, it gives all its
    objects, without its `save_counter`. `("a/ckpt", "net.head")` names another part. A part may
    take the place of one inside another: `{"model": a, "model.head": b}`. An optimizer leads to the
    variables of the merged model, as a fix maps them. Parts of one checkpoint share what they share
    there. Of name-based checkpoints, parts and places are scopes.

    Args:
        parts: By place, a saved source that `graph` takes, or such a source and the name of a part.

    Raises:
        EditError: There are slots for a variable that no part has, or that only its shape tells; or
            nothing holds a place; or two tensors of name-based checkpoints get one name.
        NoSuchNodeError: A checkpoint has no part of a name, or several.
        SourceError: There is no part, one is live, or only some are name-based.
        CkptVizError: For a source, as `graph` raises it.
    """
    from ckpt_viz.live.sources.merged import merged as merge

    graphs: dict[object, ObjectGraph] = {}
    given = {}
    for place, of_place in parts.items():
        source, part = of_place if isinstance(of_place, tuple) else (of_place, None)
        known = os.fspath(source) if isinstance(source, (str, os.PathLike)) else id(source)
        if known not in graphs:
            graphs[known] = graph(source)
        given[place] = (graphs[known], part)
    return ObjectGraph.of(merge(given))


def snapshot(live: object, session: Any = None, *, limit: int | None = None) -> Snapshot:
    """Copy the values of live objects into memory, to compare with and to put back in place.

    >>> before = cv.snapshot(ckpt)
    >>> before
    <Snapshot of Checkpoint: 5 values, 152 bytes>
    >>> _ = ckpt.step.assign(7)
    >>> before.restore()
    <Restored: 5 objects restored>
    >>> int(ckpt.step)
    0

    The Snapshot is a source like a saved checkpoint. `snapshot.restore()` puts everything back that
    `tf.train.Checkpoint` saves: variables, the state of optimizers, tables, generators, iterators,
    Python state. So it does with variables that TensorFlow does not follow.
    `with cv.snapshot(ckpt):` does so if the block raises. `snapshot.take()` replaces the held
    values by those of now.

    Args:
        live: A `tf.train.Checkpoint` or any other trackable: module, layer, model, optimizer; or a
            list or dict of such, also nested. With a session also its graph, a
            `tf.compat.v1.train.Saver`, or None for all variables of the session's graph.
        session: The `tf.compat.v1.Session` or MonitoredSession that has the values of a graph's
            variables. No operation is added for variables; tables in a graph need some once.
        limit: The most bytes to copy. The default is half of the memory that is available.

    Raises:
        ReadLimitError: The values need more bytes. Shapes tell that before anything is copied,
            except for strings, tables and iterators, which are counted as they are copied.
        SourceError: The object is not trackable, this runs in a `tf.function`, or a variable has no
            value in the session.
    """
    from ckpt_viz.live.sources.snapshot import Snapshot

    return Snapshot(live, session, limit=limit)


def check_or_diff(source: object, against: object) -> RestoreCheck | GraphDiff:
    """Return the check of a live and a saved side, or the diff of two sides of the same kind.

    A manager means its latest file if the other side is live, and its checkpoint if the other side
    is a file. A diff reads from `source`, a, to `against`, b.
    """
    if _is_manager(source) and _is_manager(against):
        return diff(source, against)
    source_is_saved = _is_saved(source, beside=against)
    if source_is_saved == _is_saved(against, beside=source):
        return diff(source, against)
    return check(against, source) if source_is_saved else check(source, against)


def _is_saved(source: object, *, beside: object) -> bool:
    if _is_manager(source):
        return not _is_saved(beside, beside=None)
    if isinstance(source, ObjectGraph):
        return source.origin is Origin.SAVED
    return isinstance(source, (str, os.PathLike)) or is_snapshot(source)


def _is_manager(source: object) -> bool:
    from ckpt_viz.live.tensorflow_names.tensorflow_private import is_checkpoint_manager

    return "tensorflow" in sys.modules and is_checkpoint_manager(source)
