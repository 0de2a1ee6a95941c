"""What the networks share: weights apart from a graph, to which other graphs can be given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine._version import __version__
from pine.baselines.gnn.inputs import Features, InputColumns, InputLayer, check_columns, features_of
from pine.errors import InputError
from pine.graph import Graph
from pine.nn import Neighbors
from pine.nn.targets import Targets
from pine.propagation import looped_adjacency

WEIGHT_PREFIX = "network."  # of the names of weights in a saved run


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A network as arrays and JSON: columns and settings are what its class takes, weights have their names in it.

    A network whose weights belong to nodes is of no use for other nodes: its weights are not kept.
    """

    columns: tuple[InputColumns, ...]
    settings: dict[str, Any]
    weights: dict[str, NDArray[np.float32]]

    @property
    def transductive_types(self) -> list[str]:
        """The node types whose nodes have weights of their own."""
        return [each.type for each in self.columns if each.kind == "identity"]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is saved as numbers."""
        return {WEIGHT_PREFIX + name: array for name, array in self.weights.items()}

    def about(self) -> dict[str, Any]:
        """What is saved as JSON."""
        return {"columns": [list(each) for each in self.columns], "settings": self.settings}

    @classmethod
    def restored(cls, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> Self:
        """From what arrays and about gave."""
        weights = {
            name.removeprefix(WEIGHT_PREFIX): array for name, array in arrays.items() if name.startswith(WEIGHT_PREFIX)
        }
        return cls(tuple(InputColumns(*each) for each in about["columns"]), about["settings"], weights)


class GraphNetwork(nn.Module, ABC):
    """A subclass makes its layers by settings that JSON can hold, so that a saved network is made again by them."""

    def __init__(self, columns: Sequence[InputColumns], width: int, **settings: Any) -> None:
        """width: of X W. settings: what the subclass takes beside the columns."""
        super().__init__()
        self.columns, self.settings = tuple(columns), settings
        self.inputs = InputLayer(columns, width)

    @staticmethod
    @abstractmethod
    def adjacency(graph: Graph, device: torch.device, threads: int | None) -> Any:
        """All neighbors of every node, as the layers take them."""

    @abstractmethod
    def forward(self, x: Features, adjacency: Any, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """(num_nodes, dim) and (num_nodes, num_outputs); with dropout where there is a generator."""

    def loss(self, x: Features, adjacency: Any, targets: Targets, generator: torch.Generator) -> Tensor:
        """What a step of training lowers: the mean loss at the known labels."""
        return targets.loss(self(x, adjacency, generator)[1])

    def trained(self) -> TrainedNetwork:
        """What can be kept of it."""
        inductive = all(each.kind != "identity" for each in self.columns)
        weights = self.state_dict() if inductive else {}
        kept = {name: each.cpu().numpy() for name, each in weights.items()}
        return TrainedNetwork(self.columns, self.settings, kept)

    @classmethod
    @torch.no_grad()
    def applied(
        cls, trained: TrainedNetwork, graph: Graph, device: torch.device, threads: int | None
    ) -> tuple[Tensor, Tensor]:
        """The outputs of a trained network for another graph: (num_nodes, dim) and (num_nodes, num_outputs)."""
        check_columns(graph, trained.columns)
        network = cls(trained.columns, **trained.settings)
        try:
            network.load_state_dict({name: torch.tensor(array) for name, array in trained.weights.items()})
        except RuntimeError:
            raise InputError(
                f"the weights of this run do not fit the network of pine {__version__}, train it again"
            ) from None
        x, adjacency = features_of(graph, trained.columns, device), cls.adjacency(graph, device, threads)
        outputs: tuple[Tensor, Tensor] = network.to(device)(x, adjacency)
        return outputs


class ConvolutionNetwork(GraphNetwork):
    """A network that sums over neighbors with the weights in S (pine.propagation.looped_adjacency).

    The sum is pine.nn's. It has the same bits in every run, also on a GPU; torch's own product with a sparse matrix has
    not, and its gradient sorts the matrix anew in every step.
    """

    @staticmethod
    def adjacency(graph: Graph, device: torch.device, threads: int | None) -> Neighbors:
        return Neighbors.of(looped_adjacency(graph), device=device, threads=threads)
