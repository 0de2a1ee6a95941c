"""Planetoid-G: vectors e_v that predict the label, and also contexts, log P(c | v) = log softmax(w_c . e_v + b_c) (Yang
et al., 2016).

Contexts come from two sources: nodes near v on random walks, and nodes with v's label. As in its authors' code, label
contexts are learned first, graph contexts next, and then the classifier, softmax(W e_v + b), together with the vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pine._internal.settings import Chance, Count, NonNegativeInt, Positive
from pine.baselines.planetoid.contexts import ContextSampler
from pine.baselines.planetoid.network import PlanetoidNetwork
from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels, Task
from pine.nn.training import device_of, torch_left_alone


@dataclass
class Planetoid(Embedder):
    """embedding_ is e. Features are not looked at, also where nodes have some; types are not told apart, and edges go
    both ways. A step costs some 2,000 nodes x num_nodes x dim: the softmax is over all nodes.

    Defaults: the PINE paper's setting, Section 4.1 (batches of 200, rates of .01, attributes muted, a softmax), and its
    authors' code for the rest, but that large graphs and many labels get their share of training too (contexts.py).
    That code stops on the labels it is scored on; here a share of the known labels is held out to choose the number of
    the classifier's steps, and then all is learned again from all labels. A GPU sums in an order of its own.

    dim: the length of a vector.
    learning_rate: of the classifier and of vectors by it.
    context_rate: the learning rate by contexts.
    batch: labeled nodes in a step of the classifier.
    label_batch: pairs of nodes with the same label in a step.
    graph_batch: walks in a step.
    label_steps: steps on pairs with the same label; None: 2,000, or fewer and larger ones that make up label_pairs.
    label_pairs: how many for each known label at least; chosen on held-out labels of a part of pubmed.
    graph_steps: steps on walks; None: 70, or what five walks from every node take.
    length: steps of a walk.
    window: how far apart in a walk two nodes may be to be each other's context.
    steps: of the classifier, at most.
    patience: steps without a lower held-out loss.
    held_out: the share of the known labels that is held out.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    """

    name: ClassVar[str] = "planetoid"
    revision: ClassVar[int] = 2
    supervised: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classes",)

    dim: Count = 64
    learning_rate: Positive = 0.01
    context_rate: Positive = 0.01
    batch: Count = 200
    label_batch: Count = 200
    graph_batch: Count = 200
    label_steps: NonNegativeInt | None = None
    label_pairs: Count = 300
    graph_steps: NonNegativeInt | None = None
    length: Count = 10
    window: Count = 3
    steps: Count = 5000
    patience: Count = 1000
    held_out: Chance = 0.2
    seed: Seed = 0
    device: str = "auto"

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        assert labels is not None
        seed = int(rng.integers(2**63))
        labeled = graph.nodes.slice(labels.type)
        with torch_left_alone(threads=1):  # with several, bits would depend on how many
            device = device_of(self.device)
            contexts = ContextSampler(
                label_batch=self.label_batch,
                label_steps=self.label_steps,
                label_pairs=self.label_pairs,
                graph_batch=self.graph_batch,
                graph_steps=self.graph_steps,
                length=self.length,
                window=self.window,
            )

            def start(nodes: NDArray[np.int64], values: NDArray[np.int64]) -> PlanetoidNetwork:
                network = PlanetoidNetwork(
                    graph.num_nodes,
                    labels.num_outputs,
                    self.dim,
                    learning_rate=self.learning_rate,
                    context_rate=self.context_rate,
                    batch=self.batch,
                    rng=np.random.default_rng(seed),
                    device=device,
                )
                for pairs in contexts.batches(graph, nodes, values, network.rng):
                    network.context_step(pairs)
                return network

            nodes = labeled.start + labels.known
            network = train(start, nodes, labels.values, self.steps, self.held_out, self.patience, rng)
            vectors, scores = network.e.cpu().numpy(), network.scores()[labeled].softmax(1).cpu().numpy()
        if not (np.isfinite(vectors).all() and np.isfinite(scores).all()):
            raise InputError("training diverged; lower learning_rate or context_rate")
        return Fitted(vectors, scores)


def train(
    start: Callable[[NDArray[np.int64], NDArray[np.int64]], PlanetoidNetwork],
    nodes: NDArray[np.int64],
    values: NDArray[np.int64],
    steps: int,
    held_out: float,
    patience: int,
    rng: np.random.Generator,
    min_labels: int = 10,
) -> PlanetoidNetwork:
    """Choose the number of the classifier's steps on held-out labels, then learn from all.

    start gives a network that has learned the contexts of labeled nodes. Of fewer than min_labels, none is held out.
    """
    count = int(held_out * len(nodes))
    if count and len(nodes) >= min_labels:
        order = rng.permutation(len(nodes))
        seen, held = np.sort(order[count:]), order[:count]
        network = start(nodes[seen], values[seen])
        steps = network.best_steps(nodes[seen], values[seen], nodes[held], values[held], steps, patience)
    network = start(nodes, values)
    network.learn_classes(nodes, values, steps)
    return network
