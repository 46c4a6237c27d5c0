"""Python code for a restore: imports, one call, the strongest assert that holds, and what is left.

Its free names are `ckpt`, the live object that was checked, and `path`, the checkpoint's prefix.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import getattr_static

from ckpt_viz.answers.dry_runs.verdicts import Verdicts
from ckpt_viz.answers.restore_fix.left_out import LeftOut
from ckpt_viz.answers.short_code.comprehensions import loops
from ckpt_viz.answers.short_code.loops import KeyedExpression, in_lines
from ckpt_viz.answers.short_code.objects_in_code import expression_of
from ckpt_viz.answers.short_code.skeleton import Skeleton, making
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.expressions import quoted
from ckpt_viz.ground.text import printable
from ckpt_viz.live.objects.layer_lists import layer_lists
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.matching.correspondence.conversions import IN_PART, Conversion, Form

CKPT = "ckpt"  # the name of the checked object in the code
TO_WRITE_FIRST = """\
# No file has these values. fix.apply() restores them; this code reads a file:
#   path = {source}.write("before")

"""
_CHECKED = (
    "for variable, value in values:",
    "    assert value.dtype == tf.as_dtype(variable.dtype), variable",
    "    assert value.shape.is_compatible_with(variable.shape), variable",
)
ASSIGNED = ("for variable, value in values:", "    variable.assign(value)")
_MOST_LISTED = 5  # names in a comment


@dataclass(frozen=True)
class Steps:
    """A restore in two steps: the values that only objects restore, and the variables.

    Attributes:
        keys: The checkpoint key of each variable.
        parts: Checkpoints of everything else, such as tables.
        conversions: How the values of some variables change their form.
    """

    keys: Mapping[int, str]
    parts: Sequence[Skeleton] = ()
    conversions: Mapping[int, Conversion] = field(default_factory=dict)


def restoring(
    skeleton: Skeleton,
    beside: Mapping[int, str],
    live: Graph,
    method: str,
    verdicts: Verdicts,
    left: LeftOut,
    source: str,
    path: str,
    reader: str,
) -> str:
    """Return the code that restores into a skeleton of live objects.

    `beside` has the checkpoint keys of variables that are no part of it.
    """
    call = f"{method}({path})"
    if skeleton == Skeleton(ROOT) and restores_by_itself(live, method):
        is_managed = tf_private.is_checkpoint_manager(live.source)
        own = f"{source}.checkpoint" if is_managed else source
        lines, after = [f"status = {own}.{call}"], list(comments(left))
    else:
        made = making(skeleton, live, source, "restored")
        lines = ["import tensorflow as tf", "", *made, f"status = restored.{call}"]
        after = [*_of_file(live, source), *comments(left)]
    lines.append(f"status.{strongest_assert(verdicts)}()")
    if beside:
        lines.append(f"reader = {reader}")
    for obj, key in beside.items():
        value = f"reader.get_tensor({quoted(key)})"
        lines.append(f"{expression_of(live, obj, source)}.assign({value})")
    return "\n".join([*lines, *after]) + "\n"


def reading(prefix: str, path: str) -> str:
    """Return code that opens a checkpoint; `path` is the code's expression for its prefix."""
    # load_checkpoint takes a prefix that ends with a slash for a directory.
    is_directory = prefix.endswith(("/", os.sep))
    call = "compat.v1.train.NewCheckpointReader" if is_directory else "train.load_checkpoint"
    return f"tf.{call}({path})"


def restoring_nothing(left: LeftOut) -> str:
    """Return comments alone, for a checkpoint none of whose values has a sure place."""
    title = "# No value of the checkpoint has a sure place in the program."
    return "\n".join([title, *comments(left)]) + "\n"


def restores_by_itself(live: Graph, method: str) -> bool:
    """Return whether the checked object is a checkpoint with this method, or a file for one."""
    source = live.source
    if source is None or tf_private.is_checkpoint_manager(source):
        return True
    return getattr_static(type(source), method, None) is not None


def assigning(steps: Steps, live: Graph, left: LeftOut, source: str, path: str, reader: str) -> str:
    """Return the code that assigns values one by one, and restores what is no variable.

    It reads and compares everything before it changes the first object.
    """
    lines = ["import tensorflow as tf", ""]
    for skeleton in steps.parts:
        lines += making(skeleton, live, source, "restored")
        lines.append(f"restored.read({path}).assert_existing_objects_matched()")
    if steps.keys:
        loading = [f"reader = {reader}", *_loading(steps, live, source), *_CHECKED]
        numpy, helper = needed_by(steps.conversions.values())
        lines = [*numpy, *lines[:2], *helper, *loading, *lines[2:], *ASSIGNED]
    after = [*_of_file(live, source), *comments(left)]
    return "\n".join([*lines, *after]) + "\n"


def _loading(steps: Steps, live: Graph, source: str) -> Iterator[str]:
    """Yield the code that reads all values, those of each conversion together."""
    by_conversion: dict[Conversion | None, list[KeyedExpression]] = {}
    for obj, key in sorted(steps.keys.items(), key=lambda item: item[0] in steps.conversions):
        read = KeyedExpression(expression_of(live, obj, source), key)
        by_conversion.setdefault(steps.conversions.get(obj), []).append(read)
    layers = partial(layer_lists, live, source) if live.origin is Origin.LIVE else None
    for group, (conversion, reads) in enumerate(by_conversion.items()):
        value = "reader.get_tensor(key)"
        value = value if conversion is None else conversion.code(value)
        keys, becomes = ("converted", "+=") if group else ("values", "=")
        yield f"{keys} = ["
        yield from (f"    {line}" for line in in_lines(loops(reads, layers)))
        yield "]"
        is_cast = conversion is not None and conversion.is_cast
        made = f"tf.cast({value}, variable.dtype)" if is_cast else f"tf.constant({value})"
        yield f"values {becomes} [(variable, {made}) for variable, key in {keys}]"


def needed_by(conversions: Collection[Conversion]) -> tuple[list[str], list[str]]:
    """Return the import of NumPy and the function that the code of some conversions calls."""
    is_in_part = any(conversion.form is Form.PART for conversion in conversions)
    needs_numpy = is_in_part or any("np." in conversion.code("") for conversion in conversions)
    numpy = ["import numpy as np"] if needs_numpy else []
    return numpy, [*IN_PART.splitlines(), ""] if is_in_part else []


def strongest_assert(verdicts: Verdicts) -> str:
    """Return the strongest method of a status that passes."""
    if verdicts.consumed is None:
        return "assert_consumed"
    if verdicts.existing is None:
        return "assert_existing_objects_matched"
    return "expect_partial"


def _of_file(live: Graph, source: str) -> Iterator[str]:
    """Yield a comment on what a file in place of the program does not tell."""
    if live.origin is not Origin.LIVE:
        yield f"# {source} is the checkpoint of the program that saved this file:"
        yield f"#   {printable(live.title)}"
        yield f"# Write {source}.part['name'] for {source}.part.name where part is a dictionary."


def comments(left: LeftOut) -> Iterator[str]:
    """Yield comments on what a restore leaves out, and why."""
    for reason, values in left.values.items():
        lines = (f"{value.name}: {value.key}" if value.key else value.name for value in values)
        yield from listed_in_comment(reason.title, dict.fromkeys(lines))
    yield from listed_in_comment(
        "TensorFlow does not track these; pass them to tf.train.Checkpoint:", left.untracked
    )
    yield from listed_in_comment(
        f"These are guesses, and left out; {left.accepting} uses the first place of each:",
        (f"{guess.name} may belong to {guess.places}: {guess.key}" for guess in left.guesses),
    )


def listed_in_comment(title: str, names: Iterable[str]) -> Iterator[str]:
    """Yield a comment with a title and the first of some names."""
    listed = [printable(name) for name in names]
    if listed:
        yield f"# {title}"
        yield from (f"#   {name}" for name in listed[:_MOST_LISTED])
        if len(listed) > _MOST_LISTED:
            yield f"#   and {len(listed) - _MOST_LISTED} more"
