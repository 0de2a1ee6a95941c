"""GraphSAGE: x_v' = W x_v + U max over neighbors u of relu(P x_u + p), in two layers (Hamilton et al., 2017), on
PyTorch Geometric's layers; the aggregator "mean" takes the mean of x_u instead.

Where nodes have no attributes, x is learned: a table with a row for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pine.baselines.gnn.method import GraphNetwork
from pine.embedder import Seed


@dataclass
class GraphSAGE(GraphNetwork):
    """embedding_ is the second layer, at unit length; a linear classifier reads it. Types are not told apart, except
    that each has attributes of its own or none; weights of edges are not looked at, and edges go both ways. Where all
    types have attributes, transform and predict take other graphs too, with all neighbors.

    Rate, samples and the unit length of the last layer alone: its authors' code. Their ten epochs in batches are for
    large graphs; here every epoch is one step on all labels, and the number of epochs, dropout and weight decay were
    chosen on held-out training labels of Cora and Wikipedia (50 %) and Cora (10 %).

    What differs from that code: W x_v and U max are added, which is the paper's product with both joined, not set side
    by side; P keeps the width of x, 64, instead of 512; samples have no repeats; attributes pass a linear map to dim
    first, so that types with attributes of any width meet; gradients are not clipped.

    The same seed and number of threads give the same bits on a CPU; a GPU sums in an order of its own.
    """

    name: ClassVar[str] = "graphsage"
    revision: ClassVar[int] = 1
    counts: ClassVar[tuple[str, ...]] = ("dim", "epochs", "samples_1", "samples_2")

    dim: int = 64
    aggregator: Literal["pool", "mean"] = "pool"
    samples_1: int = 25  # neighbors that a node looks at in the first layer, drawn anew in every epoch
    samples_2: int = 10  # and in the second
    epochs: int = 150
    learning_rate: float = 0.01
    dropout: float = 0.5
    weight_decay: float = 0.0
    seed: Seed = 0
    device: str = "auto"
    threads: int | None = None

    def _code(self) -> Any:
        import pine.baselines.gnn.graphsage_network as code

        return code
