"""metapath2vec++ walks along metapaths and tells a node apart from nodes of its own type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import pine
from pine import Graph, InputError
from pine.baselines import DeepWalk
from pine.baselines.metapath2vec import Metapath2Vec, linked_types
from pine.evaluation import evaluate
from pine.evaluation.variants import Variant

QUICK: dict[str, Any] = {"walks": 5, "length": 20, "dim": 16}


def cosine(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x / np.linalg.norm(x, axis=1, keepdims=True)) @ (y / np.linalg.norm(y, axis=1, keepdims=True)).T


def two_fields(order: tuple[str, ...] = ("author", "term")) -> Graph:
    """Authors of two fields with the terms of their field, an author and a term that nothing links, and coauthors."""
    rng = np.random.default_rng(0)
    uses = [(f"a{i}", f"t{j}") for i in range(20) for j in range(20) if i % 2 == j % 2 and rng.random() < 0.5]
    coauthors = [(f"a{i}", f"a{(i + 2) % 20}") for i in range(20)]
    nodes = {"author": [f"a{i}" for i in range(21)], "term": [f"t{i}" for i in range(21)]}
    return Graph.from_relations(
        {("author", "uses", "term"): uses, ("author", "with", "author"): coauthors},
        nodes={type: nodes[type] for type in order},
    )


@pytest.mark.parametrize("order", [("author", "term"), ("term", "author")])
@pytest.mark.parametrize("metapaths", [None, (("author", "term", "author"),), (("term", "author", "author", "term"),)])
def test_nodes_of_one_field_fall_together_whatever_their_type_and_its_order(order, metapaths):
    graph = two_fields(order)
    assert graph.node_types == order
    embedding = Metapath2Vec(dim=16, walks=40, metapaths=metapaths).fit(graph).embedding_
    field = np.arange(20) % 2
    same = field[:, None] == field
    for one, other in (("author", "author"), ("author", "term"), ("term", "term")):
        near = cosine(embedding[one][:20], embedding[other][:20])
        assert near[same].mean() > near[~same].mean() + 0.3
    assert all(vectors.shape == (21, 16) and np.isfinite(vectors).all() for vectors in embedding.values())


def test_the_metapaths_of_none_are_all_pairs_of_linked_types():
    relations = {
        ("author", "writes", "paper"): [(0, 0)],
        ("paper", "read by", "author"): [(0, 0)],
        ("paper", "cites", "paper"): [(0, 1)],
        ("venue", "prints", "paper"): [(0, 0)],
    }
    found = linked_types(Graph.from_relations(relations))
    assert found == [("author", "paper", "author"), ("paper", "paper"), ("paper", "venue", "paper")]
    assert linked_types(Graph.from_edges([(0, 1)])) == [("node", "node")]


def test_what_a_metapath_leaves_out_stays_where_it_began():
    graph = two_fields()
    settings: dict[str, Any] = {**QUICK, "metapaths": (("author", "author"),)}
    short, long = (Metapath2Vec(**{**settings, "walks": walks}).fit(graph).embedding_ for walks in (1, 5))
    np.testing.assert_array_equal(short["term"], long["term"])
    np.testing.assert_array_equal(short["author"][20], long["author"][20])
    assert not (short["author"][:20] == long["author"][:20]).any(axis=1).all()


def test_the_softmax_of_a_type_makes_other_vectors_than_one_of_all_types():
    graph = two_fields()
    ours, plain = (Metapath2Vec(per_type=each, **QUICK).fit(graph).embedding_ for each in (True, False))
    assert not np.array_equal(ours["author"], plain["author"])
    assert not np.array_equal(ours["term"], plain["term"])


def test_a_node_alone_in_its_type_has_no_negatives():
    # In windows of 1 nothing is drawn but negatives, and these would be the node itself.
    graph = Graph.from_relations({("author", "uses", "term"): [(0, 0)]})

    def learned(per_type, negatives):
        model = Metapath2Vec(window=1, per_type=per_type, negatives=negatives, **QUICK)
        return model.fit(graph).fitted_.vectors

    np.testing.assert_array_equal(learned(True, 1), learned(True, 9))
    assert not np.array_equal(learned(False, 1), learned(False, 9))


@pytest.mark.parametrize("per_type", [True, False])
def test_with_one_type_it_is_deepwalk_with_negatives(per_type):
    edges = [(i, (i + 1) % 30) for i in range(30)] + [(i, (7 * i + 3) % 30) for i in range(30)]
    graph = Graph.from_edges(edges)
    deepwalk = DeepWalk(output="negative", window=7, **QUICK).fit(graph).embedding_
    np.testing.assert_array_equal(Metapath2Vec(per_type=per_type, **QUICK).fit(graph).embedding_, deepwalk)


def test_directed_edges_are_walked_both_ways():
    edges = {("a", "to", "b"): [(0, 0), (1, 0), (1, 1)], ("b", "to", "b"): [(0, 1)]}
    both = [Metapath2Vec(**QUICK).fit(Graph.from_relations(edges, directed=each)).embedding_ for each in (True, False)]
    for type in ("a", "b"):
        np.testing.assert_array_equal(both[0][type], both[1][type])


def test_seeds_change_vectors_and_threads_do_not():
    rng = np.random.default_rng(0)
    edges = {
        ("a", "to", "b"): np.stack([rng.integers(0, 1300, 4000), rng.integers(0, 900, 4000)], axis=1),
        ("a", "with", "a"): rng.integers(0, 1300, (2000, 2)),
    }
    graph = Graph.from_relations(edges, nodes={"a": range(1300), "b": range(900)})
    settings: dict[str, Any] = {"walks": 1, "length": 10, "dim": 16}
    one = Metapath2Vec(seed=1, threads=1, **settings).fit(graph).embedding_
    two = Metapath2Vec(seed=1, threads=2, **settings).fit(graph).embedding_
    other = Metapath2Vec(seed=2, threads=2, **settings).fit(graph).embedding_
    for type in ("a", "b"):
        np.testing.assert_array_equal(two[type], one[type])
        assert not np.array_equal(other[type], one[type])


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_relations({}, nodes={"a": [0, 1], "b": [0]}),
        Graph.from_relations({}, nodes={"a": [0]}),
        Graph.from_relations({("a", "to", "b"): np.empty((0, 2), int)}, nodes={"a": [0, 1], "b": []}),
        Graph.from_edges([(0, 1), (2, 3)], weights=[1.0, 0.0], directed=True),
    ],
)
def test_graphs_with_little_in_them_get_finite_vectors(graph):
    fitted = Metapath2Vec(**QUICK).fit(graph).fitted_
    assert fitted.vectors.shape == (graph.num_nodes, 16)
    assert np.isfinite(fitted.vectors).all()


def test_metapaths_are_kept_by_saving_and_by_clone(tmp_path):
    model = Metapath2Vec(metapaths=(("author", "term", "author"),), **QUICK).fit(two_fields())
    model.save(tmp_path / "run")
    loaded = Metapath2Vec.load(tmp_path / "run")
    assert loaded.get_params() == model.get_params() == clone(model).get_params()
    again = loaded.fit(two_fields()).embedding_
    np.testing.assert_array_equal(again["author"], model.embedding_["author"])


@pytest.mark.parametrize(
    ("metapaths", "message"),
    [
        ((), "metapaths must be a tuple of tuples of node types"),
        ("author", "metapaths must be a tuple of tuples of words or none, got 'author'"),
        (("author", "term", "author"), r"metapaths must be a tuple of tuples of words or none, got \('author', 'term'"),
        ((("author", "term"),), "a metapath goes from a node type back to it"),
        ((("author",),), "a metapath goes from a node type back to it"),
        ((("author", "venue", "author"),), "node type 'venue' does not exist; there are 'author', 'term'"),
        ((("author", "term", "term", "author"),), "no relation links 'term' and 'term'; this graph has"),
    ],
)
def test_metapaths_that_cannot_be_walked_are_explained(metapaths, message):
    with pytest.raises(InputError, match=message):
        Metapath2Vec(metapaths=metapaths, **QUICK).fit(two_fields())


def test_settings_out_of_range_are_refused_in_fit():
    with pytest.raises(InputError, match="length must be a whole number of at least 1, got 0"):
        Metapath2Vec(walks=5, length=0).fit(two_fields())


@pytest.mark.slow
def test_dblp_is_learned_from_a_few_walks(need_data):
    # Measured here, for want of a published figure: .77 with the softmax of a type and five walks from each node.
    need_data("dblp-author-term.npz")
    data = pine.datasets.load("dblp")
    (result,) = evaluate(data, [Variant("metapath2vec", Metapath2Vec, {"walks": 5})], [0.5], 1)
    assert result.scores["micro_f1"] > 0.75
