"""Label propagation in predictions: what a share of it is, and scores that are smoothed along edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.models import pine_with

from pine import Graph, InputError
from pine.baselines import LabelPropagation
from pine.labels import read_labels
from pine.model import Propagation
from pine.propagation import (
    SHARE_ALPHA,
    SHARE_ROUNDS,
    FeaturePropagator,
    LabelPropagator,
    normalize,
    normalized_adjacency,
    smooth_scores,
)

RNG = np.random.default_rng(0)
SMALL = {"epochs": 50, "dim": 8, "hidden": 16, "lam": 10.0}


GROUP = np.arange(60) // 5
NEAR = np.triu((GROUP[:, None] == GROUP) & (RNG.random((60, 60)) < 0.5), 1)
EDGES = np.concatenate([np.argwhere(NEAR), RNG.integers(60, size=(6, 2))])  # groups of five, a few edges between them
GRAPH = Graph.from_edges(EDGES, nodes=range(60))


def propagator(graph: Graph, type: str = "node") -> LabelPropagator:
    return LabelPropagator(graph, type, torch.device("cpu"), 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_a_share_is_that_of_label_propagation_and_unreached_nodes_keep_their_scores(weighted, directed):
    edges = RNG.integers(40, size=(60, 2))
    weights = RNG.random(60) if weighted else None
    graph = Graph.from_edges(edges, weights=weights, directed=directed, nodes=range(45))
    labels = read_labels(graph, {node: int(node) % 3 for node in range(0, 40, 4)})
    propagated = propagator(graph, labels.type).propagate(labels.known, labels.targets())
    reference = LabelPropagation(alpha=SHARE_ALPHA, rounds=SHARE_ROUNDS).fit(
        graph, {n: int(n) % 3 for n in range(0, 40, 4)}
    )
    scores = np.full((45, 3), 0.2, np.float32)
    mixed = propagated.blend(scores, 0.25)
    reached = propagated.reached[:, 0]
    expected = 0.75 * 0.2 + 0.25 * reference.predict_proba()
    np.testing.assert_allclose(mixed[reached], expected[reached], atol=1e-5)
    assert not reached[40:].any()  # nodes without an edge
    np.testing.assert_array_equal(mixed[~reached], scores[~reached])
    np.testing.assert_array_equal(propagated.blend(scores, 0.0), scores)


def test_labels_travel_over_nodes_of_other_types():
    writes = ("author", "writes", "paper")
    graph = Graph.from_relations({writes: [("a", 1), ("b", 1), ("b", 2), ("c", 2), ("d", 3)]})
    labels = read_labels(graph, {"author": {"a": "x", "c": "y"}})
    propagated = propagator(graph, "author").propagate(labels.known, labels.targets())
    np.testing.assert_allclose(propagated.labels[1], [0.5, 0.5], atol=1e-5)
    assert propagated.labels[0, 0] > 0.7
    assert propagated.reached[:, 0].tolist() == [True, True, True, False]


def test_labels_begin_at_nodes_of_their_own_type():
    writes = ("author", "writes", "paper")
    graph = Graph.from_relations({writes: [("a", 1), ("a", 2), ("b", 3), ("b", 4)]})
    propagated = propagator(graph, "paper").propagate(np.array([3]), np.ones((1, 1)))
    assert propagated.reached[:, 0].tolist() == [False, False, True, True]


def test_a_mass_too_small_to_divide_by_counts_as_unreached():
    arrived = np.array([[1e-44, 1e-44], [1e-30, 2e-30], [0, 0]], np.float32)
    labels, reached = normalize(arrived)
    assert reached[:, 0].tolist() == [False, True, False]
    assert labels[1, 0] == pytest.approx(0.5)


def test_a_share_that_the_user_gives_is_that_of_the_prediction_also_in_a_graph_that_has_grown():
    seen = {node: "ab"[node // 5 % 2] for node in range(0, 60, 2)}
    without = pine_with(**SMALL, label_share=0.0).fit(GRAPH, seen)
    model = pine_with(**SMALL, label_share=0.4).fit(GRAPH, seen)
    np.testing.assert_array_equal(model.embedding_, without.embedding_)
    propagated = LabelPropagation(alpha=SHARE_ALPHA, rounds=SHARE_ROUNDS).fit(GRAPH, seen).predict_proba()
    reached = propagator(GRAPH).propagate(np.arange(0, 60, 2), np.ones((30, 1))).reached
    theta = without.predict_proba()
    expected = np.where(reached, 0.6 * theta + 0.4 * propagated, theta)
    np.testing.assert_allclose(model.predict_proba(), expected, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(graph=GRAPH), expected, atol=1e-5)


@pytest.mark.filterwarnings("ignore:vectors of nodes that are neighbors")
def test_in_a_graph_that_has_grown_labels_of_training_nodes_that_are_still_there_reach_new_nodes():
    seen = {node: "ab"[node // 5 % 2] for node in range(0, 60, 2)}
    model, without = (pine_with(**SMALL, label_share=share).fit(GRAPH, seen) for share in (0.4, 0.0))
    left = EDGES[(EDGES != 10).all(axis=1)]
    grown = Graph.from_edges(np.concatenate([[[70, 2], [71, 70]], left]), nodes=[*range(11, 72), *range(10)])
    still = {node: label for node, label in seen.items() if node != 10}
    propagated = LabelPropagation(alpha=SHARE_ALPHA, rounds=SHARE_ROUNDS).fit(grown, still).predict_proba([70, 71])
    theta = without.predict_proba([70, 71], graph=grown)
    np.testing.assert_allclose(model.predict_proba([70, 71], graph=grown), 0.6 * theta + 0.4 * propagated, atol=1e-5)


def test_numbers_are_propagated_in_their_own_units():
    numbers = {node: 100.0 + node // 5 for node in range(0, 60, 2)}
    model, without = (pine_with(**SMALL, label_share=share).fit(GRAPH, numbers) for share in (0.9, 0.0))
    propagated = LabelPropagation(alpha=SHARE_ALPHA, rounds=SHARE_ROUNDS).fit(GRAPH, numbers).predict()
    linked = propagator(GRAPH).propagate(np.arange(0, 60, 2), np.ones((30, 1))).reached[:, 0]
    np.testing.assert_allclose(
        model.predict()[linked], (0.9 * propagated + 0.1 * without.predict())[linked], rtol=1e-3, atol=1e-2
    )


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (1, "label_share must be a number of at least 0 and below 1 or none, got 1"),
        (-0.1, "label_share must be a number of at least 0 and below 1 or none, got -0.1"),
        (float("nan"), "label_share must be a number of at least 0 and below 1 or none, got nan"),
        (True, "label_share must be a number of at least 0 and below 1 or none, got True"),
        ("0.5", "label_share must be a number of at least 0 and below 1 or none, got '0.5'"),
    ],
)
def test_a_share_that_is_none_is_refused(share, message):
    with pytest.raises(InputError, match=message):
        pine_with(label_share=share).fit(GRAPH, {0: "a", 1: "b"})


def test_labels_propagate_to_some_nodes_as_they_do_to_all():
    known, targets = np.arange(0, 60, 2), np.eye(3)[GROUP[::2] % 3]
    nodes = np.array([3, 10, 41])
    whole, some = propagator(GRAPH).propagate(known, targets), propagator(GRAPH).propagate_to(nodes, known, targets)
    np.testing.assert_array_equal(some.labels, whole.labels[nodes])
    np.testing.assert_array_equal(some.reached, whole.reached[nodes])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_propagates_what_a_cpu_propagates():
    known, targets = np.arange(0, 60, 2), np.eye(3)[GROUP[::2] % 3]
    there = LabelPropagator(GRAPH, "node", torch.device("cuda"), 1).propagate(known, targets)
    here = propagator(GRAPH).propagate(known, targets)
    np.testing.assert_allclose(there.labels, here.labels, atol=1e-5)
    np.testing.assert_array_equal(there.reached, here.reached)


def test_labels_travel_thirty_rounds_and_no_farther():
    path = Graph.from_edges([(node, node + 1) for node in range(40)], nodes=range(41))
    reached = propagator(path).propagate(np.array([0]), np.ones((1, 1))).reached[:, 0]
    assert reached[:31].all()
    assert not reached[31:].any()


def test_nearer_labels_weigh_more_by_alpha_nine_tenths():
    pair = Graph.from_edges([(0, 1)])
    labels = propagator(pair).propagate(np.array([0, 1]), np.array([[1.0], [0.0]])).labels[:, 0]
    # F = (1 - a) sum of a^r S^r Y up to 29 rounds, and a^30 S^30 Y: S swaps the two nodes.
    powers = 0.9 ** np.arange(31)
    weights = np.append(0.1 * powers[:30], powers[30])
    assert labels[0] == pytest.approx(weights[::2].sum() / weights.sum(), abs=1e-5)


# ---- scores smoothed along edges ----

NOBODY = np.empty(0, np.int64)


def weighted_graph(seed: int, count: int = 30) -> Graph:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, count, (2 * count, 2))
    return Graph.from_edges(pairs, nodes=range(count + 2), weights=rng.random(2 * count) + 0.1)


def probabilities(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.dirichlet(np.ones(3), count)


def test_scores_are_the_solution_of_their_equation():
    graph, rng = weighted_graph(0), np.random.default_rng(1)
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
    graph, rng = weighted_graph(seed), np.random.default_rng(seed)
    q0, known = probabilities(rng, 32), np.array([0, 5, 9])
    found = smooth_scores(graph, "node", q0, known, np.eye(3), alpha)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    assert found.min() >= 0
    np.testing.assert_array_equal(found[known], np.eye(3))
    np.testing.assert_allclose(found[[30, 31]], q0[[30, 31]], atol=1e-6)


def test_numbers_stay_between_the_smallest_and_the_largest():
    graph, rng = weighted_graph(2), np.random.default_rng(3)
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
    model = pine_with(dim=8, epochs=20, lam=10.0).fit(graph, {i: groups[i] for i in range(30)})
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
    wrong: Any
    for wrong in (1.0, -0.1, "much", True, float("nan")):
        with pytest.raises(InputError, match="spread must be a number of at least 0 and below 1"):
            model.predict(graph=PATH, spread=wrong)
    larger = Graph.from_edges([(0, 1), (1, 7)])
    backwards = Graph.from_edges([(0, 1)], nodes=range(5, -1, -1))
    for graph in (larger, backwards):
        with pytest.raises(InputError, match="is not inductive"):
            model.predict(graph=graph, spread=0.5)
    with pytest.raises(InputError, match="cannot predict"):
        Propagation().fit(PATH).predict(graph=PATH, spread=0.5)
    with pytest.raises(InputError, match="there are no probabilities"):
        LabelPropagation().fit(PATH, {0: 1.5}).predict_proba(graph=PATH, spread=0.5)


def test_features_travel_by_the_mean_of_hops_with_loops_and_so_do_gradients():
    rng = np.random.default_rng(0)
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5)]
    for weights in (None, [1.0, 2.0, 0.5, 3.0, 1.5], [1000.0, 2000.0, 500.0, 3000.0, 1500.0]):
        graph = Graph.from_edges(pairs, nodes=range(7), weights=weights)
        adjacency = graph.to_scipy().toarray()
        looped = adjacency + adjacency[adjacency > 0].mean() * np.eye(7)
        root = 1 / np.sqrt(looped.sum(axis=1))
        S = root[:, None] * looped * root
        P = (np.eye(7) + S + S @ S + S @ S @ S) / 4
        rows = torch.tensor(rng.normal(size=(7, 3)), dtype=torch.float32)
        made = FeaturePropagator(graph, 3, "cpu", 1).propagate(rows)
        np.testing.assert_allclose(made, P @ rows.numpy(), atol=1e-5)
        matrix = FeaturePropagator(graph, 3, "cpu", 1).propagate(torch.eye(7))
        torch.testing.assert_close(matrix, matrix.mT)  # so that a gradient travels in the same way
        np.testing.assert_allclose(made[6], rows[6], atol=1e-6)  # a node without neighbors
