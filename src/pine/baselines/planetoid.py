"""Planetoid-G: vectors e_v that predict the label, and also contexts, log P(c | v) = log softmax(w_c . e_v + b_c) (Yang
et al., 2016).

Contexts come from two sources: nodes near v on random walks, and nodes with v's label. As in its authors' code, label
contexts are learned first, graph contexts next, and then the classifier, softmax(W e_v + b), together with the vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels, Task

# What needs torch is imported where it is used, so that `import pine` stays quick.


@dataclass
class Planetoid(Embedder):
    """embedding_ is e. Attributes are not looked at, also where nodes have some; types are not told apart, and edges go
    both ways. A step costs some 2,000 nodes x num_nodes x dim: the softmax is over all nodes.

    Defaults: the PINE paper's setting, Section 4.1 (batches of 200, rates of .01, attributes muted, a softmax), and its
    authors' code for the rest. That code stops on the labels it is scored on; here a share of the known labels is held
    out to choose the number of the classifier's steps, and then all is learned again from all labels. A GPU sums in an
    order of its own.
    """

    name: ClassVar[str] = "planetoid"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classes",)

    dim: int = 64
    learning_rate: float = 0.01  # of the classifier and of vectors by it
    context_rate: float = 0.01
    batch: int = 200  # labelled nodes in a step of the classifier
    label_batch: int = 200  # pairs of nodes with the same label in a step
    graph_batch: int = 200  # walks in a step
    label_steps: int = 2000
    graph_steps: int | None = None  # None: 70, or what five walks from every node take
    length: int = 10  # steps of a walk
    window: int = 3
    steps: int = 5000  # of the classifier, at most
    patience: int = 1000  # steps without a lower held-out loss
    held_out: float = 0.2  # of the known labels
    seed: Seed = 0
    device: str = "auto"

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        from pine.baselines.planetoid_network import learn
        from pine.nn.training import torch_left_alone

        assert labels is not None
        self._check()
        with torch_left_alone(threads=1):  # with several, bits would depend on how many
            return learn(self, graph, labels, rng)

    def _check(self) -> None:
        counts = ("dim", "batch", "label_batch", "graph_batch", "length", "window", "steps", "patience")
        for name in counts:
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.label_steps < 0 or (self.graph_steps is not None and self.graph_steps < 0):
            raise InputError(
                f"label_steps and graph_steps must be at least 0, got {self.label_steps} and {self.graph_steps}"
            )
        if not 0 <= self.held_out < 1:
            raise InputError(f"held_out must be a share of at least 0 and below 1, got {self.held_out}")
        if not (self.learning_rate > 0 and self.context_rate > 0):
            raise InputError(
                f"learning_rate and context_rate must be positive, got {self.learning_rate} and {self.context_rate}"
            )
