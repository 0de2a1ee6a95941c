"""What graph networks are as methods: trained on all nodes at once, judged by validation labels where there are some.

Where every node type has features, no weight of the network belongs to a node, and the method is inductive: transform
and predict give another graph to the network.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pine._internal.optional import need_pyg
from pine.baselines.gnn.network import GraphNetwork, TrainedNetwork
from pine.baselines.gnn.training import (
    FullBatchTrainer,
    HeldOut,
    LabeledGraph,
    best_epoch,
    labeled_scores,
    train_until,
)
from pine.embedder import Embedder, FitOptions, Fitted
from pine.errors import InputError, listed
from pine.graph import Graph, check_graph
from pine.labels import Labels
from pine.nn.adam import Adam
from pine.nn.targets import Targets
from pine.nn.training import Criterion, EarlyStopping, device_of, own_torch_modes, seed_torch, torch_left_alone

DIVERGED = "training diverged; lower learning_rate, or scale the features down"
FEWEST_TO_HOLD_OUT = 10  # of fewer none is held out
FEW_LABELS_EPOCHS = 200  # of a training on those, as many as GCN's authors have


class GNN(Embedder):
    """A subclass names the class of its network and the settings that this takes.

    With validation labels, the network is that of the epoch which is best on them, by a criterion.
    """

    supervised: ClassVar[bool] = True
    needs_pyg: ClassVar[bool] = False
    network_class: ClassVar[type[GraphNetwork]]
    criterion: ClassVar[Criterion] = "score"

    epochs: int
    learning_rate: float
    weight_decay: float
    device: str
    threads: int | None
    trained_: TrainedNetwork | None  # None: of a run that an earlier version saved

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        return self._fit_with(graph, labels, rng, FitOptions())

    def _fit_with(self, graph: Graph, labels: Labels | None, rng: np.random.Generator, options: FitOptions) -> Fitted:
        assert labels is not None
        self._check_cold_start(options)
        self._check_packages()
        with torch_left_alone(self.threads):
            data = LabeledGraph.of(graph, labels, self.network_class, device_of(self.device), self.threads)
            trainer = self._trained(data, options.validation, rng)
            hidden, outputs = trainer.evaluate()
            vectors, scores = hidden.cpu().numpy(), labeled_scores(graph, labels, outputs)
        if not (np.isfinite(vectors).all() and np.isfinite(scores).all()):
            raise InputError(DIVERGED)
        self.trained_ = trainer.network.trained()
        return Fitted(vectors, scores)

    def _trained(self, data: LabeledGraph, validation: Labels | None, rng: np.random.Generator) -> FullBatchTrainer:
        epochs = self.epochs if validation is not None else self._num_epochs(data, rng)
        trainer = self._trainer(data, data.targets, rng)
        if validation is not None:
            train_until(trainer, HeldOut.of(data, validation), epochs, self._stopping())
        else:
            for _ in range(epochs):
                trainer.step()
        return trainer

    def _stopping(self) -> EarlyStopping:
        """When validation labels end the training: never, and they choose among all epochs."""
        return EarlyStopping(self.epochs, self.criterion)

    def _check_packages(self) -> None:
        if self.needs_pyg:
            need_pyg(self.name)

    def _num_epochs(self, data: LabeledGraph, rng: np.random.Generator) -> int:
        """How long to train on all labels."""
        return self.epochs

    def _trainer(self, data: LabeledGraph, targets: Targets, rng: np.random.Generator) -> FullBatchTrainer:
        """A network from a fresh start, and all that trains it."""
        generator = seed_torch(rng, data.device)
        network = self._network(data, targets.num_outputs)
        optimizer = Adam(self._parameter_groups(network.to(data.device)), lr=self.learning_rate)
        return FullBatchTrainer(network, optimizer, generator, data, targets, self._step_adjacencies(data, rng))

    def _network(self, data: LabeledGraph, num_outputs: int) -> GraphNetwork:
        """A network with fresh weights."""
        return self.network_class(data.columns, num_outputs=num_outputs, **self._network_settings())

    @abstractmethod
    def _network_settings(self) -> dict[str, Any]:
        """What the network takes beside its columns and the number of its outputs; JSON can hold it."""

    def _parameter_groups(self, network: GraphNetwork) -> list[dict[str, Any]]:
        """Weights with their decay: all of them with the same."""
        return [{"params": list(network.parameters()), "weight_decay": self.weight_decay}]

    def _grouped(self, network: GraphNetwork, prefix: str, others: float = 0.0) -> list[dict[str, Any]]:
        """Weights whose names begin so with weight_decay, the others with another."""
        named = list(network.named_parameters())
        return [
            {"params": [each for name, each in named if name.startswith(prefix) == chosen], "weight_decay": decay}
            for chosen, decay in ((True, self.weight_decay), (False, others))
        ]

    def _step_adjacencies(self, data: LabeledGraph, rng: np.random.Generator) -> Iterator[Any] | None:
        """The neighbors that each step of training sees; None: all of them."""
        return None

    # ---- other graphs ----

    def transform(self, graph: Graph) -> Any:
        """Vectors for all nodes of a graph with features for all of them, by the trained network and all neighbors."""
        self._check_fitted()
        check_graph("transform", graph)
        return graph.nodes.split_by_type(self._applied(graph).vectors)

    def _scores_in(self, graph: Graph) -> NDArray[np.float32]:
        if self.trained_ is None or self.trained_.transductive_types:
            return super()._scores_in(graph)
        scores = self._applied(graph).scores
        assert scores is not None
        return scores

    def _applied(self, graph: Graph) -> Fitted:
        """What fit would have left for a graph, had it ended with the same weights."""
        if self.trained_ is None or self.trained_.transductive_types:
            raise self._not_inductive()
        assert self.labels_ is not None
        self._check_packages()
        with torch_left_alone(self.threads), own_torch_modes():
            vectors, outputs = self.network_class.applied(self.trained_, graph, device_of(self.device), self.threads)
            return Fitted(vectors.cpu().numpy(), labeled_scores(graph, self.labels_, outputs))

    def _not_inductive(self) -> InputError:
        if self.trained_ is None:
            return InputError(
                f"this run of {self.name} was saved by an earlier version, without the weights that other graphs "
                "need; train it again"
            )
        return InputError(
            f"{self.name} is not inductive here: its vectors were learned per node, since nodes of type "
            f"{listed(self.trained_.transductive_types)} have no features; give every type features, or fit again "
            "on this graph"
        )

    # ---- saving ----

    def _state(self) -> dict[str, NDArray[Any]]:
        return {} if self.trained_ is None else self.trained_.arrays()

    def _about(self) -> dict[str, Any]:
        return {} if self.trained_ is None else {"network": self.trained_.about()}

    def _restore(self, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
        self.trained_ = TrainedNetwork.restored(arrays, about["network"]) if "network" in about else None


class EarlyStoppedGNN(GNN):
    """Validation labels end the training, once loss and score have not been at their best for a while.

    Without them a fifth of the known labels, drawn at random, takes their part; a second training, on all labels, then
    runs for the number of epochs that was found (for 200 where fewer than ten are known).
    """

    patience: int

    def _stopping(self) -> EarlyStopping:
        return EarlyStopping(self.patience, self.criterion)

    def _num_epochs(self, data: LabeledGraph, rng: np.random.Generator) -> int:
        """As held-out labels say."""
        if len(data.labels.known) < FEWEST_TO_HOLD_OUT:
            return min(FEW_LABELS_EPOCHS, self.epochs)
        return best_epoch(data, partial(self._trainer, data, rng=rng), self.epochs, self._stopping(), rng)
