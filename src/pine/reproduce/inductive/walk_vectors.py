"""Vectors of random walks in the place of node features, or beside them, and a linear map of them.

Walks need no labels, so they go over all nodes, those of validation and test too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine.baselines import DeepWalk
from pine.datasets.dataset import Dataset
from pine.reproduce.inductive.graphs import Graphs, dense
from pine.reproduce.inductive.settings import WalkSettings
from pine.reproduce.inductive.training import NodeNetwork


def with_walk_vectors(setting: WalkSettings, data: Dataset, seed: int, threads: int | None) -> Dataset:
    """The data set with DeepWalk's vectors as its features, or before them."""
    vectors = _vectors(data, setting.walk, seed, threads)
    if not setting.features:
        return replace(data, features=vectors)
    return replace(data, features=np.concatenate([vectors, dense(data.features)], axis=1))


@lru_cache(maxsize=1)  # one fit serves with features and without, and every training of the map
def _vectors(data: Dataset, walk: tuple[int, int, int, int], seed: int, threads: int | None) -> NDArray[np.float32]:
    dim, walks, length, window = walk
    model = DeepWalk(dim=dim, walks=walks, length=length, window=window, seed=seed, threads=threads)
    vectors: NDArray[np.float32] = model.fit(data.graph).embedding_
    return vectors


class LinearNetwork(NodeNetwork):
    """Scores (n, num_outputs) of nodes by their features alone."""

    def __init__(self, num_features: int, num_outputs: int, setting: WalkSettings) -> None:
        super().__init__()
        self.setting = setting
        self.output = nn.Linear(num_features, num_outputs)

    def forward(self, graphs: Graphs, nodes: Tensor, generator: torch.Generator) -> Tensor:
        scores: Tensor = self.output(graphs.x[nodes])
        return scores
