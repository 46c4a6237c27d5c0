"""The seven laws of a restore: each returns how a journey breaks it, or None if it claims nothing.

TensorFlow, Keras and NumPy say what has happened; the check and the fix must say the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.matching.changes.kind import Kind
from tests.journeys.files import ITERATIONS, LEARNING_RATE, SAVE_COUNTER
from tests.journeys.journeys import COUNTED_ON, IN_MODEL, NOTHING
from tests.journeys.walk import UNKNOWN, Done, Life, Walked
from tests.programs.keras_making import Key

_ALARMING = (Severity.ERROR, Severity.FAIL, Severity.WARNING)
_PLAIN_CALLS = re.compile(r"\.(load_weights|restore|read)\(")
_OTHER_CALLS = re.compile(r"tf\.train\.Checkpoint\(|assign\(|Saver\(|h5py")
_MOST_FACTS = 4
_APPLY, _CODE = "apply()", "the code"
_COUNTERS = ("save_counter", "optimizer")  # what a kind of file need not have


class Break(NamedTuple):
    """How a law is broken: a sentence that is the same on all journeys, and the facts of this."""

    kind: str
    facts: str = ""


Breaks = Iterator[Break]


def breaks_of(law: str, walked: Walked) -> list[Break] | None:
    """Return how a journey breaks a law, each kind once; None if the law says nothing of it."""
    if law == PROGRAM and walked.journey.edit not in (NOTHING, COUNTED_ON):
        return None
    if walked.refused is not None:
        if walked.journey.file == "assignment map" and not isinstance(walked.check, Exception):
            # Its fix would be another map: docs/restore_check.md has it that there is none.
            return _joined(LAWS[law](walked)) if law in _WITHOUT_FIX else None
        return [Break("cv.check() refuses the journey", walked.refused)]
    return _joined(LAWS[law](walked))


def _joined(breaks: Breaks) -> list[Break]:
    """Return the first break of each kind; what holds of `apply()` and of the code, once."""
    by_kind = {one.kind: one for one in reversed([*breaks])}
    for kind, one in [*by_kind.items()]:
        twin = kind.replace(_APPLY, _CODE)
        if _APPLY in kind and twin in by_kind:
            del by_kind[kind], by_kind[twin]
            both = kind.replace(_APPLY, "the fix")
            by_kind[both] = one._replace(kind=both)
    return [by_kind[kind] for kind in sorted(by_kind)]


def _named(keys: Iterable[Any]) -> str:
    names = sorted("/".join(key) if isinstance(key, tuple) else str(key) for key in keys)
    more = len(names) - _MOST_FACTS
    return ", ".join(names[:_MOST_FACTS]) + (f" and {more} more" if more > 0 else "")


def _if(kind: str, keys: Iterable[Any]) -> Breaks:
    names = _named(keys)
    if names:
        yield Break(kind, names)


# --- 1


def complete(walked: Walked) -> Breaks:
    """Each value of either side is in one row; each count is one of values."""
    fix = walked.fix
    waiting = {
        key
        for finding in walked.findings
        if finding.kind.value == "deferred"
        for node in finding.nodes
        for key in walked.saved_keys.get(node, ())
    }
    rows = {key: (key in fix.pairs) + (key in fix.unused) for key in walked.content}
    nowhere = [key for key, number in rows.items() if not number and key not in waiting]
    counters = [key for key in nowhere if walked.content[key] == SAVE_COUNTER]
    yield from _if(
        "a saved value is neither restored nor left out by the fix",
        (key for key in nowhere if key not in counters),
    )
    yield from _if("the fix says nothing of the save_counter", counters)
    yield from _if(
        "a saved value is both restored and left out by the fix",
        (key for key, number in rows.items() if number > 1),
    )
    filled = _keys_of_names(walked, fix.pairs.values())
    kept = _keys_of_names(walked, fix.missing)
    waits = {
        walked.live_keys.get(obj)
        for finding in walked.findings
        if finding.kind.value == "deferred"
        for obj in finding.objects
    }
    every = {*walked.live_names.values()}
    if walked.journey.file in IN_MODEL and LEARNING_RATE not in walked.content.values():
        every.discard(LEARNING_RATE)  # Keras 2 neither saves nor loads the rate
    yield from _if(
        "a live value neither gets a value by the fix nor keeps its own",
        every - filled - kept - waits,
    )
    yield from _if("a live value both gets a value by the fix and keeps its own", filled & kept)
    yield from _counts(walked)


def _keys_of_names(walked: Walked, names: Iterable[str]) -> set[Key]:
    return {walked.live_names[name] for name in names if name in walked.live_names}


def _counts(walked: Walked) -> Breaks:
    """Compare the counts in outputs.

    Whether they count the `save_counter` is open, and a value that goes to two objects.
    """
    assert walked.applied is not None
    told = re.search(r"restores (nothing|\d+)", str(walked.fix))
    if told and walked.applied.error is None:
        said = 0 if told[1] == "nothing" else int(told[1])
        kind = "the fix counts other values than it restores"
        yield from _differs(kind, said, walked.applied.places.values())
    if walked.check.saved is None:
        return
    parts = walked.check.coverage
    kind = "the coverage counts other values than the file has"
    there = [key or UNKNOWN for key in walked.content.values()]
    yield from _differs(kind, sum(part.saved.values for part in parts), there)
    if walked.plain.error is None:
        filled = walked.plain.places.values()
        kind = "the coverage counts other values than the plain call sets"
        yield from _differs(kind, sum(part.filled.values for part in parts), filled)
        sets = re.search(r"sets (\d+) of", str(walked.check))
        kind = "the text counts other values than the plain call sets"
        yield from _differs(kind, int(sets[1]), filled) if sets else ()


def _differs(kind: str, said: int, sources: Iterable[Key | None]) -> Breaks:
    every = [key for key in sources if key is not None]
    others = [key for key in every if key != SAVE_COUNTER]
    numbers = {len(every), len(others), len({*every}), len({*others})}
    if said not in numbers:
        yield Break(kind, f"{said}, not {' or '.join(map(str, sorted(numbers)))}")


# --- 2


def never_less(walked: Walked) -> Breaks:
    """The fix puts each value where the plain call puts it rightly; if all is right, it is it."""
    assert walked.applied is not None and walked.coded is not None
    sources, plain = walked.truth.sources, walked.plain.places
    right = [key for key, source in sources.items() if source and plain.get(key) == source]
    for done, words in ((walked.applied, _APPLY), (walked.coded, _CODE)):
        if done.error is not None:
            yield Break(f"{words} raises", ": ".join(done.error)[:120])
            continue
        missed = [key for key in right if done.places.get(key) != sources[key]]
        weights = [key for key in missed if key != SAVE_COUNTER]
        yield from _if(f"{words} leaves out what the plain call sets", weights)
        if SAVE_COUNTER in missed:
            yield Break(f"{words} leaves out the save_counter, which the plain call sets")
    if walked.plain.error is None and not _alarms(walked) and _is_same(walked):
        yield from _other_code(walked, "a clean check has another fix than the plain call")


def _is_same(walked: Walked) -> bool:
    """Return whether the fix has no value to restore that the plain call leaves out."""
    assert walked.applied is not None
    plain = walked.plain.places
    return all(plain.get(key) == s for key, s in walked.applied.places.items() if s is not None)


def _alarms(walked: Walked) -> list[Any]:
    return [finding for finding in walked.findings if finding.severity in _ALARMING]


def _other_code(walked: Walked, kind: str) -> Breaks:
    code = "\n".join(line for line in walked.fix.code.splitlines() if not line.startswith("#"))
    if not _PLAIN_CALLS.search(code) or _OTHER_CALLS.search(code):
        yield Break(kind, next((line for line in code.splitlines() if line), "no code"))


# --- 3


def the_program_that_wrote_the_file(walked: Walked) -> Breaks:
    """The unchanged program: all is here, the fix is the plain call, and again after it."""
    check = walked.check
    if walked.plain.error is not None or check.raises is not None:
        error = walked.plain.error or (check.raises.type, check.raises.message)
        yield Break("the plain call raises, or the check says that it does", ": ".join(error)[:120])
        return
    unsaved = {key for key in walked.saved if key not in walked.content.values()}
    if not unsaved:
        alarms = [f"{f.kind.value}: {f.why}" for f in _alarms(walked)]
        if alarms:
            yield Break("the check warns", alarms[0])
    if walked.fix is None or isinstance(walked.fix, Exception):
        return
    filled = {key for key, source in walked.plain.places.items() if source is not None}
    kept = _keys_of_names(walked, walked.fix.missing)
    yield from _if("the fix keeps live values that the plain call sets", kept & filled)
    yield from _if("the fix calls values guesses", walked.fix.guesses)
    if not unsaved:
        yield from _if("the fix leaves saved values out", walked.fix.unused)
        if _is_same(walked):
            yield from _other_code(walked, "the fix is another call than the plain one")
    assert walked.applied is not None
    if walked.applied.error is None and not unsaved:
        again = [f for f in walked.again.findings if f.severity in _ALARMING]
        if again and not _alarms(walked):
            yield Break("the check of the restored program warns", again[0].why)


# --- 4

_NOT_IN_FILE = re.compile(
    r"(the checkpoint has none for|has no weights for|The file has no(?!.*, but has)"
    r"|The checkpoint lacks|Train them, or set|Save the weights again)"
)
_NOT_IN_PROGRAM = re.compile(
    r"(No object of the model takes|If you removed the part|has no place for|has no child)"
)
_NOT_HELD, _NOT_LOST = "no checkpoint holds", "no trained value is lost"
_NONE_FOR, _NO_PLACE = "the checkpoint has none for", "the program has no place for"
_NO_CODE = "no code restores"
_OTHER_MEANING = "a plain restore would put a value of another name or meaning into"


def one_reason(walked: Walked) -> Breaks:
    """No output says that a side lacks what it has, and none contradicts what happened."""
    yield from _errors(walked)
    yield from _lacks(walked)
    if walked.fix is not None and not isinstance(walked.fix, Exception):
        yield from _of_fix(walked)


def _errors(walked: Walked) -> Breaks:
    raises, error = walked.check.raises, walked.plain.error
    if (raises and raises.type) != (error and error[0]):
        kind = "the check and the plain call disagree whether it raises"
        yield Break(kind, f"{raises and raises.type}, not {error and error[0]}")
        return
    if raises is None:
        return
    errors = [f for f in walked.check.findings if f.severity is Severity.ERROR]
    if "shape" in raises.message and not any(_speaks_of(f, "shape", "size") for f in errors):
        yield Break(
            "the error is about a shape, and no finding of it is",
            errors[0].why if errors else "no finding is an error",
        )


def _speaks_of(finding: Any, *words: str) -> bool:
    return any(
        any(word in f"{one.kind.value} {one.why}" for word in words) for one in finding.all()
    )


def _lacks(walked: Walked) -> Breaks:
    """Find sentences that say a side lacks something, about what this side has."""
    sources, there = walked.truth.sources, {*walked.content.values()}
    unclear, tracked = walked.truth.open, {*walked.live_keys.values()}
    in_file = {key for key in sources if key in there and key not in unclear}
    for finding in walked.findings:
        text = f"{finding.why} {finding.remedy}"
        objects = _live_in(walked, finding)
        if _NOT_IN_FILE.search(text) and objects and objects <= in_file:
            yield Break("a finding says that the file lacks what it has", text)
        saved = {walked.content.get(key) for key in _saved_in(walked, finding)} - {None}
        live = (saved & sources.keys()) - unclear
        if _NOT_IN_PROGRAM.search(text) and saved and saved == live:
            yield Break("a finding says that the program lacks what it has", text)
        is_untracked = _NOT_HELD in finding.why.lower() and _NOT_LOST not in finding.why
        untracked = [k for k in in_file if k not in tracked and k[0] not in _COUNTERS]
        if is_untracked and untracked:
            yield Break("a finding says that no checkpoint holds what this one holds", finding.why)


def _of_fix(walked: Walked) -> Breaks:
    assert walked.applied is not None
    yield from _of_texts(walked, str(walked.fix), "the fix")
    if walked.applied.error is None:
        raises = walked.fix.check.raises
        kind = "fix.check says that the restore raises, and apply() has worked"
        yield from [Break(kind, raises.message)] if raises is not None else ()
        again = _left_out_texts(walked)
        if again is not None:
            yield from _of_texts(walked, again, "the fix after the restore")


def _left_out_texts(walked: Walked) -> str | None:
    try:
        return str(walked.again.fix())
    except Exception:
        return None


def _of_texts(walked: Walked, text: str, which: str) -> Breaks:
    """Find lines of a fix's text that are not true: the number in each is compared."""
    assert walked.applied is not None
    truth, plain, there = walked.truth, walked.plain.places, {*walked.content.values()}
    kept = [key for key in walked.live_names.values() if walked.applied.places.get(key) is None]
    absent = {key for key in kept if key not in there or key in truth.open}
    unknown = [name for name in walked.fix.missing if name not in walked.live_names]
    left = [walked.content.get(key) for key in walked.fix.unused]
    restored = {*walked.applied.places.values()}  # a file of Keras may have a value twice
    homeless = [k for k in left if k not in truth.sources or k in truth.open or k in restored]
    set_by_plain = [k for k, source in truth.sources.items() if source and plain.get(k) == source]
    astray = [k for k, source in plain.items() if source and source != truth.sources.get(k)]
    for line in text.splitlines():
        number = int(match[1]) if (match := re.match(r"\s*(\d+) value", line)) else 0
        if _OTHER_MEANING in line and number > len(astray):
            kind = f"{which} says that a plain restore gives a value of another meaning"
            yield Break(kind, line.strip())
        if _NO_CODE in line and set_by_plain:
            yield Break(
                f"{which} says that no code restores what the plain call sets", line.strip()
            )
        if _NONE_FOR in line and number > len(absent) + len(unknown):
            yield Break(f"{which} says that the file lacks what it has", line.strip())
        if _NO_PLACE in line and number > len(homeless):
            yield Break(f"{which} says that the program lacks what it has", line.strip())


# --- 5


def equal_is_certain(walked: Walked) -> Breaks:
    """An equal path or name with an equal shape is restored, and nothing is guessed unasked.

    What the call itself puts into its place is certain, too. Where a file without names has another
    number of layers, the fix follows the call, and a warning says that only the order tells.
    """
    truth = walked.truth
    reachable = {*walked.live_keys.values()} - {SAVE_COUNTER}  # of which other laws speak
    for done, words in ((walked.applied, _APPLY), (walked.coded, _CODE)):
        assert done is not None
        if done.error is not None:
            yield Break(f"{words} raises", ": ".join(done.error)[:120])
            continue
        left = [k for k in truth.certain & reachable if done.places.get(k) is None]
        yield from _if(f"{words} leaves out a value of an equal path or name", left)
        wrong = [key for key, source in done.places.items() if not _is_allowed(walked, key, source)]
        yield from _if(f"{words} puts a value into a wrong place", wrong)


def _is_allowed(walked: Walked, key: Key, source: Key | None) -> bool:
    truth = walked.truth
    if source is None or source == truth.sources.get(key):
        return True
    told = _told_by_order(walked)
    if key in told and walked.plain.places.get(key) in (source, None):  # None: it raises before
        return True
    if key[:-1] in told and source[:-1] == walked.plain.places.get(key[:-1]):
        return True  # a slot variable goes with its variable
    if source == UNKNOWN or key not in truth.open:
        return False
    is_counter = key[0] == source[0] == "optimizer"  # of the optimizer around another one
    return is_counter or source == walked.plain.places.get(key)


def _told_by_order(walked: Walked) -> set[Key]:
    """Return the live values of which a warning says that only the order of layers tells them."""
    warnings = (
        finding
        for finding in walked.findings
        if finding.kind is Kind.UNKNOWABLE and finding.severity is Severity.WARNING
    )
    return {key for finding in warnings for key in _live_in(walked, finding)}


# --- 6


def nothing_silent(walked: Walked) -> Breaks:
    """Each value that is not in its place after the fix is in a finding."""
    done = walked.applied
    assert done is not None
    if done.error is not None:
        yield Break("apply() raises", ": ".join(done.error)[:120])
        return
    placed = {*done.places.values()}
    told = {key for finding in walked.findings for key in _saved_in(walked, finding)}
    silent = [
        key for key, saved in walked.content.items() if saved not in placed and key not in told
    ]
    counter = [key for key in silent if walked.content[key] == SAVE_COUNTER]
    yield from _if(
        "a saved value that the fix does not restore is in no finding, but is left out",
        (key for key in silent if key in walked.fix.unused and key not in counter),
    )
    yield from _if(
        "a saved value that the fix does not restore is named nowhere",
        (key for key in silent if key not in walked.fix.unused and key not in counter),
    )
    if counter:
        yield Break("the fix does not restore the save_counter, and no finding names it")
    named = {key for finding in walked.findings for key in _live_in(walked, finding)}
    kept = [key for key, source in done.places.items() if source is None and key not in named]
    tracked = {*walked.live_keys.values()}
    sentences = " ".join(f"{f.why} {f.live}" for f in walked.findings)
    yield from _if(
        "a live value that keeps its own is in no finding",
        (key for key in kept if key in tracked and key != SAVE_COUNTER),
    )
    if not re.search(r"track|list|hold|blocks", sentences):
        yield from _if(
            "a live value that TensorFlow does not track is in no finding",
            (key for key in kept if key not in tracked and key[0] not in _COUNTERS),
        )


def _saved_in(walked: Walked, finding: Any) -> set[str]:
    """Return the keys of the saved values in a finding: its own, or all below the parts in it."""
    if walked.saved_graph is None:
        return set()
    nodes = _with_values_below(walked.saved_graph, finding.nodes, walked.saved_keys)
    return {key for node in nodes for key in walked.saved_keys[node]} | {finding.saved or ""}


def _live_in(walked: Walked, finding: Any) -> set[Key]:
    objects = _with_values_below(walked.check.live, finding.objects, walked.live_keys)
    named = {walked.live_names[finding.live]} if finding.live in walked.live_names else set()
    return {walked.live_keys[obj] for obj in objects} | named


def _with_values_below(graph: Any, nodes: Iterable[int], valued: Mapping[int, Any]) -> set[int]:
    chosen = {*nodes}
    own = chosen & valued.keys()
    if own or not chosen:
        return own
    return {node for node in valued if not chosen.isdisjoint(_parents(graph, node))}


def _parents(graph: Any, node: int) -> Iterator[int]:
    while node in graph.first_edges:
        node = graph.first_edges[node][0]
        yield node


# --- 7


def life_goes_on(walked: Walked) -> Breaks:
    """After the fix the program counts, trains and saves on as after a plain restore."""
    for life, done, words in (
        (walked.applied_life, walked.applied, _APPLY),
        (walked.coded_life, walked.coded, _CODE),
    ):
        assert life is not None and done is not None
        if life.error is not None:
            facts = ": ".join(life.error)[:120]
            yield Break(f"after {words} the program cannot train or save", facts)
        if life.overwritten:
            yield Break(f"after {words} the next save replaces a file", _named(life.overwritten))
        yield from _counters(walked, life, done, words)


def _counters(walked: Walked, life: Life, done: Done, words: str) -> Breaks:
    if life.counter is not None:
        expected = int(walked.saved[SAVE_COUNTER])
        if life.counter != expected:
            facts = f"{life.counter}, not {expected}"
            yield Break(f"after {words} the save_counter is that of no plain restore", facts)
    if ITERATIONS in done.places and ITERATIONS in walked.plain.places:
        plain = walked.plain.places[ITERATIONS]
        is_here = ITERATIONS in walked.truth.certain or plain == ITERATIONS
        if is_here and done.places[ITERATIONS] != ITERATIONS:
            yield Break(f"after {words} the optimizer counts its steps anew")


PROGRAM = "The program that wrote the file"
LAWS: Mapping[str, Callable[[Walked], Breaks]] = {
    "Complete": complete,
    "Never less": never_less,
    PROGRAM: the_program_that_wrote_the_file,
    "One reason": one_reason,
    "Equal is certain": equal_is_certain,
    "Nothing silent": nothing_silent,
    "Life goes on": life_goes_on,
}
_WITHOUT_FIX = (PROGRAM, "One reason")
