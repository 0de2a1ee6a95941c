"""What the neural baselines share: torch left as it was found, and labels as a loss and as scores."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.nn.functional import probabilities
from pine.nn.losses import LOSSES


def need_pyg(name: str) -> None:
    """Say how to get PyTorch Geometric where it is missing."""
    if find_spec("torch_geometric") is None:
        raise InputError(f"{name} needs PyTorch Geometric: pip install 'pine-embedding[pyg]'")


@dataclass(frozen=True, eq=False)
class Goal:
    """Labels on a device: where they are among all nodes, and what they are; numbers at zero mean, unit variance."""

    task: str
    num_outputs: int
    place: slice  # of the nodes of the labelled type
    positions: Tensor
    values: Tensor
    center: float
    scale: float

    @classmethod
    def of(cls, graph: Graph, labels: Labels, device: torch.device) -> Goal:
        place = graph.nodes.slice(labels.type)
        positions = torch.tensor(place.start + labels.known, device=device)
        labels, center, scale = labels.standardized()
        kind = torch.int64 if labels.task == "classes" else torch.float32
        known = torch.tensor(labels.values, device=device).to(kind)
        return cls(labels.task, labels.num_outputs, place, positions, known, center, scale)

    def loss(self, outputs: Tensor) -> Tensor:
        """The mean loss at the known nodes, of (num_nodes, num_outputs) before softmax or sigmoid."""
        return LOSSES[self.task](outputs.index_select(0, self.positions), self.values)

    def scores(self, outputs: Tensor) -> NDArray[np.float32]:
        """What Fitted.scores holds: (nodes of the labelled type, num_outputs)."""
        return scores_of(self.task, outputs[self.place], self.center, self.scale)


def scores_of(task: str, outputs: Tensor, center: float, scale: float) -> NDArray[np.float32]:
    """Outputs as probabilities, or as numbers in their own units: (count, num_outputs)."""
    own = probabilities(task, outputs)
    if task == "numbers":
        own = own * scale + center
    scores: NDArray[np.float32] = own.float().cpu().numpy()
    return scores
