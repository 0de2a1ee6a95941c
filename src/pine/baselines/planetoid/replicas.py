"""Fits of Planetoid on one graph, side by side: one fit on a small graph leaves a GPU idle."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from pine._internal.settings import check_settings, own_settings
from pine.baselines.planetoid.method import Planetoid
from pine.baselines.replica import Replica, ReplicaFit
from pine.graph import Graph
from pine.nn.training import device_of, own_torch_modes, torch_left_alone

# Numbers in the vectors of a batch; what predicts contexts from them, and gradients, are as many.
MOST_VECTOR_FLOATS = 2**29


def fit_replicas(method: Planetoid, graph: Graph, replicas: Sequence[Replica]) -> Iterator[ReplicaFit]:
    """Fit them in batches that fit into memory, each as method would with the replica's seed."""
    check_settings(Planetoid, own_settings(method))
    at_once = max(1, MOST_VECTOR_FLOATS // (graph.num_nodes * method.dim))
    for lo in range(0, len(replicas), at_once):
        some, begun = replicas[lo : lo + at_once], time.perf_counter()
        labels, outputs = [each.labels for each in some], [each.outputs for each in some]
        rngs = [np.random.default_rng(each.seed) for each in some]
        with torch_left_alone(threads=1), own_torch_modes():
            made = method._fit_several(graph.bare(), labels, outputs, rngs, device_of(method.device))
        seconds = (time.perf_counter() - begun) / len(some)
        yield from (ReplicaFit(scores, seconds) for _, scores in made)
