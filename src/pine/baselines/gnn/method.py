"""What GCN, GAT and GraphSAGE are as methods: checked settings, and a network of PyTorch Geometric's layers.

Where every node type has features, no weight of the network belongs to a node, and the method is inductive: transform
and predict give another graph to the network.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pine.baselines.gnn.trained_network import Trained
from pine.embedder import Embedder, Fitted
from pine.errors import InputError, listed
from pine.graph import Graph
from pine.labels import Labels

# What needs torch is imported where it is used, so that `import pine` stays quick.


class GraphNetwork(Embedder):
    """A subclass names its settings that count something and the module of its network."""

    supervised: ClassVar[bool] = True
    counts: ClassVar[tuple[str, ...]] = ("dim", "epochs")  # settings that are at least 1
    dropout: float
    device: str
    threads: int | None
    trained_: Trained | None  # None: of a run that an earlier version saved

    @abstractmethod
    def _code(self) -> Any:
        """The module of the network: learn trains one, and Network is its class."""

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        from pine.baselines.gnn.neural import need_pyg
        from pine.nn.training import torch_left_alone

        assert labels is not None
        need_pyg(self.name)
        self._check()
        fitted: Fitted
        with torch_left_alone(self.threads):
            fitted, network = self._code().learn(self, graph, labels, rng)
        self.trained_ = network.trained()
        return fitted

    def _check(self) -> None:
        for setting in self.counts:
            if getattr(self, setting) < 1:
                raise InputError(f"{setting} must be at least 1, got {getattr(self, setting)}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be at least 0 and below 1, got {self.dropout}")

    # ---- other graphs ----

    def transform(self, graph: Graph) -> Any:
        """Vectors for all nodes of a graph with features for all of them, by the trained network and all neighbors."""
        self._check_fitted()
        return graph.nodes.split_by_type(self._fitted_to(graph).vectors)

    def _scores_in(self, graph: Graph) -> NDArray[np.float32]:
        if self.trained_ is None or self.trained_.own_rows:
            return super()._scores_in(graph)
        scores = self._fitted_to(graph).scores
        assert scores is not None
        return scores

    def _fitted_to(self, graph: Graph) -> Fitted:
        """What fit would have left for a graph, had it ended with the same weights."""
        from pine.baselines.gnn.neural import need_pyg, scores_of
        from pine.nn.training import device_of, torch_left_alone

        if self.trained_ is None or self.trained_.own_rows:
            raise self._not_inductive()
        assert self.labels_ is not None
        need_pyg(self.name)
        with torch_left_alone(self.threads):
            given = (self.trained_, graph, device_of(self.device), self.threads)
            vectors, outputs = self._code().Network.applied(*given)
            own = outputs[graph.nodes.slice(self.labels_.type)]
            scores = scores_of(self.labels_.task, own, *self.labels_.standardized()[1:])
        return Fitted(vectors.cpu().numpy(), scores)

    def _not_inductive(self) -> InputError:
        if self.trained_ is None:
            return InputError(
                f"this run of {self.name} was saved by an earlier version, without the weights that other graphs "
                "need; train it again"
            )
        return InputError(
            f"{self.name} is not inductive here: its vectors were learned per node, since nodes of type "
            f"{listed(self.trained_.own_rows)} have no features; give every type features, or fit again on this graph"
        )

    # ---- saving ----

    def _state(self) -> dict[str, NDArray[Any]]:
        return {} if self.trained_ is None else self.trained_.arrays()

    def _about(self) -> dict[str, Any]:
        return {} if self.trained_ is None else {"network": self.trained_.about()}

    def _restore(self, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
        self.trained_ = Trained.restored(arrays, about["network"]) if "network" in about else None
