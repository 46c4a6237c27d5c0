"""Names as evidence: words tell which of several equal parts belong together, letters do not."""

from __future__ import annotations

from ckpt_viz.graphs.nodes.name_evidence import paired_by_name


def paired(left: str, right: str) -> dict[str, str]:
    ours, theirs = left.split(), right.split()
    found = paired_by_name(*([name.split(".") for name in one] for one in (ours, theirs)))
    return {ours[i]: theirs[j] for i, j in found.items()}


def test_words_tell() -> None:
    assert paired("enc dec", "dec_net enc_net") == {"enc": "enc_net", "dec": "dec_net"}
    assert paired("gen dis", "Discriminator generator_1") == {
        "gen": "generator_1",
        "dis": "Discriminator",
    }
    assert paired("enc.cell dec.cell", "dec_net.cell enc_net.cell") == {
        "enc.cell": "enc_net.cell",
        "dec.cell": "dec_net.cell",
    }
    assert paired("gen gen_ema", "generator generator_ema") == {
        "gen": "generator",
        "gen_ema": "generator_ema",
    }


def test_words_that_fit_two_tell_nothing() -> None:
    assert paired("model ema", "ema_model net") == {}
    assert paired("q parts.target_q", "parts.q_net parts.z") == {}


def test_numbers_and_letters_tell_nothing() -> None:
    assert paired("dense dense_1", "dense_1 dense_2") == {}  # Keras counts from 0 again
    assert paired("ema net", "schema y") == {}
    assert paired("d q", "decoder query") == {}


def test_names_may_be_of_any_kind_and_length() -> None:
    assert paired("", "") == paired("a", "") == {}
    assert paired("é", "É_net") == {"é": "É_net"}
    deep = ".".join(["x"] * 50_000)
    assert paired(f"a.{deep} b.{deep}", f"a_1.{deep} b_1.{deep}") == {
        f"a.{deep}": f"a_1.{deep}",
        f"b.{deep}": f"b_1.{deep}",
    }
    many = " ".join(f"part{i}" for i in range(2000))
    assert paired(many, many) == {}
