"""Scores spread along edges: the closed form, what stays true of them, and what predict(spread=...) refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pine import PINE, Graph, InputError
from pine.baselines import LabelPropagation
from pine.model import StructuralStart
from pine.propagation import normalized_adjacency, smooth_scores

NOBODY = np.empty(0, np.int64)


def random_graph(seed: int, count: int = 30) -> Graph:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, count, (2 * count, 2))
    return Graph.from_edges(pairs, nodes=range(count + 2), weights=rng.random(2 * count) + 0.1)


def probabilities(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.dirichlet(np.ones(3), count)


def test_scores_are_the_solution_of_their_equation():
    graph, rng = random_graph(0), np.random.default_rng(1)
    q0, known = probabilities(rng, 32), np.array([3, 7, 21])
    found = smooth_scores(graph, "node", q0, known, np.eye(3), 0.5, rounds=60)
    q0[known] = np.eye(3)
    listens = np.full(32, 0.5)
    listens[known] = 0
    matrix = normalized_adjacency(graph).toarray()
    sums = matrix.sum(axis=1, keepdims=True)
    listens[sums[:, 0] == 0] = 0
    step = listens[:, None] * matrix / np.where(sums > 0, sums, 1)
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(32) - step, (1 - listens)[:, None] * q0), atol=1e-5)


@given(seed=st.integers(0, 1000), alpha=st.floats(0.01, 0.99))
@settings(max_examples=30, deadline=None)
def test_probabilities_stay_probabilities_known_labels_stay_and_a_node_alone_keeps_its_score(seed, alpha):
    graph, rng = random_graph(seed), np.random.default_rng(seed)
    q0, known = probabilities(rng, 32), np.array([0, 5, 9])
    found = smooth_scores(graph, "node", q0, known, np.eye(3), alpha)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    assert found.min() >= 0
    np.testing.assert_array_equal(found[known], np.eye(3))
    np.testing.assert_allclose(found[[30, 31]], q0[[30, 31]], atol=1e-6)


def test_numbers_stay_between_the_smallest_and_the_largest():
    graph, rng = random_graph(2), np.random.default_rng(3)
    numbers = 100 + 50 * rng.standard_normal((32, 1))
    found = smooth_scores(graph, "node", numbers, NOBODY, np.empty((0, 1)), 0.9)
    assert numbers.min() <= found.min() <= found.max() <= numbers.max()
    assert found.std() < numbers.std()


def test_nodes_of_other_types_pass_on_what_arrives():
    uses = [("a", 1), ("b", 1), ("c", 2), ("d", 2)]
    graph = Graph.from_relations({("author", "uses", "word"): uses})
    unsure = np.full((4, 2), 0.5)
    found = smooth_scores(graph, "author", unsure, np.array([0, 2]), np.eye(2), 0.5)
    assert found[1, 0] > 0.6, "b uses the word of a"
    assert found[3, 1] > 0.6, "d uses the word of c"
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)


PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)], nodes=range(6))


def test_every_supervised_method_predicts_with_spread_also_when_it_is_not_inductive():
    model = LabelPropagation().fit(PATH, {0: "x", 4: "y"})
    spread = model.predict_proba(graph=PATH, spread=0.5)
    assert spread[0].tolist() == [1, 0]
    np.testing.assert_array_equal(model.predict_proba([4, 1], graph=PATH, spread=0.5), spread[[4, 1]])
    np.testing.assert_array_equal(model.predict_proba(graph=PATH), model.predict_proba())
    assert model.predict(graph=PATH, spread=0.5).tolist() == ["x", "x", *model.predict([2]), "y", "y", "x"]


def test_label_sets_and_numbers_are_spread_too():
    sets = LabelPropagation().fit(PATH, {0: {"x"}, 2: {"x", "y"}, 4: {"y"}})
    assert sets.predict(graph=PATH, spread=0.3)[2] == {"x", "y"}
    numbers = LabelPropagation().fit(PATH, {0: 1.0, 4: 3.0})
    found = numbers.predict(graph=PATH, spread=0.5)
    assert found[0] == 1.0
    assert 1.0 < found[1] < found[3] < 3.0


def test_an_inductive_method_spreads_over_a_graph_with_new_nodes_and_without_old_ones():
    rng = np.random.default_rng(0)
    groups = np.arange(40) % 2
    pairs = rng.integers(0, 40, (300, 2))
    pairs = pairs[groups[pairs[:, 0]] == groups[pairs[:, 1]]]
    graph = Graph.from_edges(pairs, nodes=range(40))
    model = PINE(dim=8, epochs=20, lam=10.0, scaling="mean").fit(graph, {i: groups[i] for i in range(30)})
    kept = pairs[(pairs > 0).all(axis=1)]
    other = Graph.from_edges(np.concatenate([kept, [[99, 1], [99, 3]]]), nodes=[99, *range(39, 0, -1)])
    found = model.predict_proba(graph=other, spread=0.5)
    assert found.shape == (40, 2)
    np.testing.assert_array_equal(found[1 + 39 - 5], [0, 1])  # node 5 was a training node
    assert model.predict([99], graph=other, spread=0.5).tolist() == [1]


def test_what_cannot_be_spread_is_explained():
    model = LabelPropagation().fit(PATH, {0: "x", 4: "y"})
    with pytest.raises(InputError, match=r"pass it, as in predict\(graph=graph, spread=0\.5\)"):
        model.predict(spread=0.5)
    for wrong in (1.0, -0.1, "much", True, float("nan")):
        with pytest.raises(InputError, match="spread must be a number of at least 0 and below 1"):
            model.predict(graph=PATH, spread=wrong)
    larger = Graph.from_edges([(0, 1), (1, 7)])
    backwards = Graph.from_edges([(0, 1)], nodes=range(5, -1, -1))
    for graph in (larger, backwards):
        with pytest.raises(InputError, match="is not inductive"):
            model.predict(graph=graph, spread=0.5)
    with pytest.raises(InputError, match="cannot predict"):
        StructuralStart().fit(PATH).predict(graph=PATH, spread=0.5)
    with pytest.raises(InputError, match="there are no probabilities"):
        LabelPropagation().fit(PATH, {0: 1.0}).predict_proba(graph=PATH, spread=0.5)
