"""X W: the features of each node type times its rows of W; dropout of entries, counts as shares of their rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from pine import Graph
from pine.baselines import GCN
from pine.baselines.gnn.inputs import (
    DenseFeatures,
    IdentityFeatures,
    InputLayer,
    SparseFeatures,
    columns_of,
    features_of,
    row_normalized,
)

RNG, CPU = np.random.default_rng(0), torch.device("cpu")


def test_dropout_of_the_identity_drops_rows_and_scales_the_others():
    weight = torch.rand(1000, 4, generator=torch.Generator().manual_seed(1))
    dropped = IdentityFeatures().times(weight, 0.25, torch.Generator().manual_seed(0))
    kept = dropped.abs().sum(1) > 0
    assert 0.7 < kept.float().mean() < 0.8
    torch.testing.assert_close(dropped[kept], weight[kept] / 0.75)
    torch.testing.assert_close(IdentityFeatures().times(weight, 0.25, None), weight)


@pytest.mark.parametrize("chance", [0.0, 0.5])
def test_sparse_features_give_what_dense_ones_give(chance):
    features = sp.random_array((50, 30), density=0.2, rng=RNG, dtype=np.float32).tocsr()
    sparse, dense = SparseFeatures(features, CPU), DenseFeatures(features.toarray(), CPU)
    weight = torch.rand(30, 4, generator=torch.Generator().manual_seed(1)) - 0.5
    torch.testing.assert_close(sparse.times(weight, chance, None), dense.times(weight, chance, None))
    many = [sparse.times(weight, chance, torch.Generator().manual_seed(seed)) for seed in range(400)]
    torch.testing.assert_close(torch.stack(many).mean(0), dense.times(weight, 0.0, None), atol=0.15, rtol=0)
    assert (torch.stack(many).std(0).max() > 0.05) == (chance > 0)


def test_sparse_features_can_be_written_down_also_where_entries_come_in_parts():
    features = sp.csr_array((np.array([1, 2, 4], np.float32), np.array([2, 0, 0]), np.array([0, 1, 3, 3])), (3, 4))
    block = SparseFeatures(features, CPU)
    assert block.dense.tolist() == [[0, 0, 1, 0], [6, 0, 0, 0], [0, 0, 0, 0]]


def test_counts_become_shares_and_other_features_stay():
    counts = np.array([[1.0, 3.0], [0.0, 0.0]], np.float32)
    assert row_normalized(counts).tolist() == [[0.25, 0.75], [0, 0]]
    assert row_normalized(sp.csr_array(counts)).toarray().tolist() == [[0.25, 0.75], [0, 0]]
    graph = Graph.from_edges([(0, 1)])
    for features, seen in ((counts, row_normalized(counts)), (counts - 1, counts - 1)):
        graph = graph.with_features({"node": features})
        block = features_of(graph, columns_of(graph), CPU)["node"]
        assert isinstance(block, DenseFeatures)
        assert block.features.tolist() == seen.tolist()


def test_types_have_features_of_their_own_or_none():
    graph = Graph.from_relations(
        {("a", "to", "b"): [(0, 0), (1, 1), (2, 1)], ("b", "to", "c"): [(0, 0)]},
        features={"b": np.ones((2, 5), np.float32), "c": sp.csr_array(np.ones((1, 7), np.float32))},
    )
    columns = columns_of(graph)
    inputs = InputLayer(columns, 4)
    assert [tuple(weight.shape) for weight in inputs.weights] == [(3, 4), (5, 4), (7, 4)]
    x = features_of(graph, columns, CPU)
    assert inputs(x, 0.5, torch.Generator().manual_seed(0)).shape == (6, 4)
    model = GCN(epochs=20, threads=1).fit(graph, {"b": {0: "x", 1: "y"}})
    assert model.predict(type="b").tolist() == ["x", "y"]
