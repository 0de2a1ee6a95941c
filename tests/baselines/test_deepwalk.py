"""DeepWalk puts nodes that walks visit together side by side, and reaches the accuracy that others measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pine
from pine import Graph, InputError
from pine.baselines import DeepWalk
from pine.evaluation import evaluate
from pine.evaluation.variants import Variant


def cosine(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def clique(lo: int, hi: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(lo, hi) for b in range(a + 1, hi)]


TWO_CLIQUES = Graph.from_edges([*clique(0, 8), *clique(8, 16), (7, 8)], nodes=range(17))


@pytest.mark.parametrize("output", ["hierarchical", "negative"])
def test_nodes_of_one_clique_fall_together(output):
    vectors = DeepWalk(dim=16, output=output).fit(TWO_CLIQUES).embedding_
    near = cosine(vectors)
    assert vectors.shape == (17, 16)
    assert near[:7, :7].min() > near[:7, 9:16].max()
    assert np.isfinite(vectors).all()


def test_walks_follow_heavy_edges():
    heavy = np.array([10.0 if (a < 8) == (b < 8) else 0.1 for a, b in clique(0, 16)])
    near = cosine(DeepWalk(dim=16).fit(Graph.from_edges(clique(0, 16), weights=heavy)).embedding_)
    assert near[:8, :8].mean() > near[:8, 8:].mean() + 0.3


def test_directed_edges_are_walked_both_ways():
    edges = [(3, 1), (1, 2), (2, 0), (0, 3), (4, 1)]
    both = [DeepWalk(walks=5).fit(Graph.from_edges(edges, directed=directed)).embedding_ for directed in (True, False)]
    np.testing.assert_array_equal(*both)


def test_types_are_walked_as_one_graph():
    typed = Graph.from_relations({("a", "to", "b"): [(0, 0), (0, 1), (1, 1), (2, 2)]})
    plain = Graph.from_edges([(0, 3), (0, 4), (1, 4), (2, 5)])
    vectors = DeepWalk(walks=5).fit(typed).embedding_
    np.testing.assert_array_equal(np.concatenate([vectors["a"], vectors["b"]]), DeepWalk(walks=5).fit(plain).embedding_)


def test_seeds_change_vectors_and_threads_do_not():
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 2100, (6000, 2)), nodes=range(2100))
    settings: dict[str, Any] = {"walks": 1, "length": 10, "dim": 16}
    one = DeepWalk(seed=1, threads=1, **settings).fit(graph).embedding_
    np.testing.assert_array_equal(DeepWalk(seed=1, threads=2, **settings).fit(graph).embedding_, one)
    assert not np.array_equal(DeepWalk(seed=2, threads=2, **settings).fit(graph).embedding_, one)


def test_settings_out_of_range_are_refused_in_fit():
    with pytest.raises(InputError, match="walks must be a whole number of at least 1, got 0"):
        DeepWalk(walks=0).fit(TWO_CLIQUES)
    with pytest.raises(InputError, match="output must be one of"):
        DeepWalk(output="softmax").fit(TWO_CLIQUES)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dim", "published"),
    [
        # By another implementation with the same settings; Wikipedia by a third one.
        ("cora", 64, {0.1: 0.751, 0.5: 0.801, 0.9: 0.828}),
        ("citeseer", 64, {0.1: 0.497, 0.5: 0.559, 0.9: 0.574}),
        ("wikipedia", 128, {0.5: 0.665}),
    ],
)
def test_accuracy_is_within_two_points_of_other_implementations(need_data, name, dim, published):
    need_data("citeseer.npz", "wiki.npz")
    results = list(
        evaluate(pine.datasets.load(name), [Variant("deepwalk", DeepWalk, {"dim": dim})], list(published), 2)
    )
    for ratio, accuracy in published.items():
        own = [result.scores["accuracy"] for result in results if result.ratio == ratio]
        assert np.mean(own) > accuracy - 0.02, results
