"""One changed byte in an archive, and a lost shard: all readers tell, and none takes a value."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.storage.zip_archive import member
from tests.hostile.seeds import DIRECTORY, seeds
from tests.support.counted import counted_reads

WEIGHTS = "model.weights.h5"


def sound() -> Path:
    return DIRECTORY / "keras_archive" / seeds()["keras_archive"].opened


def damaged(path: Path, to: Path, name: str = WEIGHTS, at: int | None = None) -> str:
    """Copy an archive with another byte in a stored member: `at`, or the last one of a value."""
    with zipfile.ZipFile(path) as archive:
        info, content = archive.getinfo(name), archive.read(name)
    if at is None:
        at = content.index(np.asarray(cv.graph(path).read("head.kernel")).tobytes()) + 3
    data = bytearray(path.read_bytes())
    sizes = struct.unpack_from("<HH", data, info.header_offset + 26)
    data[info.header_offset + 30 + sum(sizes) + at] ^= 0x40
    to.write_bytes(data)
    return str(to)


@pytest.fixture
def broken(tmp_path: Path) -> str:
    return damaged(sound(), tmp_path / "m.keras")


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_every_value_of_a_damaged_member_is_unreadable(broken: str) -> None:
    graph = cv.graph(broken)
    table = graph.values(progress=False)
    assert len(table.problems) == len(table) > 3
    assert all(f"{broken}: '{WEIGHTS}': found" in (row.error or "") for row in table)
    assert f"{WEIGHTS} in m.keras does not match its checksum" in str(table)
    result = run("values", broken)
    assert result.exit_code == 1 and "none of" in result.output
    assert run("values", sound()).exit_code == 0


def test_what_compares_a_damaged_file_says_nothing_of_its_values(broken: str) -> None:
    result = run("diff", "--values", sound(), broken)
    assert result.exit_code == 1
    assert "common values, which cannot be read:" in result.output
    assert "differs" not in result.output
    assert run("diff", "--values", sound(), sound()).exit_code == 0
    history = cv.history([str(sound()), broken])
    assert ": no variable can be compared." in history.headline
    assert " of " not in history.headline.rpartition("From ")[2]
    assert "→" not in str(history)


def test_verify_names_the_damaged_member(broken: str, tmp_path: Path) -> None:
    found = cv.graph(broken).verify(progress=False)
    assert {tensor.raises for tensor in found} == {"BadZipFile"}
    assert {tensor.key for tensor in found} == {*cv.graph(sound()).stored_in.entries}
    result = run("verify", broken)
    assert result.exit_code == 1
    assert f"damaged  {WEIGHTS} in m.keras does not match its checksum" in result.output
    config = cv.graph(damaged(sound(), tmp_path / "config.keras", "config.json", 20))
    (other,) = config.verify(progress=False)
    assert (other.key, other.name) == ("", None) and "'config.json': found" in other.why
    assert "config.json" in run("verify", tmp_path / "config.keras").output
    whole = cv.graph(sound()).verify(progress=False)
    assert not whole and whole.tensors > 3 and whole.nbytes > 1_000


_READERS: dict[str, Callable[[str, Path], object]] = {
    "read": lambda path, new: cv.graph(path).read("head.bias"),
    "average": lambda path, new: cv.average([sound(), path]).write(new),
    "write": lambda path, new: cv.graph(path).renamed({"head": "top"}).write(new),
    "npz": lambda path, new: cv.graph(path).to_npz(f"{new}.npz"),
    "merged": lambda path, new: cv.merged({"a": path}).write(new),
}


@pytest.mark.parametrize("reader", _READERS)
def test_no_reader_takes_a_value_out_of_a_damaged_member(
    reader: str, broken: str, tmp_path: Path
) -> None:
    with pytest.raises(CkptVizError, match=rf"'{WEIGHTS}': found .* copy the archive again"):
        _READERS[reader](broken, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["m.keras"]


def test_differences_and_histories_name_the_damage(broken: str) -> None:
    diff = cv.diff(str(sound()), broken, values=True, progress=False)
    assert "cannot be read" in str(diff) and WEIGHTS in str(diff)
    history = cv.history([sound(), broken], progress=False)
    assert history.alarms and WEIGHTS in history.headline


def test_a_damaged_configuration_costs_no_value(tmp_path: Path) -> None:
    graph = cv.graph(damaged(sound(), tmp_path / "m.keras", "config.json", 20))
    assert "config.json" in (graph.nodes[0].error or "")
    values = {row.key: row.l2 for row in cv.graph(sound()).values(progress=False)}
    assert {row.key: row.l2 for row in graph.values(progress=False)} == values


def test_a_member_is_read_whole_once_and_only_for_values(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "m.zip"
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("large", bytes(3_000_000))
    sizes = counted_reads(monkeypatch)
    tested = member(str(path), "large")
    assert sum(sizes) < 10_000 and tested.untested_bytes == 3_000_000
    pieces: list[int] = []
    tested.test(pieces.append)
    assert sum(pieces) == 3_000_000 and max(pieces) == 1 << 20
    before = sum(sizes)
    tested.test()
    assert sum(sizes) == before and tested.untested_bytes == 0
    damaged(path, path, "large", 2_000_000)
    with pytest.raises(CkptVizError, match="'large': found 3000000 bytes of checksum"):
        tested.test()


# --- as Keras does


def network(keras: Any) -> Any:
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((4,)), layers.Dense(8, name="hidden"), layers.Dense(3, name="head")]
    )
    model.compile(optimizer="adam", loss="mse", run_eagerly=True)
    model.fit(np.ones((4, 4), "float32"), np.ones((4, 3), "float32"), verbose=0)
    return model


def error_of(call: Callable[[], object]) -> tuple[str, str] | None:
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    return None


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_a_check_of_a_damaged_archive_raises_as_keras(package: str, tmp_path: Path) -> None:
    import tensorflow as tf

    keras: Any = pytest.importorskip(package)
    model = network(keras)
    model.save(tmp_path / "m.keras")
    path = damaged(tmp_path / "m.keras", tmp_path / "d.keras")
    for member_name, at in ((WEIGHTS, None), ("config.json", 20), ("metadata.json", 3)):
        path = damaged(tmp_path / "m.keras", tmp_path / "d.keras", member_name, at)
        load = cv.check_load_model(path, keras=keras)
        raised = error_of(partial(keras.models.load_model, path))
        assert (load.raises and (load.raises.type, load.raises.message)) == raised, member_name
        if raised is not None:
            assert member_name in load.findings[0].why and not load.code
        check = cv.check(model, path)
        raised = error_of(lambda path=path: model.load_weights(path))  # type: ignore[misc]
        assert (check.raises and (check.raises.type, check.raises.message)) == raised, member_name
        assert cv.check(model, path, verify=True).raises == check.raises
    path = damaged(tmp_path / "m.keras", tmp_path / "d.keras")
    for live in (model, tf.train.Checkpoint(model=model)):
        check = cv.check(live, path)
        assert [finding.kind.value for finding in check.findings] == ["damaged"]
        assert WEIGHTS in check.findings[0].why
        assert ("assert" in str(check)) is (live is not model)  # load_weights returns no status
        assert_refused(check, model)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_check_names_damage_that_keras_loads_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newer versions of Python test no checksum after a seek, and h5py seeks."""
    keras: Any = pytest.importorskip("keras")
    seek = zipfile.ZipExtFile.seek

    def untested(file: Any, offset: int, whence: int = 0) -> int:
        file._expected_crc = None
        return seek(file, offset, whence)

    monkeypatch.setattr(zipfile.ZipExtFile, "seek", untested)
    model = network(keras)
    model.save(tmp_path / "m.keras")
    path = damaged(tmp_path / "m.keras", tmp_path / "d.keras")
    assert error_of(partial(keras.models.load_model, path)) is None
    load, check = cv.check_load_model(path, keras=keras), cv.check(model, path)
    assert load.raises is None and WEIGHTS in " ".join(load.notes)
    assert check.raises is None
    assert [finding.kind.value for finding in check.findings] == ["damaged"]
    assert_refused(check, model)


def assert_refused(check: cv.RestoreCheck, model: Any) -> None:
    """Assert that the fix raises, and leaves the values of the model as they are."""
    before = [np.array(value) for value in model.get_weights()]
    with pytest.raises(CkptVizError, match=WEIGHTS):
        check.fix().apply()
    for was, now in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(was, now)


def in_shards(directory: Path) -> tuple[Any, Path]:
    """Return Keras, and the path of weights in several files."""
    keras: Any = pytest.importorskip("keras")
    path = directory / "m.weights.json"
    network(keras).save_weights(path, max_shard_size=200 / (1 << 30))
    return keras, path


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_values_of_a_missing_shard_are_named(tmp_path: Path) -> None:
    _, path = in_shards(tmp_path)
    assert run("values", path).exit_code == 0
    table = cv.graph(path).values(progress=False)
    holders = {str(cv.graph(path).stored_in.shard_of(row.key)): row for row in table}
    shard, row = max(holders.items())
    Path(shard).unlink()
    lost = cv.graph(path).values(progress=False)
    group = row.key.rpartition("/vars/")[0]
    assert f"{Path(shard).name} is missing" in str(lost) and group in str(lost)
    assert "all readable" not in str(lost)
    assert lost.to_json()["lost_files"][0]["files"] == [shard]
    result = run("values", path)
    assert result.exit_code == 1 and group in result.output


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_check_of_weights_without_a_shard_raises_what_keras_raises(tmp_path: Path) -> None:
    keras, path = in_shards(tmp_path)
    for shard in sorted(tmp_path.glob("*.h5")):  # the optimizer's values are in several
        hidden = shard.rename(tmp_path / "hidden")
        live = network(keras)
        check = cv.check(live, path)
        with pytest.raises((FileNotFoundError, ValueError)) as raised:
            live.load_weights(path)
        hidden.rename(shard)
        assert check.raises is not None and check.raises.type == raised.type.__name__
        assert str(raised.value).startswith(check.raises.message)
