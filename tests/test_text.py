import sys
import unicodedata

from ckpt_viz.graphs.render.text import advice, summary
from ckpt_viz.ground.text import printable, printable_lines
from tests.support.graphs import graph, keras3_adam, named
from tests.support.payload_fixtures import graphs


def test_tree_shows_every_edge_once_and_points_to_the_place_of_a_node() -> None:
    assert keras3_adam().to_text("objects").splitlines() == [
        "test (saved checkpoint): 11 nodes: 5 object, 3 variable, 2 slot, 1 optimizer",
        "(root) #0 [object]",
        "├─ optimizer #1 [optimizer]",
        "│  ├─ _variables #3 [object]",
        "│  │  ├─ 0 → #5 optimizer.v5",
        "│  │  ├─ 1 → #9 momentum of layer.v7",
        "│  │  └─ 2 → #10 momentum of layer.bias",
        "│  ├─ _trainable_variables #4 [object]",
        "│  │  ├─ 0 → #7 layer.v7",
        "│  │  └─ 1 → #8 layer.bias",
        "│  ├─ v5 at _iterations #5 [variable] float32 5×2",
        "│  └─ _momentums #6 [object]",
        "│     ├─ 0 → #9 momentum of layer.v7",
        "│     └─ 1 → #10 momentum of layer.bias",
        "└─ layer #2 [object]",
        "   ├─ v7 at _kernel #7 [variable] float32 7×2",
        "   │  └─ momentum #9 [slot] float32 9×2 slot (list index)",
        "   └─ bias #8 [variable] float32 8×2",
        "      └─ momentum #10 [slot] float32 10×2 slot (list index)",
    ]


def test_circle_ends_in_an_arrow() -> None:
    assert graph({0: {"child": 1}, 1: {"parent": 0}}).to_text("objects").splitlines()[-3:] == [
        "(root) #0 [object]",
        "└─ child #1 [object]",
        "   └─ parent → #0 (root)",
    ]


def test_long_tree_is_cut_with_a_note() -> None:
    lines = graph({0: {str(i): i + 1 for i in range(1000)}}).to_text("objects").splitlines()
    assert len(lines) == 40
    assert lines[-1].startswith("…") and "cut" in lines[-1]


def test_names_neither_break_lines_nor_move_the_cursor() -> None:
    hostile = named(keras3_adam(), "<script>\n\x1b[2J\"'\u202e")
    for line in str(hostile).splitlines():
        assert not any(unicodedata.category(c) in ("Cc", "Cf") for c in line)
    assert len(str(hostile).split("\n")) == len(str(keras3_adam()).split("\n"))


def test_what_moves_a_cursor_or_starts_a_line_is_printed_as_its_escape() -> None:
    """Controls, marks of direction and joining, separators of lines, and lone surrogates."""
    invisible = ("Cc", "Cf", "Zl", "Zp", "Cs")
    characters = map(chr, range(sys.maxunicode + 1))
    signs = [sign for sign in characters if unicodedata.category(sign) in invisible]
    assert {"\r", "\x85", "\u202e", "\u2028", "\u2029", "\udcff"} <= {*signs}
    escapes = {sign: sign.encode("unicode_escape").decode() for sign in signs}
    assert {sign: printable(f"a{sign}b") for sign in signs} == {
        sign: f"a{escape}b" for sign, escape in escapes.items()
    }
    assert printable_lines("a\r\nb") == "a\\r\nb"


def test_the_summary_counts_what_is_trained_if_the_source_records_it() -> None:
    assert summary(graphs()["facts"]).endswith(
        "; parameters: 30 trained, 58 frozen, 24 never trained, 22 in no optimizer"
    )
    assert "parameters" not in summary(graphs()["keras3_adam"])


def test_variables_in_no_optimizer_are_named_with_what_to_do() -> None:
    (sentence,) = advice(graphs()["facts"])
    assert sentence == (
        "No optimizer has 1 variable, though one has others of the same model: model.added. "
        "A training leaves such variables as they are. "
        "To train all, make the optimizer after the last layer is built."
    )
    assert advice(graphs()["keras3_adam"]) == ()
