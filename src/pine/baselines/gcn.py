"""GCN: Z = S relu(S X W_1) W_2 with S = D^-1/2 (A + I) D^-1/2 (Kipf and Welling, 2017), on PyTorch Geometric's layers.

Where nodes have no attributes, X is the identity matrix and W_1 a table with a row for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pine.baselines.graph_network import GraphNetwork
from pine.embedder import Fitted, Seed
from pine.graph import Graph
from pine.labels import Labels


@dataclass
class GCN(GraphNetwork):
    """embedding_ is the hidden layer. Types are not told apart, except that each has attributes of its own or none.

    Defaults: its authors' code, with the 64 dimensions of the PINE paper's comparison in place of 16. That code also
    stops early on validation labels; here are none, and all epochs are trained.
    """

    name: ClassVar[str] = "gcn"

    dim: int = 64
    epochs: int = 200
    learning_rate: float = 0.01
    dropout: float = 0.5
    weight_decay: float = 5e-4  # of W_1 alone
    seed: Seed = 0
    device: str = "auto"
    threads: int | None = None

    def _learn(self, graph: Graph, labels: Labels, rng: np.random.Generator) -> Fitted:
        from pine.baselines.gcn_network import learn

        return learn(self, graph, labels, rng)
