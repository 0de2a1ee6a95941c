"""A small data set of several graphs, whose labels are planted in the attributes of neighbors."""

from __future__ import annotations

import numpy as np
import torch

from pine import Graph
from pine.datasets import Dataset
from pine.labels import Labels, read_labels

SIZE, WIDTH = 50, 4


def planted(graphs: int = 8, seed: int = 0, single: bool = False) -> Dataset:
    """Label k of a node: whether attribute k sums to more than 0 over its neighbors. The last node of a graph is alone.

    The last but one of the graphs is for validation, the last for test. single: they are one graph, with classes.
    """
    rng = np.random.default_rng(seed)
    count = graphs * SIZE
    ids = np.repeat(np.arange(graphs), SIZE)
    pairs = rng.integers(0, SIZE - 1, (graphs, 5 * SIZE, 2)) + SIZE * np.arange(graphs)[:, None, None]
    edges = pairs.reshape(-1, 2)
    x = rng.normal(size=(count, WIDTH)).astype(np.float32)
    graph = Graph.from_edges(edges, nodes=np.arange(count))
    sums = graph.adjacency().to_scipy() @ x
    labels = sums.argmax(1) if single else (sums > 0).astype(np.uint8)
    part = np.where(ids < graphs - 2, 0, ids - graphs + 3)
    return Dataset(
        name="planted",
        graph=graph,
        labels=labels,
        label_names=tuple("abcd"),
        features=x,
        splits={name: np.flatnonzero(part == number) for number, name in enumerate(("train", "val", "test"))},
        source="made up",
        raw={},
        graph_ids=None if single else ids,
    )


def labels_of(data: Dataset) -> Labels:
    """Its labels as methods take them."""
    labels = read_labels(data.graph, data.labels)
    return labels


def ring(count, reach=3):
    """Every node has 2 reach neighbors: samples (count, 2 reach), and the same as edges."""
    steps = torch.tensor([step for step in range(-reach, reach + 1) if step])
    samples = (torch.arange(count)[:, None] + steps) % count
    edges = torch.stack([samples.flatten(), torch.arange(count).repeat_interleave(2 * reach)])
    return samples, edges


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
