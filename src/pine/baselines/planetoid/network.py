"""The training of Planetoid-G on torch: plain gradient steps, with gradients of a softmax written out.

The gradient of -log softmax(s)_c is softmax(s) - [c]. Written out, it is made once for a center that is in many pairs,
and in blocks of centers, so that memory is bounded whatever the number of nodes.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from pine.baselines.planetoid.contexts import Pairs, endless_batches


class PlanetoidNetwork:
    """Vectors e (num_nodes, dim), what predicts contexts from them, and the classifier on them.

    max_scores: the softmax over contexts is made for so many centers at a time that it has at most so many numbers.
    """

    def __init__(
        self,
        num_nodes: int,
        num_classes: int,
        dim: int,
        *,
        learning_rate: float,
        context_rate: float,
        batch: int,
        rng: np.random.Generator,
        device: torch.device,
        max_scores: int = 2**24,
    ) -> None:
        self.learning_rate, self.context_rate, self.batch = learning_rate, context_rate, batch
        self.rng, self.device, self.max_scores = rng, device, max_scores
        draw = torch.Generator().manual_seed(int(rng.integers(2**62)))
        # A deviation of .01, as in the code of Planetoid's authors.
        self.e = self._here(0.01 * torch.randn(num_nodes, dim, generator=draw))
        self.context_w, self.context_b = map(self._here, _linear(num_nodes, dim, draw))
        self.class_w, self.class_b = map(self._here, _linear(num_classes, dim, draw))

    def _here(self, values: Tensor | np.ndarray) -> Tensor:
        """On the device of this network."""
        return torch.as_tensor(values).to(self.device)

    def scores(self) -> Tensor:
        """Of all nodes, before the softmax: (num_nodes, num_classes)."""
        return self.e @ self.class_w.T + self.class_b

    def context_step(self, pairs: Pairs) -> None:
        """Follow the gradient of the sum of -log P(context | center)."""
        centers, row, count = np.unique(pairs[0], return_inverse=True, return_counts=True)
        order = np.argsort(row, kind="stable")
        context, row, ends = pairs[1][order], row[order], np.concatenate([[0], np.cumsum(count)])
        rate, size = self.context_rate, max(1, self.max_scores // len(self.e))
        change_w, change_b = torch.zeros_like(self.context_w), torch.zeros_like(self.context_b)
        for lo in range(0, len(centers), size):
            hi = min(lo + size, len(centers))
            block = slice(ends[lo], ends[hi])
            at = self._here((row[block] - lo) * len(self.e) + context[block])
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
        e, rate = self.e[nodes], self.learning_rate
        gradient = (e @ self.class_w.T + self.class_b).softmax(1)
        gradient[torch.arange(len(nodes), device=self.device), values] -= 1
        gradient /= len(nodes)
        self.e.index_add_(0, nodes, gradient @ self.class_w, alpha=-rate)
        self.class_w -= rate * gradient.T @ e
        self.class_b -= rate * gradient.sum(0)

    def learn_classes(self, nodes: np.ndarray, values: np.ndarray, steps: int) -> None:
        """So many steps of the classifier on labeled nodes."""
        at, y = self._here(nodes), self._here(values)
        for batch in islice(endless_batches(np.arange(len(nodes)), self.batch, self.rng), steps):
            drawn = self._here(batch)
            self.class_step(at[drawn], y[drawn])

    def best_steps(
        self,
        nodes: np.ndarray,
        values: np.ndarray,
        held: np.ndarray,
        truth: np.ndarray,
        max_steps: int,
        patience: int,
        interval: int = 10,
    ) -> int:
        """After how many steps the loss at held-out nodes was least; it ends when it did not fall for patience steps.

        interval: steps between two evaluations. Few labels are held out: their accuracy jumps, and would often be at
        its best early by chance.
        """
        at, y = self._here(held), self._here(truth)
        least, best = float("inf"), interval
        for done in range(interval, max_steps + 1, interval):
            self.learn_classes(nodes, values, interval)
            loss = float(cross_entropy(self.scores()[at], y))
            if loss < least:
                least, best = loss, done
            if done - best >= patience:
                break
        return best


def _linear(num_outputs: int, dim: int, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """Weights by Glorot's rule, and zeros."""
    reach = (6 / (num_outputs + dim)) ** 0.5
    return reach * (2 * torch.rand(num_outputs, dim, generator=draw) - 1), torch.zeros(num_outputs)
