"""SGC is logistic regression on features that were carried along edges; without hops it is that on features alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from support.graphs import random_graph, two_groups
from support.networks import array, dense_s, inputs_of, network_on

from pine.baselines import SGC, LogisticRegression
from pine.baselines.gnn.logistic_regression import LogisticRegressionNetwork
from pine.baselines.gnn.sgc import SGCNetwork
from pine.propagation import looped_adjacency


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"self_loops": "keep"}, {"directed": True}])
def test_s_has_a_loop_at_every_node_and_is_divided_by_the_roots_of_degrees(options):
    graph = random_graph(**options)
    np.testing.assert_allclose(looped_adjacency(graph).to_scipy().toarray(), dense_s(graph), rtol=1e-6)


@pytest.mark.parametrize("hops", [1, 2, 5])
def test_outputs_are_powers_of_s_times_x_w(hops):
    graph = random_graph(weighted=True)
    network, seen = network_on(graph, SGCNetwork, num_outputs=3, hops=hops)
    expected = np.linalg.matrix_power(dense_s(graph), hops) @ inputs_of(network) + array(network.bias)
    np.testing.assert_allclose(array(network(*seen)[1]), expected, atol=1e-5)
    np.testing.assert_array_equal(array(network(*seen)[0]), array(network(*seen)[1]))


def test_logistic_regression_looks_at_no_edge():
    network, seen = network_on(random_graph(), LogisticRegressionNetwork, num_outputs=3)
    assert seen[1] is None
    np.testing.assert_allclose(array(network(*seen)[1]), inputs_of(network) + array(network.bias), atol=1e-6)
    graph, label = two_groups()
    words = np.random.default_rng(0).random((40, 5)).astype(np.float32)
    lonely = random_graph(40)
    one, other = (
        LogisticRegression(threads=1).fit(each.with_features({"node": words}), label).embedding_
        for each in (graph, lonely)
    )
    np.testing.assert_array_equal(one, other)


def test_many_columns_of_sparse_features_are_never_written_out(monkeypatch):
    graph, label = two_groups()
    words = sp.random_array((40, 100_000), density=1e-4, rng=np.random.default_rng(0), dtype=np.float32).tocsr()
    largest, sums = [], torch.nn.functional.embedding_bag

    def watched(indices, rows, *args, **options):
        made = sums(indices, rows, *args, **options)
        largest.append(made.shape)
        return made

    monkeypatch.setattr(torch.nn.functional, "embedding_bag", watched)
    model = SGC(epochs=3, threads=1).fit(graph.with_features({"node": words}), label)
    assert np.isfinite(model.embedding_).all()
    assert set(largest) == {(40, 2), (100_000, 2)}, "X W, and the gradient of W"
