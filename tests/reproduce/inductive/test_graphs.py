"""What training sees of a data set, and what it is scored on."""

from __future__ import annotations

import numpy as np
import torch
from support.inductive import labels_of, planted

from pine.reproduce.inductive.graphs import collate, graphs_of

CPU = torch.device("cpu")


def test_a_part_is_its_graphs_with_their_edges_and_nothing_else():
    data = planted()
    labels = labels_of(data)
    splits = graphs_of(data, labels, CPU)
    matrix = data.graph.adjacency().to_scipy().toarray()
    for name, part in splits.items():
        nodes = data.splits[name]
        assert part.starts == tuple(range(0, len(nodes) + 1, 50))
        assert np.array_equal(part.labels.numpy(), data.labels[nodes])
        whole = collate(part.separate)
        seen = np.zeros((len(nodes), len(nodes)))
        seen[whole.edges[1], whole.edges[0]] = 1
        assert np.array_equal(seen, matrix[np.ix_(nodes, nodes)])
    torch.testing.assert_close(splits["train"].x.mean(0), torch.zeros(4), atol=1e-6, rtol=0)
    torch.testing.assert_close(splits["train"].x.std(0, correction=0), torch.ones(4))
    assert len(graphs_of(data, labels, CPU, count=2)["train"].x) == 100


def test_of_a_single_graph_training_sees_its_nodes_alone_and_is_scored_in_the_whole():
    data = planted(single=True)
    splits = graphs_of(data, labels_of(data), CPU)
    assert [len(splits[name].x) for name in ("train", "val", "test")] == [300, 400, 400]
    assert splits["test"].targets.tolist() == list(range(350, 400))
    assert len(splits["train"].neighbors.indices) < len(splits["val"].neighbors.indices)
