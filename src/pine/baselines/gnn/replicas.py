"""Fits of one method on one graph, side by side: replicas that differ in the labels that they see and in their seed.

One fit on a small graph leaves a GPU idle. The sum of the replicas' losses has the gradient of each in its own weights,
so one step of Adam trains them all. A replica starts from the weights that a fit with its seed starts from; with
dropout it differs from that fit in the units that are left out, which all replicas draw from one generator.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine._internal.settings import check_settings, own_settings
from pine.baselines.gnn.method import FEW_LABELS_EPOCHS, FEWEST_TO_HOLD_OUT, GNN, EarlyStoppedGNN
from pine.baselines.gnn.network import GraphNetwork
from pine.baselines.gnn.replica_networks import REPLICA_NETWORKS, ReplicaNetwork, replica_axis
from pine.baselines.gnn.replica_targets import ReplicaStopping, ReplicaTargets
from pine.baselines.gnn.training import LabeledGraph, held_out_part
from pine.baselines.replica import Replica, ReplicaFit
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.nn.adam import Adam
from pine.nn.training import device_of, own_torch_modes, seed_torch, torch_left_alone

# Numbers of the largest array of a batch, of which there are about ten (with 2^29, 2 GiB each), by kind of device.
MOST_FLOATS = {"cuda": 2**29, "cpu": 2**24}
MEMORY_SHARE = 1 / 16  # of the free memory of a GPU, for that array
ENDED_EPOCHS = 10  # between two looks at which replicas have ended: each look waits for the GPU
WORTH_DROPPING = 0.75  # where no more than this share goes on, those that have ended are dropped


def has_replicas(method: type[Any]) -> bool:
    """Whether fits of a method can run side by side at all."""
    return method in REPLICA_NETWORKS


def can_replicate(method: type[Any], graph: Graph, labels: Labels) -> bool:
    """Whether they can on this graph with these labels: sparse features and numbers are for single fits."""
    dense = all(isinstance(each, np.ndarray) for each in graph.features.values())
    return has_replicas(method) and dense and labels.task != "numbers"


def fit_replicas(method: GNN, graph: Graph, replicas: Sequence[Replica]) -> Iterator[ReplicaFit]:
    """Fit them in batches that fit into memory, each as method would with the replica's seed."""
    if not replicas:
        return
    if not can_replicate(type(method), graph, replicas[0].labels):
        raise InputError(f"{method.name} has no fits side by side on this graph with these labels; fit one at a time")
    check_settings(type(method), own_settings(method))
    method._check_packages()
    with own_torch_modes():
        device = device_of(method.device)
        data = LabeledGraph.of(graph.bare(), replicas[0].labels, method.network_class, device, method.threads)
        size = replicas_at_once(method, data)
    batches = np.array_split(np.arange(len(replicas)), -(-len(replicas) // size))
    for batch in batches:
        start = time.perf_counter()
        made = _fitted(method, data, [replicas[i] for i in batch])
        seconds = (time.perf_counter() - start) / len(batch)
        yield from (ReplicaFit(scores, seconds) for scores in made)


def replicas_at_once(method: GNN, data: LabeledGraph) -> int:
    """How many have room in memory."""
    most = float(MOST_FLOATS[data.device.type])
    if data.device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(data.device)
        most = min(most, MEMORY_SHARE * free / 4)
    return max(1, int(most / floats_per_replica(method, data)))


def floats_per_replica(method: GNN, data: LabeledGraph) -> int:
    """Numbers of the largest array of a replica."""
    columns = max((each.width for each in data.columns if each.kind != "identity"), default=0)
    edges = data.adjacency.shape[1] if isinstance(data.adjacency, Tensor) else 0
    settings = method._network_settings()
    if isinstance(data.adjacency, dict):
        settings["relations"] = list(data.adjacency)
    network = REPLICA_NETWORKS[type(method)]
    return network.floats(settings, columns, data.labels.num_outputs, (data.graph.num_nodes, edges))


def _fitted(method: GNN, data: LabeledGraph, replicas: Sequence[Replica]) -> list[NDArray[np.float32]]:
    """The scores of a batch; where memory does not suffice, of its halves."""
    try:
        with torch_left_alone(method.threads), own_torch_modes():
            scores = _fit(method, data, replicas)
    except torch.cuda.OutOfMemoryError:
        if len(replicas) == 1:
            raise
        scores = None
    if scores is None:  # here, where the arrays that the error holds are gone
        torch.cuda.empty_cache()
        half = len(replicas) // 2
        return _fitted(method, data, replicas[:half]) + _fitted(method, data, replicas[half:])
    return scores


def _fit(method: GNN, data: LabeledGraph, replicas: Sequence[Replica]) -> list[NDArray[np.float32]]:
    """As GNN._trained does for one."""
    found: dict[int, NDArray[np.float32]] = {}
    rngs = [np.random.default_rng(each.seed) for each in replicas]
    judged = [i for i, each in enumerate(replicas) if each.validation is not None]
    if judged:
        batch = _Batch.of(method, data, [replicas[i] for i in judged], [rngs[i] for i in judged])
        held = [replicas[i].validation for i in judged]
        _, scores = _train_until(batch, [each for each in held if each is not None], method)
        found |= dict(zip(judged, scores, strict=True))
    others = [i for i in range(len(replicas)) if i not in found]
    if others:
        some, their_rngs = [replicas[i] for i in others], [rngs[i] for i in others]
        epochs = _num_epochs(method, data, some, their_rngs)
        scores = _train_for(_Batch.of(method, data, some, their_rngs), epochs)
        found |= dict(zip(others, scores, strict=True))
    return [found[i] for i in range(len(replicas))]


def _num_epochs(
    method: GNN, data: LabeledGraph, replicas: Sequence[Replica], rngs: Sequence[np.random.Generator]
) -> NDArray[np.int64]:
    """How long to train each on all of its labels, as GNN._num_epochs and EarlyStoppedGNN._num_epochs have it."""
    epochs = np.full(len(replicas), method.epochs)
    if not isinstance(method, EarlyStoppedGNN):
        return epochs
    enough = [i for i, each in enumerate(replicas) if len(each.labels.known) >= FEWEST_TO_HOLD_OUT]
    epochs[:] = min(FEW_LABELS_EPOCHS, method.epochs)
    if enough:
        parts = {i: held_out_part(len(replicas[i].labels.known), rngs[i]) for i in enough}
        shown = [replicas[i].labels.some(~parts[i]) for i in enough]
        batch = _Batch.of(method, data, [replicas[i] for i in enough], [rngs[i] for i in enough], shown)
        held = [replicas[i].labels.some(parts[i]) for i in enough]
        epochs[enough], _ = _train_until(batch, held, method)
    return epochs


@dataclass(eq=False)
class _Batch:
    """Replicas in training. numbers: which of those that it began with are left (B,)."""

    network: ReplicaNetwork
    groups: list[tuple[list[str], float]]  # names of weights, and their decay
    learning_rate: float
    generator: torch.Generator
    data: LabeledGraph
    targets: ReplicaTargets
    numbers: NDArray[np.int64]
    optimizer: Adam = field(init=False)

    def __post_init__(self) -> None:
        self.optimizer = self._new_optimizer()

    @classmethod
    def of(
        cls,
        method: GNN,
        data: LabeledGraph,
        replicas: Sequence[Replica],
        rngs: Sequence[np.random.Generator],
        shown: Sequence[Labels] | None = None,
    ) -> _Batch:
        """From a fresh start; shown: the labels to learn from, where these are not all of a replica's."""
        generators: list[torch.Generator] = []
        groups: list[tuple[list[str], float]] = []

        def networks() -> Iterator[tuple[GraphNetwork, NDArray[np.int64]]]:
            for replica, rng in zip(replicas, rngs, strict=True):
                generators.append(seed_torch(rng, data.device))
                network = method._network(data, len(replica.outputs))
                groups[:] = _named_groups(method, network)
                yield network, replica.outputs

        num_outputs = data.labels.num_outputs
        made = REPLICA_NETWORKS[type(method)].stacked(networks(), len(replicas), num_outputs, data.device)
        learned = [each.labels for each in replicas] if shown is None else shown
        targets = ReplicaTargets.of(data.graph, learned, [each.outputs for each in replicas], data.device)
        numbers = np.arange(len(replicas))
        return cls(made, groups, method.learning_rate, generators[0], data, targets, numbers)

    def _new_optimizer(self) -> Adam:
        groups = [
            {"params": [self.network.weights[name] for name in names], "weight_decay": decay}
            for names, decay in self.groups
        ]
        return Adam(groups, lr=self.learning_rate)

    def step(self) -> None:
        """One epoch of all."""
        self.optimizer.zero_grad()
        outputs = self.network.outputs(self.data.x, self.data.adjacency, self.generator)
        self.targets.losses(outputs).sum().backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()

    @torch.no_grad()
    def outputs(self) -> Tensor:
        """Without dropout: (num_nodes, B, num_outputs)."""
        return self.network.outputs(self.data.x, self.data.adjacency)

    def labeled(self, outputs: Tensor) -> Tensor:
        """Those of the labeled type."""
        return outputs[self.data.graph.nodes.slice(self.data.labels.type)]

    def keep(self, going: NDArray[np.bool_]) -> Tensor:
        """Go on with some of the replicas (B,): their places before."""
        which = torch.from_numpy(np.flatnonzero(going)).to(self.data.device)
        states = iter(self.optimizer.state)
        self.network, self.targets = self.network.some(which), self.targets.some(which)
        self.numbers = self.numbers[going]
        self.optimizer = self._new_optimizer()
        names = [name for group, _ in self.groups for name in group]
        for name, new, old in zip(names, self.optimizer.state, states, strict=True):
            new["step"] = old["step"]
            for moment in ("exp_avg", "exp_avg_sq"):
                new[moment] = old.pop(moment).index_select(replica_axis(name), which)
        return which


def _named_groups(method: GNN, network: GraphNetwork) -> list[tuple[list[str], float]]:
    names = {id(each): name for name, each in network.named_parameters()}
    groups = method._parameter_groups(network)
    return [([names[id(each)] for each in group["params"]], group["weight_decay"]) for group in groups]


def _train_until(
    batch: _Batch, held: Sequence[Labels], method: GNN
) -> tuple[NDArray[np.int64], list[NDArray[np.float32]]]:
    """Train each until its patience ends: its best epoch, and its scores after that."""
    stopping = ReplicaStopping.like(method._stopping(), len(held), batch.data.device)
    judge = ReplicaTargets.of(batch.data.graph, held, batch.targets.seen(), batch.data.device)
    epochs, scores = np.ones(len(held), np.int64), [np.empty(0, np.float32)] * len(held)
    best: Tensor | None = None

    def settle(which: NDArray[np.bool_]) -> None:
        assert best is not None
        made = batch.targets.probabilities(best).cpu().numpy()
        found = stopping.best_epoch.cpu().numpy()
        for i in np.flatnonzero(which):
            epochs[batch.numbers[i]], scores[batch.numbers[i]] = found[i], np.ascontiguousarray(made[:, i])

    for epoch in range(1, method.epochs + 1):
        batch.step()
        outputs = batch.outputs()
        better = stopping.update(epoch, judge.losses(outputs), judge.scores(outputs))
        own = batch.labeled(outputs)
        best = own if best is None else torch.where(better[:, None], own, best)
        if epoch % ENDED_EPOCHS:
            continue
        ended = stopping.ended.cpu().numpy()
        if ended.all():
            break
        if (~ended).mean() <= WORTH_DROPPING:
            settle(ended)
            which = batch.keep(~ended)
            judge, stopping, best = judge.some(which), stopping.some(which), best.index_select(1, which)
    settle(np.ones(len(batch.numbers), bool))
    return epochs, scores


def _train_for(batch: _Batch, epochs: NDArray[np.int64]) -> list[NDArray[np.float32]]:
    """Train each for a number of epochs (B,): its scores after them."""
    scores = [np.empty(0, np.float32)] * len(epochs)
    for epoch in range(1, int(epochs.max()) + 1):
        batch.step()
        left = epochs[batch.numbers]
        ending = np.flatnonzero(left == epoch)
        if not len(ending):
            continue
        which = torch.from_numpy(ending).to(batch.data.device)
        outputs = batch.labeled(batch.outputs()).index_select(1, which)
        made = batch.targets.some(which).probabilities(outputs).cpu().numpy()
        for at, i in enumerate(batch.numbers[ending]):
            scores[i] = np.ascontiguousarray(made[:, at])
        if 0 < (left > epoch).mean() <= WORTH_DROPPING:
            batch.keep(left > epoch)
    return scores
