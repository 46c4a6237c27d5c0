from ckpt_viz.render import payload
from tests import payload_fixtures
from tests.graphs import graph


def test_committed_fixtures_are_what_this_code_writes() -> None:
    stale = [
        path.name
        for path, data in payload_fixtures.files()
        if payload_fixtures.content(path, path.read_bytes()) != payload_fixtures.content(path, data)
    ]
    assert stale == [], "run `python -m tests.payload_fixtures`, then the TypeScript tests"


def test_same_graph_gives_the_same_bytes() -> None:
    edges = {0: {"a": 1, "b": 2}}
    assert payload.encode(graph(edges)) == payload.encode(graph(edges))


def test_ten_thousand_nodes_fit_in_a_megabyte() -> None:
    layers = 3333
    edges = {0: {f"layer_{i}": 1 + 3 * i for i in range(layers)}} | {
        1 + 3 * i: {"kernel": 2 + 3 * i, "bias": 3 + 3 * i} for i in range(layers)
    }
    variables = tuple(n for i in range(layers) for n in (2 + 3 * i, 3 + 3 * i))
    assert len(payload.encode(graph(edges, variables))) < 1_000_000
