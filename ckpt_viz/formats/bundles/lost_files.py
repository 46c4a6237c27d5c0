"""Data files of a checkpoint that are missing, too short or closed, and what is lost with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.entries import Absence, Entry, Lack, raised_for
from ckpt_viz.formats.bundles.saver_v1 import SaverV1
from ckpt_viz.formats.storage.files import split
from ckpt_viz.formats.storage.zip_archive import BAD_ZIP, Member
from ckpt_viz.ground.text import count, first_clause, listed, size_words


@dataclass(frozen=True, eq=False)  # each is itself: its lists may be long
class LostFiles:
    """The data files of a checkpoint that lack bytes for one reason.

    `what` names the files and says what is wrong with them, `extent` how much is lost and what is
    left, `request` what to do, without a full stop. `raises` is the class of the error that reading
    one of the tensors raises in TensorFlow. `keys` are the tensors that cannot be read, with
    `nbytes` bytes in these files. In a V1 checkpoint, each file lists its own tensors, so these are
    only those with slices elsewhere. `left` counts the tensors of the checkpoint that can be read.
    """

    paths: tuple[str, ...]
    what: str
    extent: str
    request: str
    raises: str
    keys: tuple[str, ...] = ()
    nbytes: int = 0
    left: int = 0

    @property
    def holds_unknown(self) -> bool:
        """Whether the files have tensors that no other file lists."""
        return not self.nbytes

    @property
    def why(self) -> str:
        """The files, what is wrong with them and what is lost, without a full stop."""
        return f"{self.what}: {self.extent}"

    @property
    def remedy(self) -> str:
        """What to do, as a sentence."""
        return f"{self.request}."

    def __str__(self) -> str:
        return f"{self.why}. {self.remedy}"

    def to_json(self) -> dict[str, object]:
        """Return it as data for JSON."""
        lists = {"files": list(self.paths), "keys": list(self.keys)}
        words = {"why": self.why, "remedy": self.remedy, "raises": self.raises}
        return {**lists, "bytes": self.nbytes, **words}


@runtime_checkable
class Lacking(Protocol):
    """An open checkpoint that knows itself what it lacks."""

    def lost_files(self) -> tuple[LostFiles, ...]:
        """Return what it lacks, as `lost_files` does."""


def lost_files(stored: object) -> tuple[LostFiles, ...]:
    """Return what an open checkpoint lacks, by its index: an item for each reason.

    Compares the sizes of files with the index and reads nothing. The member of an archive is lost
    once a test has found damage.
    """
    if isinstance(stored, Lacking):
        return stored.lost_files()
    if isinstance(stored, SaverV1) and stored.missing:
        return (_of_v1(stored),)
    return _of_bundle(stored) if isinstance(stored, Bundle) else ()


def lost_member(member: Member, keys: Sequence[str], nbytes: int) -> tuple[LostFiles, ...]:
    """Return what is lost with the damaged member of an archive, which has all of some tensors."""
    if not member.damage:
        return ()
    return (
        LostFiles(
            (member.path,),
            f"{member.name} in {split(member.path)[1]} does not match its checksum",
            _extent(len(keys), nbytes, len(keys), 0),
            _request(Lack.SHORT, 1),
            BAD_ZIP,
            tuple(keys),
            nbytes,
        ),
    )


def missing_shards(paths: Sequence[str], groups: Sequence[str], left: int) -> LostFiles:
    """Return what is lost with missing shards of Keras, which hold the values of some groups."""
    are = "is" if len(paths) == 1 else "are"
    return LostFiles(
        tuple(paths),
        f"{listed([split(path)[1] for path in paths])} {are} missing",
        f"values of {listed(groups)} cannot be read, {count(left, 'tensor')} of the other files "
        "can",
        _request(Lack.MISSING, len(paths)),
        "FileNotFoundError",
        left=left,
    )


def _of_bundle(bundle: Bundle) -> tuple[LostFiles, ...]:
    ends: dict[int, Entry] = {}
    for _, part in _parts(bundle):
        if part.shard not in ends or _end(part) > _end(ends[part.shard]):
            ends[part.shard] = part
    lost = {shard: why for shard in sorted(ends) if (why := bundle.absence(ends[shard]))}
    absent: dict[Lack, list[tuple[str, Entry]]] = {}
    for key, part in _parts(bundle):
        if part.shard in lost and bundle.absence(part) is not None:
            absent.setdefault(lost[part.shard].lack, []).append((key, part))
    left = len(bundle.entries) - len({key for parts in absent.values() for key, _ in parts})
    shards = {lack: [n for n, shard in lost.items() if shard.lack is lack] for lack in absent}
    return tuple(
        _group(bundle, [ends[n] for n in shards[lack]], lost[shards[lack][0]], parts, left)
        for lack, parts in absent.items()
    )


def _group(
    bundle: Bundle,
    ends: Sequence[Entry],
    absence: Absence,
    parts: Sequence[tuple[str, Entry]],
    left: int,
) -> LostFiles:
    """Return the shards that lack bytes for one reason, given the last range of each."""
    paths = tuple(map(bundle.shard_path, ends))
    keys = tuple(dict.fromkeys(key for key, _ in parts))
    nbytes = sum(part.size for _, part in parts)
    return LostFiles(
        paths,
        _what(bundle, ends, paths, absence),
        _extent(len(keys), nbytes, len(bundle.entries), left),
        _request(absence.lack, len(paths)),
        raised_for(absence.why),
        keys,
        nbytes,
        left,
    )


def _parts(bundle: Bundle) -> Iterator[tuple[str, Entry]]:
    """Yield the stored ranges of each tensor: its own, or those of its slices."""
    for key, entry in bundle.entries.items():
        for part in bundle.parts[key] if entry.slices else (entry,):
            if part is not None:
                yield key, part


def _end(part: Entry) -> int:
    return part.offset + part.size


def _what(bundle: Bundle, ends: Sequence[Entry], paths: Sequence[str], absence: Absence) -> str:
    names = [split(path)[1] for path in paths]
    are = "is" if len(names) == 1 else "are"
    match absence.lack:
        case Lack.MISSING if 1 < len(names) == bundle.num_shards:
            return f"all {len(names)} data files are missing, such as {names[0]}"
        case Lack.MISSING:
            return f"{listed(names)} {are} missing"
        case Lack.POINTER:
            return f"{listed(names)} {are} only a pointer of Git LFS"
        case Lack.SHORT if len(names) == 1:
            return f"{names[0]} has {bundle.shard_bytes(ends[0]):,} of {_end(ends[0]):,} bytes"
        case Lack.SHORT:
            return f"{listed(names)} are too short"
        case Lack.DENIED:
            return f"{listed(names)} cannot be read (permission denied)"
        case Lack.UNREADABLE:
            return f"{listed(names)} cannot be read ({first_clause(absence.why)})"


def _request(lack: Lack, number: int) -> str:
    these, them = ("this file", "it") if number == 1 else ("these files", "them")
    match lack:
        case Lack.POINTER:
            return "Run `git lfs pull`"
        case Lack.MISSING:
            return f"Copy {these} from where the checkpoint came"
        case Lack.SHORT:
            return f"Copy {these} again from where the checkpoint came"
        case Lack.DENIED:
            return f"Ask the file's owner for the permission to read {them}, or open a copy"
        case Lack.UNREADABLE:
            return f"Try again, or copy {these} from where the checkpoint came"


def _extent(lost: int, nbytes: int, every: int, readable: int) -> str:
    if lost == every:
        return f"none of {count(every, 'tensor')} ({size_words(nbytes)}) can be read"
    return (
        f"{lost} of {count(every, 'tensor')} ({size_words(nbytes)}) cannot be read, {readable} can"
    )


def _of_v1(stored: SaverV1) -> LostFiles:
    keys = tuple(key for key in stored.entries if stored.why_unreadable(key) is not None)
    names = [split(path)[1] for path in stored.missing]
    are, its = ("is", "its") if len(names) == 1 else ("are", "their")
    part = f", with slices of {count(len(keys), 'tensor')} here" if keys else ""
    rest = len(stored.entries) - len(keys)
    return LostFiles(
        stored.missing,
        f"{listed(names)} {are} missing",
        f"{its} tensors are unknown{part}; {count(rest, 'tensor')} of the other files can be read",
        _request(Lack.MISSING, len(names)),
        "NotFoundError",
        keys,
        left=rest,
    )


def lost_by_key(lost: Sequence[LostFiles]) -> Mapping[str, LostFiles]:
    """Return what is wrong by the key of each tensor that cannot be read; the first, if several."""
    return {key: files for files in reversed(lost) for key in files.keys}
