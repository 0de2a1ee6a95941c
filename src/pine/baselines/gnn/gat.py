"""GAT: x_v' = elu(sum of a_vu W x_u), a_vu = softmax over u of leaky_relu(a . [W x_v, W x_u]), u: v and its neighbors
(Veličković et al., 2018), on PyTorch Geometric's layers.

Several such heads stand side by side in the hidden layer; a last one gives the classes. Where nodes have no attributes,
x is the identity matrix and W a table with a row for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pine.baselines.gnn.method import GraphNetwork
from pine.embedder import Seed
from pine.errors import InputError


@dataclass
class GAT(GraphNetwork):
    """embedding_ is the hidden layer. Types are not told apart, except that each has attributes of its own or none;
    weights of edges are not looked at, and edges go both ways. Where all types have attributes, transform and predict
    take other graphs too.

    Defaults: its authors' code for Cora, which is the PINE paper's setting too. That code stops early on validation
    labels. Here a fifth of the known labels, drawn at random, takes their part; a second training, on all labels, then
    runs for the number of epochs that was found (for 200 where fewer than ten are known). Dropout is the paper's, on
    what enters a layer and on attention; the authors' code also drops W x, and gives each head a mask of its own.

    The same seed and number of threads give the same bits on a CPU; a GPU sums in an order of its own.
    """

    name: ClassVar[str] = "gat"
    revision: ClassVar[int] = 1
    counts: ClassVar[tuple[str, ...]] = ("dim", "heads", "epochs", "patience")

    dim: int = 64  # of all heads together
    heads: int = 8
    epochs: int = 1000  # at most
    patience: int = 100  # epochs without the best held-out loss or score
    learning_rate: float = 0.005
    dropout: float = 0.6
    weight_decay: float = 5e-4  # of everything that is learned
    seed: Seed = 0
    device: str = "auto"
    threads: int | None = None

    def _code(self) -> Any:
        import pine.baselines.gnn.gat_network as code

        return code

    def _check(self) -> None:
        super()._check()
        if self.dim % self.heads:
            raise InputError(f"dim must be a multiple of heads, got {self.dim} and {self.heads}")
