"""One training from a setting, a data set and a seed."""

from __future__ import annotations

import numpy as np

from pine._internal.optional import need_pyg
from pine.datasets.dataset import Dataset
from pine.labels import Labels
from pine.nn.training import device_of, seed_torch, torch_left_alone
from pine.reproduce.inductive.graphs import graphs_of
from pine.reproduce.inductive.settings import SampledSettings, Setting, WalkSettings
from pine.reproduce.inductive.training import InductiveNetwork, InductiveResult, OnEpoch, train
from pine.reproduce.inductive.walk_vectors import LinearNetwork, with_walk_vectors

NETWORKS_REVISION = 1  # kept results go by it: raise it when what a network or its training computes changes


def learn(
    setting: Setting,
    data: Dataset,
    labels: Labels,
    seed: int,
    device: str = "auto",
    threads: int | None = None,
    on_epoch: OnEpoch | None = None,
) -> InductiveResult:
    """Make a network and train it. The same seed gives the same bits on a CPU; a GPU sums in an order of its own."""
    need_pyg("an inductive network")
    with torch_left_alone(threads):
        place = device_of(device)
        if isinstance(setting, WalkSettings):
            data = with_walk_vectors(setting, data, seed, threads)
        generator = seed_torch(np.random.default_rng(seed), place)
        splits = graphs_of(data, labels, place, setting.graphs)
        network = network_of(setting, splits["train"].x.shape[1], labels.num_outputs).to(place)
        return train(network, splits, labels.task, generator, on_epoch)


def network_of(setting: Setting, num_features: int, num_outputs: int) -> InductiveNetwork:
    """The network of a setting, initialized from torch's own generator."""
    if isinstance(setting, WalkSettings):
        return LinearNetwork(num_features, num_outputs, setting)
    if isinstance(setting, SampledSettings):
        from pine.reproduce.inductive.graphsage import SampledNetwork

        return SampledNetwork(num_features, num_outputs, setting)
    from pine.reproduce.inductive.whole_networks import WholeGraphGAT, WholeGraphSAGE

    kind = WholeGraphSAGE if setting.layer == "graphsage" else WholeGraphGAT
    return kind(num_features, num_outputs, setting)
