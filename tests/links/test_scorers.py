"""Scores of pairs are symmetric, go by ids, and the combined one learns what makes an edge."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from support.graphs import two_groups
from support.links import WRITES, graph_of_types, planted

from pine import PINE, Graph, InputError
from pine.links import SCORERS, hold_out
from pine.links.bilinear import learn_bilinear
from pine.links.measures import auc
from pine.links.pairs import edge_pairs
from pine.model import Propagation


@pytest.fixture(scope="module")
def fitted() -> tuple[Graph, PINE]:
    graph = planted()
    return graph, PINE(dim=8).fit(graph)


@pytest.mark.parametrize("score", SCORERS)
def test_a_score_is_symmetric_finite_and_the_same_each_time(fitted, score):
    graph, model = fitted
    pairs = np.array([(u, v) for u in range(0, 120, 7) for v in range(1, 120, 9) if u != v])
    found = model.score_edges(pairs, score=score, graph=graph)
    assert np.isfinite(found).all()
    assert found.shape == (len(pairs),)
    np.testing.assert_allclose(found, model.score_edges(pairs[:, ::-1], score=score, graph=graph), atol=1e-6)
    again = PINE(dim=8).fit(graph)
    np.testing.assert_array_equal(found, again.score_edges(pairs, score=score, graph=graph))


@pytest.mark.parametrize("score", SCORERS)
def test_every_score_tells_held_out_edges_from_other_pairs(score):
    split = hold_out(planted(), 0)
    model = PINE(dim=8).fit(split.graph)
    edges, others = (
        model.score_edges(pairs, score=score, graph=split.graph) for pairs in (split.test, split.test_negatives)
    )
    assert auc(edges, others) > 0.7


def test_a_bilinear_form_learns_which_coordinates_count():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.choice([-1.0, 1.0], 200), rng.normal(size=200)])
    pairs = rng.integers(0, 200, (3000, 2))
    same = x[pairs[:, 0], 0] == x[pairs[:, 1], 0]
    w = learn_bilinear(x, pairs[same], pairs[~same])
    assert w[0, 0] > 5 * abs(w[1, 1])
    np.testing.assert_array_equal(w, w.T)


def test_pairs_go_by_ids_and_by_the_types_of_a_relation():
    graph = graph_of_types()
    model = Propagation(dim=4).fit(graph)
    a, p = graph.nodes.slice("author").start, graph.nodes.slice("paper").start
    x = model.fitted_.vectors
    found = model.score_edges([("a3", "p4"), ("a0", "p0")], score="dot", relation=WRITES)
    np.testing.assert_allclose(found, [x[a + 3] @ x[p + 4], x[a] @ x[p]], rtol=1e-5)
    with pytest.raises(InputError, match="say of which a pair is"):
        model.score_edges([("a3", "p4")])
    missing = model.missing_edges(graph, "a3", 4, relation=WRITES, score="cosine")
    assert len(missing) == 4
    assert all(str(id).startswith("p") for id, _ in missing)
    assert not {id for id, _ in missing} & set(graph.neighbors("a3")["paper"])
    to_paper = model.missing_edges(graph, "p1", 4, relation=WRITES, score="cosine")
    assert all(str(id).startswith("a") for id, _ in to_paper)


def test_missing_edges_are_no_edges_the_best_first_and_of_a_node_or_of_all(fitted):
    graph, model = fitted
    own = model.missing_edges(graph, 5, 7)
    assert len(own) == 7
    assert [score for _, score in own] == sorted((score for _, score in own), reverse=True)
    assert not {id for id, _ in own} & {5, *graph.neighbors(5)["node"]}
    edges = {tuple(pair) for pair in edge_pairs(graph, graph.relations[0]).tolist()}
    everywhere = model.missing_edges(graph, k=20)
    assert len({frozenset(pair[:2]) for pair in everywhere}) == 20
    assert not {(min(u, v), max(u, v)) for u, v, _ in everywhere} & edges
    same_group = np.mean([u % 4 == v % 4 for u, v, _ in everywhere])
    assert same_group > 0.9


def test_labels_of_the_run_serve_the_second_fit_too():
    graph, labels = two_groups()
    model = PINE(dim=4, epochs=3).fit(graph, labels)
    assert len(model.missing_edges(graph, 3, 2)) == 2


def test_renamed_nodes_keep_their_scores(fitted):
    graph, model = fitted
    names = [f"n{i}" for i in range(120)]
    renamed = PINE(dim=8).fit(graph.renamed({"node": names}))
    np.testing.assert_array_equal(renamed.score_edges([("n3", "n7")]), model.score_edges([(3, 7)]))


def test_a_scorer_is_not_pickled(fitted):
    graph, model = fitted
    model.score_edges([(1, 2)], graph=graph)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.score_edges([(1, 2)]), model.score_edges([(1, 2)], score="cosine"))


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        ([(1, 2, 3)], {}, "row 0: expected two ids"),
        (["ab"], {}, "row 0: expected two ids"),
        (np.zeros((2, 3)), {}, "shape"),
        (5, {}, "list or array of pairs"),
        ([(1, 999)], {}, "there is no node 999"),
        ([(1, 1)], {}, "one node twice"),
        ([(1, 2)], {"score": "cosin"}, "score must be one of"),
        ([(1, 2)], {"score": "bilinear"}, "learns from edges"),
        ([(1, 2)], {"relation": "to"}, "relation must be"),
    ],
)
def test_bad_pairs_are_refused_in_a_sentence(fitted, pairs, options, message):
    with pytest.raises(InputError, match=message):
        fitted[1].score_edges(pairs, **options)


def test_bad_questions_are_refused_in_a_sentence(fitted):
    graph, model = fitted
    with pytest.raises(InputError, match="k must be"):
        model.missing_edges(graph, 1, 0)
    with pytest.raises(InputError, match="nodes that this model was fitted on"):
        model.missing_edges(planted(100), 1)
    with pytest.raises(InputError, match="of PINE alone"):
        Propagation(dim=4).fit(graph).score_edges([(1, 2)], score="f")
    with pytest.raises(InputError, match="not fitted"):
        PINE().score_edges([(1, 2)])


def test_no_pairs_have_no_scores(fitted):
    graph, model = fitted
    assert model.score_edges([]).shape == (0,)
    assert model.score_edges([], graph=graph).shape == (0,)
