"""The training of Planetoid-G on torch: plain gradient steps, with gradients of a softmax written out.

The gradient of -log softmax(s)_c is softmax(s) - [c]. Written out, it is made once for a center that is in many pairs,
and in blocks of centers, so that memory is BLOCK numbers whatever the number of nodes.
"""

from __future__ import annotations

from itertools import islice
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from pine.baselines.planetoid_contexts import Pairs, batches, graph_contexts, label_contexts
from pine.embedder import Fitted
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.nn.training import device_of

if TYPE_CHECKING:
    from pine.baselines.planetoid import Planetoid

BLOCK = 2**24  # scores of a block of centers for all nodes
EMBEDDING_SPREAD = 0.01  # of the first vectors, as in the code of Planetoid's authors
FEWEST = 10  # labels of which some are held out
GRAPH_STEPS = 70  # in the code of Planetoid's authors
# From every node, on average, at least: those steps are five walks from each node of Cora. On pubmed they would be less
# than one, after which predictions are those of the most frequent class.
WALKS = 5
CHECK = 10  # steps between two looks at the held-out labels


def learn(model: Planetoid, graph: Graph, labels: Labels, rng: np.random.Generator) -> Fitted:
    """Choose the number of the classifier's steps on held-out labels, then learn from all."""
    seed = int(rng.integers(2**63))
    place = graph.nodes.slice(labels.type)
    nodes, values = place.start + labels.known, labels.values
    steps = model.steps
    out = int(model.held_out * len(nodes))
    if out and len(nodes) >= FEWEST:
        order = rng.permutation(len(nodes))
        seen, held = np.sort(order[out:]), order[:out]
        network = Network(model, graph, labels.num_outputs, seed)
        network.learn_contexts(nodes[seen], values[seen])
        steps = network.best_steps(nodes[seen], values[seen], nodes[held], values[held])
    network = Network(model, graph, labels.num_outputs, seed)
    network.learn_contexts(nodes, values)
    network.learn_classes(nodes, values, steps)
    vectors, scores = network.e.cpu().numpy(), network.scores()[place].softmax(1).cpu().numpy()
    if not (np.isfinite(vectors).all() and np.isfinite(scores).all()):
        raise InputError("training diverged; lower learning_rate or context_rate")
    return Fitted(vectors, scores)


class Network:
    """Vectors e (num_nodes, dim), what predicts contexts from them, and the classifier on them."""

    def __init__(self, model: Planetoid, graph: Graph, num_classes: int, seed: int) -> None:
        self.model, self.graph, self.rng = model, graph, np.random.default_rng(seed)
        self.device = device_of(model.device)
        draw = torch.Generator().manual_seed(int(self.rng.integers(2**62)))
        self.e = self._here(EMBEDDING_SPREAD * torch.randn(graph.num_nodes, model.dim, generator=draw))
        self.context_w, self.context_b = map(self._here, _layer(graph.num_nodes, model.dim, draw))
        self.class_w, self.class_b = map(self._here, _layer(num_classes, model.dim, draw))

    def _here(self, values: Tensor | np.ndarray) -> Tensor:
        """On the device of this network."""
        return torch.as_tensor(values).to(self.device)

    def scores(self) -> Tensor:
        """Of all nodes, before the softmax: (num_nodes, num_classes)."""
        return self.e @ self.class_w.T + self.class_b

    def learn_contexts(self, nodes: np.ndarray, values: np.ndarray) -> None:
        """Label contexts of the labelled nodes, then graph contexts."""
        model = self.model
        for pairs in islice(label_contexts(nodes, values, model.label_batch, self.rng), model.label_steps):
            self.context_step(pairs)
        walked = graph_contexts(self.graph, model.graph_batch, model.length, model.window, self.rng)
        for pairs in islice(walked, self._graph_steps()):
            self.context_step(pairs)

    def _graph_steps(self) -> int:
        """As given, or by the number of nodes."""
        if self.model.graph_steps is not None:
            return self.model.graph_steps
        return max(GRAPH_STEPS, ceil(WALKS * self.graph.num_nodes / self.model.graph_batch))

    def context_step(self, pairs: Pairs) -> None:
        """Follow the gradient of the sum of -log P(context | center)."""
        centers, row, count = np.unique(pairs[0], return_inverse=True, return_counts=True)
        order = np.argsort(row, kind="stable")
        context, row, ends = pairs[1][order], row[order], np.concatenate([[0], np.cumsum(count)])
        rate, size = self.model.context_rate, max(1, BLOCK // len(self.e))
        change_w, change_b = torch.zeros_like(self.context_w), torch.zeros_like(self.context_b)
        for lo in range(0, len(centers), size):
            hi = min(lo + size, len(centers))
            part = slice(ends[lo], ends[hi])
            at = self._here((row[part] - lo) * len(self.e) + context[part])
            here = self._here(centers[lo:hi])
            e = self.e[here]
            gradient = (e @ self.context_w.T + self.context_b).softmax(1)
            gradient *= self._here(count[lo:hi].astype(np.float32))[:, None]
            gradient.view(-1).index_add_(0, at, torch.full((len(at),), -1.0, device=self.device))
            self.e.index_add_(0, here, gradient @ self.context_w, alpha=-rate)
            change_w += gradient.T @ e
            change_b += gradient.sum(0)
        self.context_w -= rate * change_w
        self.context_b -= rate * change_b

    def class_step(self, nodes: Tensor, values: Tensor) -> None:
        """Follow the gradient of the mean of -log P(label | node)."""
        e, rate = self.e[nodes], self.model.learning_rate
        gradient = (e @ self.class_w.T + self.class_b).softmax(1)
        gradient[torch.arange(len(nodes), device=self.device), values] -= 1
        gradient /= len(nodes)
        self.e.index_add_(0, nodes, gradient @ self.class_w, alpha=-rate)
        self.class_w -= rate * gradient.T @ e
        self.class_b -= rate * gradient.sum(0)

    def learn_classes(self, nodes: np.ndarray, values: np.ndarray, steps: int) -> None:
        at, y = self._here(nodes), self._here(values)
        for part in islice(batches(np.arange(len(nodes)), self.model.batch, self.rng), steps):
            drawn = self._here(part)
            self.class_step(at[drawn], y[drawn])

    def best_steps(self, nodes: np.ndarray, values: np.ndarray, held: np.ndarray, truth: np.ndarray) -> int:
        """After how many steps the held-out loss was least, looking on until it did not fall for a while.

        Few labels are held out: their accuracy jumps, and would often be at its best early by chance.
        """
        at, y = self._here(held), self._here(truth)
        least, kept = float("inf"), CHECK
        for done in range(CHECK, self.model.steps + 1, CHECK):
            self.learn_classes(nodes, values, CHECK)
            loss = float(cross_entropy(self.scores()[at], y))
            if loss < least:
                least, kept = loss, done
            if done - kept >= self.model.patience:
                break
        return kept


def _layer(num_outputs: int, dim: int, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """Weights by Glorot's rule, and zeros."""
    reach = (6 / (num_outputs + dim)) ** 0.5
    return reach * (2 * torch.rand(num_outputs, dim, generator=draw) - 1), torch.zeros(num_outputs)
