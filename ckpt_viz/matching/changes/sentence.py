"""The sentence at the head of a check: what people did, worst first, in at most twenty words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ckpt_viz.ground.text import count
from ckpt_viz.matching.changes.deeds import Act, Deed
from ckpt_viz.matching.changes.phrases import Phrase, Phrases
from ckpt_viz.matching.correspondence.pairs import Certainty

MOST_WORDS = 20
MOST_CLAUSES = 3
# Each of these deeds needs its own clause.
_ALONE = frozenset({Act.FEWER, Act.MORE, Act.DTYPE, Act.SCOPE, Act.ROOT})


@dataclass(frozen=True, slots=True)
class _Clause:
    phrase: Phrase
    certainty: Certainty
    number: int  # of deeds

    @property
    def is_stated(self) -> bool:
        """Whether the clause is no question: none can be made of a whole clause."""
        return self.certainty is not Certainty.GUESS or self.phrase.clause != ""

    def is_done(self, *, by_person: bool) -> bool:
        return by_person and self.certainty is Certainty.CERTAIN and self.phrase.verb != ""


def sentence_of(deeds: Sequence[Deed], phrases: Phrases, *, by_person: bool, last: str = "") -> str:
    """Return deeds in a sentence and a question; the worst come first. "" for nothing.

    Args:
        deeds: What was done, the worst first.
        phrases: Puts it into words.
        by_person: Whether "you" did it, and not the writer of another file.
        last: A clause that follows all deeds if there is space, without what follows its colon if
            there is too little; "" for none.
    """
    groups: dict[object, list[Deed]] = {}
    for deed in phrases.with_namesakes(deeds):
        groups.setdefault(_key(deed), []).append(deed)
    _join_heads(groups, phrases)
    every = [*groups.values()]
    text = f"{_capital(last)}." if last else ""
    for number, names, has_tails, end in _lengths(len(every), last) if every else ():
        clauses = [
            _clause(group, replace(phrases, most=names), has_tails=has_tails)
            for group in every[:number]
        ]
        left = sum(map(len, every[number:]))
        has_room = number < MOST_CLAUSES and not left
        text = _text(clauses, left, end * has_room, by_person=by_person)
        if len(text.split()) <= MOST_WORDS:
            break
    return text


def reason_of(phrase: Phrase, certainty: Certainty) -> str:
    """Return a phrase as a sentence about the program, with what speaks against it."""
    doubt = ", but equal parts fit as well" if certainty is Certainty.GUESS else ""
    doubt = ", and nothing shows which" if phrase.question else doubt
    return f"{_capital(phrase.as_state(certainty))}{phrase.tail}{doubt}."


def _key(deed: Deed) -> object:
    """Return what the deeds of one clause have in common."""
    return deed.act, deed.certainty, deed if deed.act in _ALONE else None


def _lengths(groups: int, last: str) -> Iterator[tuple[int, int, bool, str]]:
    """Yield how many clauses, names in each list, tails and end to try, the longest text first."""
    numbers = range(min(groups, MOST_CLAUSES), 0, -1)
    ends = dict.fromkeys((last, last.partition(":")[0]))
    for most_names in ((3, 2), (1,)):
        for number, end, names in product(numbers, ends, most_names):
            yield from ((number, names, True, end), (number, names, False, end))


def _join_heads(groups: dict[object, list[Deed]], phrases: Phrases) -> None:
    """Make one deed of those that took away the last layers of a model and put others there."""
    removed, added = (_key(Deed(act)) for act in (Act.REMOVED, Act.ADDED))
    if removed in groups and added in groups:
        head = phrases.head_of(groups[removed], groups[added])
        if head is not None:
            both = [
                [head] if key == removed else group for key, group in groups.items() if key != added
            ]
            groups.clear()
            groups.update((_key(group[0]), group) for group in both)


def _clause(deeds: Sequence[Deed], phrases: Phrases, *, has_tails: bool) -> _Clause:
    phrase = phrases.of([*dict.fromkeys(deeds)])
    return _Clause(
        phrase if has_tails else replace(phrase, tail=""), deeds[0].certainty, len(deeds)
    )


def _text(clauses: Sequence[_Clause], left: int, last: str, *, by_person: bool) -> str:
    """Return clauses as a statement, and as questions where nothing but a person decides."""
    stated = [clause for clause in clauses if clause.is_stated]
    done = [clause for clause in stated if clause.is_done(by_person=by_person)]
    others = [clause for clause in stated if clause not in done]
    states = [clause for clause in others if not clause.phrase.question]
    unclear = [clause for clause in others if clause.phrase.question]  # before its question
    parts = [_state(clause) for clause in states]
    if done:
        is_alone = len(done) == 1 and not (others or last or left)
        at = len(parts) if stated[0] in states else 0
        parts.insert(at, f"you {_acts([clause.phrase for clause in done], is_alone=is_alone)}")
    parts += [last] if last else []
    parts += [count(left, "more change")] if left else []
    parts += map(_state, unclear)
    asked = [clause.phrase.question for clause in stated if clause.phrase.question]
    asked += [clause.phrase.as_question() for clause in clauses if clause not in stated]
    asked = [*dict.fromkeys(asked)]
    if not stated and left:
        asked, parts = [*asked, f"And {count(left, 'more change')}."], []
    return " ".join([*([f"{_capital(_joined(parts))}."] if parts else []), *asked])


def _state(clause: _Clause) -> str:
    phrase = clause.phrase
    return phrase.as_state(clause.certainty) + phrase.tail


def _acts(phrases: Sequence[Phrase], *, is_alone: bool) -> str:
    """Return what a person did; with a comma before the last act if any has an "and"."""
    first = phrases[0]
    if is_alone:
        return f"{first.verb} {first.alone or first.things + first.tail}"
    things: dict[str, list[str]] = {}
    for phrase in phrases:
        things.setdefault(phrase.verb, []).append(phrase.things)
    acts = [f"{verb} {' and '.join(same)}" for verb, same in things.items()]
    if len(acts) == 1:
        return acts[0]
    comma = "," if any(" and " in act for act in acts) else ""
    return f"{', '.join(acts[:-1])}{comma} and {acts[-1]}"


def _joined(clauses: Sequence[str]) -> str:
    """Return clauses as a list.

    >>> _joined(["you removed a", "b is larger"]), _joined(["a"])
    ('you removed a, and b is larger', 'a')
    """
    return ", and ".join([*([", ".join(clauses[:-1])] if clauses[1:] else []), *clauses[-1:]])


def _capital(text: str) -> str:
    """Return a sentence with a capital, unless it begins with a name of the program."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first in _BEGINNINGS or first.isdecimal() else text


_BEGINNINGS = ("you", "the", "one", "all", "another", "everything", "this")
