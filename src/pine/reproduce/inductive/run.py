"""One training from a setting, a data set and a seed."""

from __future__ import annotations

import numpy as np

from pine._internal.optional import need_pyg
from pine.datasets.dataset import Dataset
from pine.labels import Labels
from pine.nn.training import device_of, seed_torch, torch_left_alone
from pine.reproduce.inductive.graphs import graphs_of
from pine.reproduce.inductive.network import Network
from pine.reproduce.inductive.settings import Sampled, Setting, Walked
from pine.reproduce.inductive.training import Found, Watch, train
from pine.reproduce.inductive.walked import LinearNetwork, walked


def learn(
    setting: Setting,
    data: Dataset,
    labels: Labels,
    seed: int,
    device: str = "auto",
    threads: int | None = None,
    watch: Watch | None = None,
) -> Found:
    """Make a network and train it. The same seed gives the same bits on a CPU; a GPU sums in an order of its own."""
    need_pyg("an inductive network")
    with torch_left_alone(threads):
        place = device_of(device)
        if isinstance(setting, Walked):
            data = walked(setting, data, seed, threads)
        generator = seed_torch(np.random.default_rng(seed), place)
        sides = graphs_of(data, labels, place, setting.graphs)
        network = network_of(setting, sides["train"].x.shape[1], labels.num_outputs).to(place)
        return train(network, sides, labels.task, generator, watch)


def network_of(setting: Setting, num_features: int, num_outputs: int) -> Network:
    """The network of a setting, drawn from torch's own generator."""
    if isinstance(setting, Walked):
        return LinearNetwork(num_features, num_outputs, setting)
    if isinstance(setting, Sampled):
        from pine.reproduce.inductive.sampled_networks import SampledNetwork

        return SampledNetwork(num_features, num_outputs, setting)
    from pine.reproduce.inductive.whole_networks import GraphSAGENetwork, ThreeLayers

    kind = GraphSAGENetwork if setting.layer == "graphsage" else ThreeLayers
    return kind(num_features, num_outputs, setting)
