"""GCN: Z = S relu(S X W_1) W_2 with S = D^-1/2 (A + I) D^-1/2 (Kipf and Welling, 2017), on PyTorch Geometric's layers.

Where nodes have no attributes, X is the identity matrix and W_1 a table with a row for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels

# What needs torch is imported where it is used, so that `import pine` stays quick.


@dataclass
class GCN(Embedder):
    """embedding_ is the hidden layer. Types are not told apart, except that each has attributes of its own or none.

    Defaults: its authors' code, with the 64 dimensions of the PINE paper's comparison in place of 16. That code also
    stops early on validation labels; here are none, and all epochs are trained.
    """

    name: ClassVar[str] = "gcn"
    supervised: ClassVar[bool] = True

    dim: int = 64
    epochs: int = 200
    learning_rate: float = 0.01
    dropout: float = 0.5
    weight_decay: float = 5e-4  # of W_1 alone
    seed: Seed = 0
    device: str = "auto"
    threads: int | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        from pine.baselines.neural import need_pyg, torch_left_alone

        assert labels is not None
        need_pyg(self.name)
        if self.dim < 1 or self.epochs < 1 or not 0 <= self.dropout < 1:
            raise InputError(
                f"dim and epochs must be at least 1, and dropout at least 0 and below 1, "
                f"got {self.dim}, {self.epochs} and {self.dropout}"
            )
        from pine.baselines.gcn_network import learn

        with torch_left_alone(self.threads):
            return learn(self, graph, labels, rng)
