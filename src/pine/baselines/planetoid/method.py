"""Planetoid-G: vectors e_v that predict the label, and also contexts, log P(c | v) = log softmax(w_c . e_v + b_c) (Yang
et al., 2016).

Contexts come from two sources: nodes near v on random walks, and nodes with v's label. As in its authors' code, label
contexts are learned first, graph contexts next, and then the classifier, softmax(W e_v + b), together with the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from pine._internal.settings import Chance, Count, NonNegativeInt, Positive
from pine.baselines.planetoid.contexts import ContextSampler, Generators, Labeled
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
    revision: ClassVar[int] = 3
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
        with torch_left_alone(threads=1):  # with several, bits would depend on how many
            known = np.arange(labels.num_outputs)
            ((vectors, scores),) = self._fit_several(graph, [labels], [known], [rng], device_of(self.device))
        if not (np.isfinite(vectors).all() and np.isfinite(scores).all()):
            raise InputError("training diverged; lower learning_rate or context_rate")
        return Fitted(vectors, scores)

    def _fit_several(
        self,
        graph: Graph,
        labels: Sequence[Labels],
        outputs: Sequence[NDArray[np.int64]],
        rngs: Generators,
        device: torch.device,
    ) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Vectors and scores of fits side by side, each with its labels, the classes it knows, and its generator."""
        contexts = self._contexts()
        nodes = graph.nodes.slice(labels[0].type)
        seeds = [int(rng.integers(2**63)) for rng in rngs]

        def start(which: NDArray[np.int64], labeled: Sequence[Labeled]) -> PlanetoidNetwork:
            network = PlanetoidNetwork(
                graph.num_nodes,
                labels[0].num_outputs,
                self.dim,
                [outputs[i] for i in which],
                [np.random.default_rng(seeds[i]) for i in which],
                learning_rate=self.learning_rate,
                context_rate=self.context_rate,
                batch=self.batch,
                device=device,
            )
            for pairs in contexts.batches(graph, labeled, network.rngs):
                network.context_step(pairs)
            return network

        labeled = [Labeled(nodes.start + some.known, some.values) for some in labels]
        made: dict[int, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}
        for which, network in train(start, contexts.group, labeled, self.steps, self.held_out, self.patience, rngs):
            scores = network.scores()[:, nodes].softmax(2).cpu().numpy()
            made |= dict(zip(which.tolist(), zip(network.e.cpu().numpy(), scores, strict=True), strict=True))
        return [made[i] for i in range(len(labels))]

    def _contexts(self) -> ContextSampler:
        return ContextSampler(
            label_batch=self.label_batch,
            label_steps=self.label_steps,
            label_pairs=self.label_pairs,
            graph_batch=self.graph_batch,
            graph_steps=self.graph_steps,
            length=self.length,
            window=self.window,
        )


def train(
    start: Callable[[NDArray[np.int64], Sequence[Labeled]], PlanetoidNetwork],
    group: Callable[[Labeled], Hashable],
    labeled: Sequence[Labeled],
    steps: int,
    held_out: float,
    patience: int,
    rngs: Generators,
    min_labels: int = 10,
) -> Iterator[tuple[NDArray[np.int64], PlanetoidNetwork]]:
    """Choose the number of the classifier's steps on held-out labels, then learn from all: fits and their network.

    start gives a network of some of the fits that has learned the contexts of their labeled nodes; all of one network
    are of one group. Of fewer than min_labels, none is held out.
    """
    wanted = np.full(len(labeled), steps)
    parts = [_split(some, held_out, min_labels, rng) for some, rng in zip(labeled, rngs, strict=True)]
    judged = {i: part for i, part in enumerate(parts) if part is not None}
    for which in _alike({i: group(seen) for i, (seen, _) in judged.items()}):
        seen, held = ([judged[i][k] for i in which] for k in (0, 1))
        wanted[which] = start(which, seen).best_steps(seen, held, steps, patience)
    for which in _alike(dict(enumerate(map(group, labeled)))):
        own = [labeled[i] for i in which]
        network = start(which, own)
        network.learn_classes(own, wanted[which])
        yield which, network


def _split(
    labeled: Labeled, held_out: float, min_labels: int, rng: np.random.Generator
) -> tuple[Labeled, Labeled] | None:
    """Labels to learn from, and those to choose by; None where there are too few."""
    nodes, values = labeled
    count = int(held_out * len(nodes))
    if not count or len(nodes) < min_labels:
        return None
    order = rng.permutation(len(nodes))
    seen, held = np.sort(order[count:]), order[:count]
    return Labeled(nodes[seen], values[seen]), Labeled(nodes[held], values[held])


def _alike(groups: Mapping[int, Hashable]) -> Iterator[NDArray[np.int64]]:
    """The numbers of the fits of each group."""
    for group in dict.fromkeys(groups.values()):
        yield np.array([i for i, each in groups.items() if each == group])
