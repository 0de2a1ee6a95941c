"""GCN: Z = S relu(S X W_1) W_2 with S = D^-1/2 (A + I) D^-1/2 (Kipf and Welling, 2017), on PyTorch Geometric's layers.

Where nodes have no attributes, X is the identity matrix and W_1 a table with a row for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pine.baselines.gnn.method import GraphNetwork
from pine.embedder import Seed


@dataclass
class GCN(GraphNetwork):
    """embedding_ is the hidden layer. Types are not told apart, except that each has attributes of its own or none.
    Where all have some, transform and predict take other graphs too.

    Defaults: its authors' code, with the 64 dimensions of the PINE paper's comparison in place of 16. That code also
    stops early on validation labels; here are none, and all epochs are trained.
    """

    name: ClassVar[str] = "gcn"
    revision: ClassVar[int] = 1

    dim: int = 64
    epochs: int = 200
    learning_rate: float = 0.01
    dropout: float = 0.5
    weight_decay: float = 5e-4  # of W_1 alone
    seed: Seed = 0
    device: str = "auto"
    threads: int | None = None

    def _code(self) -> Any:
        import pine.baselines.gnn.gcn_network as code

        return code
