"""What the networks of GCN, GAT and GraphSAGE share: weights apart from a graph, to which other graphs can be given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pine._version import __version__
from pine.baselines.gnn.inputs import Attributes, Inputs, attributes_of, check_columns
from pine.baselines.gnn.trained_network import Columns, Trained
from pine.errors import InputError
from pine.graph import Graph


class BaseNetwork(nn.Module, ABC):
    """A subclass makes its layers by settings that JSON can hold, so that a saved network is made again by them."""

    def __init__(self, columns: Sequence[Columns], dim: int, **settings: Any) -> None:
        super().__init__()
        self.columns, self.settings = tuple(columns), {"dim": dim, **settings}
        self.inputs = Inputs(columns, dim)

    @staticmethod
    @abstractmethod
    def links(graph: Graph, device: torch.device, threads: int | None) -> Any:
        """Who speaks to whom in a graph, all neighbors, as the layers take it."""

    @abstractmethod
    def forward(self, x: Attributes, links: Any, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """(num_nodes, dim) and (num_nodes, num_outputs); with a generator, entries are dropped."""

    def trained(self) -> Trained:
        """What can be kept of it."""
        serves_others = all(each.kind != "identity" for each in self.columns)
        weights = self.state_dict() if serves_others else {}
        return Trained(self.columns, self.settings, {name: each.cpu().numpy() for name, each in weights.items()})

    @classmethod
    @torch.no_grad()
    def applied(
        cls, trained: Trained, graph: Graph, device: torch.device, threads: int | None
    ) -> tuple[Tensor, Tensor]:
        """What a trained network says of another graph: (num_nodes, dim) and (num_nodes, num_outputs)."""
        check_columns(graph, trained.columns)
        network = cls(trained.columns, **trained.settings)
        try:
            network.load_state_dict({name: torch.tensor(array) for name, array in trained.weights.items()})
        except RuntimeError:
            raise InputError(
                f"the weights of this run do not fit the network of pine {__version__}, train it again"
            ) from None
        x, links = attributes_of(graph, trained.columns, device), cls.links(graph, device, threads)
        outputs: tuple[Tensor, Tensor] = network.to(device)(x, links)
        return outputs
