"""The training of Planetoid-G on torch: plain gradient steps, with gradients of a softmax written out.

The gradient of -log softmax(s)_c is softmax(s) - [c]. Written out, softmax(s) is made once for a center that is in many
pairs, and in blocks of centers, so that memory is bounded whatever the number of nodes; [c] never is.

A network has B fits in it, which share nothing but the graph: B is 1 for one fit, and more for fits side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.baselines.planetoid.contexts import ContextBatch, Labeled, endless_batches

# The softmax over contexts is made for so many centers at a time that it has at most so many numbers.
MAX_SCORES = {"cpu": 2**24, "cuda": 2**28}


class PlanetoidNetwork:
    """Vectors e (B, num_nodes, dim), what predicts contexts from them, and the classifier on them.

    outputs: which of num_classes each fit knows; it never predicts another.
    """

    def __init__(
        self,
        num_nodes: int,
        num_classes: int,
        dim: int,
        outputs: Sequence[NDArray[np.int64]],
        rngs: Sequence[np.random.Generator],
        *,
        learning_rate: float,
        context_rate: float,
        batch: int,
        device: torch.device,
        max_scores: int | None = None,
    ) -> None:
        self.learning_rate, self.context_rate, self.batch = learning_rate, context_rate, batch
        self.rngs, self.device = rngs, device
        self.max_scores = MAX_SCORES[device.type] if max_scores is None else max_scores
        size = len(rngs)
        e = torch.empty(size, num_nodes, dim)
        context_w = torch.empty(size, num_nodes, dim)
        class_w, class_b = torch.zeros(size, num_classes, dim), torch.full((size, num_classes), -torch.inf)
        for i, (rng, known) in enumerate(zip(rngs, outputs, strict=True)):
            draw = torch.Generator().manual_seed(int(rng.integers(2**62)))
            # A deviation of .01, as in the code of Planetoid's authors.
            e[i] = 0.01 * torch.randn(num_nodes, dim, generator=draw)
            context_w[i] = _weights(num_nodes, dim, draw)
            class_w[i, known], class_b[i, known] = _weights(len(known), dim, draw), 0.0
        self.e, self.context_w, self.class_w, self.class_b = map(self._here, (e, context_w, class_w, class_b))
        self.context_b = torch.zeros(size, num_nodes, device=device)

    def __len__(self) -> int:
        return len(self.e)

    def _here(self, values: Tensor | NDArray[np.generic]) -> Tensor:
        """On the device of this network."""
        return torch.as_tensor(values).to(self.device)

    def _flat(self, nodes: NDArray[np.int64], per_fit: int | None = None) -> Tensor:
        """Numbers (B or 1, n) within each fit as numbers within all of them, (B, n)."""
        first = torch.arange(len(self), device=self.device)[:, None] * (per_fit or self.e.shape[1])
        return self._here(nodes) + first

    def scores(self) -> Tensor:
        """Of all nodes, before the softmax: (B, num_nodes, num_classes)."""
        return torch.baddbmm(self.class_b[:, None], self.e, self.class_w.mT)

    def context_step(self, pairs: ContextBatch) -> None:
        """Follow the gradient of the sum of -log P(context | center)."""
        (size, num_nodes, dim), num_centers = self.e.shape, pairs.centers.shape[1]
        centers, contexts = self._flat(pairs.centers), self._flat(pairs.contexts)
        columns = self._flat(pairs.columns, num_centers).expand_as(contexts)
        e = self.e.view(-1, dim)[centers]
        weights = torch.zeros(size, num_centers, device=self.device)
        weights.view(-1).index_add_(0, columns.flatten(), torch.ones(columns.numel(), device=self.device))

        change_e, change_w = torch.empty_like(e), torch.zeros_like(self.context_w)
        change_b, weighted = torch.zeros_like(self.context_b), e * weights[..., None]
        block = max(1, self.max_scores // (size * num_nodes))
        for lo in range(0, num_centers, block):
            some = slice(lo, lo + block)
            chance = torch.baddbmm(self.context_b[:, None], e[:, some], self.context_w.mT).softmax(2)
            change_e[:, some] = torch.bmm(chance, self.context_w)
            change_w.baddbmm_(chance.mT, weighted[:, some])
            change_b += torch.bmm(weights[:, None, some], chance)[:, 0]
        change_e *= weights[..., None]
        at, of = contexts.flatten(), columns.flatten()
        change_e.view(-1, dim).index_add_(0, of, self.context_w.view(-1, dim)[at], alpha=-1)
        change_w.view(-1, dim).index_add_(0, at, e.view(-1, dim)[of], alpha=-1)
        change_b.view(-1).index_add_(0, at, torch.full((len(at),), -1.0, device=self.device))

        self.e.view(-1, dim).index_add_(0, centers.flatten(), change_e.view(-1, dim), alpha=-self.context_rate)
        self.context_w -= self.context_rate * change_w
        self.context_b -= self.context_rate * change_b

    def class_step(self, nodes: Tensor, values: Tensor, weights: Tensor) -> None:
        """Follow the gradient of the weighted sum of -log P(label | node): (B, n) each, nodes as _flat numbers them."""
        dim = self.e.shape[2]
        e = self.e.view(-1, dim)[nodes]
        gradient = torch.baddbmm(self.class_b[:, None], e, self.class_w.mT).softmax(2)
        gradient.scatter_add_(2, values[..., None], torch.full_like(values[..., None], -1, dtype=gradient.dtype))
        gradient *= self.learning_rate * weights[..., None]
        change_e = torch.bmm(gradient, self.class_w)
        self.e.view(-1, dim).index_add_(0, nodes.flatten(), change_e.view(-1, dim), alpha=-1)
        self.class_w.baddbmm_(gradient.mT, e, alpha=-1)
        self.class_b -= gradient.sum(1)

    def learn_classes(self, labeled: Sequence[Labeled], steps: NDArray[np.int64]) -> None:
        """So many steps of the classifier on labeled nodes, for each fit."""
        for _ in self._class_steps(labeled, steps):
            pass

    def _class_steps(self, labeled: Sequence[Labeled], steps: NDArray[np.int64]) -> Iterator[int]:
        """The number of each step when it is done."""
        counts = [len(some.nodes) for some in labeled]
        nodes = self._flat(_rows([some.nodes for some in labeled], max(counts)))
        values = self._here(_rows([some.values for some in labeled], max(counts)))
        drawn = [endless_batches(count, self.batch, rng) for count, rng in zip(counts, self.rngs, strict=True)]
        left = self._here(steps)
        for number, batch in enumerate(islice(zip(*drawn, strict=True), int(steps.max())), 1):
            places = self._here(np.stack(batch))
            weights = ((places >= 0) & (left >= number)[:, None]).float()
            weights /= weights.sum(1, keepdim=True).clamp(min=1)
            places = places.clamp(min=0)
            self.class_step(nodes.gather(1, places), values.gather(1, places), weights)
            yield number

    def best_steps(
        self,
        labeled: Sequence[Labeled],
        held: Sequence[Labeled],
        max_steps: int,
        patience: int,
        interval: int = 10,
    ) -> NDArray[np.int64]:
        """After how many steps the loss at held-out nodes was least, for each fit (B,); looking ends where none fell
        for patience steps.

        interval: steps between two looks. Few labels are held out: their accuracy jumps, and would often be at its best
        early by chance.
        """
        longest = max(len(some.nodes) for some in held)
        nodes = self._flat(_rows([some.nodes for some in held], longest))
        truth = self._here(_rows([some.values for some in held], longest))
        there = self._here(np.stack([np.arange(longest) < len(some.nodes) for some in held]))
        least = torch.full((len(self),), torch.inf, device=self.device)
        best = torch.full((len(self),), min(interval, max_steps), device=self.device)
        going = torch.ones(len(self), dtype=torch.bool, device=self.device)
        limits = np.full(len(self), max_steps - max_steps % interval)
        for done in self._class_steps(labeled, limits):
            if done % interval:
                continue
            e = self.e.view(-1, self.e.shape[2])[nodes]
            logs = torch.baddbmm(self.class_b[:, None], e, self.class_w.mT).log_softmax(2)
            logs = logs.gather(2, truth[..., None])[..., 0]
            loss = -torch.where(there, logs, 0).sum(1) / there.sum(1)
            better = (loss < least) & going
            least, best = torch.where(better, loss, least), torch.where(better, done, best)
            going &= done - best < patience
            if not going.any():
                break
        return best.cpu().numpy()


def _rows(given: Sequence[NDArray[np.int64]], length: int) -> NDArray[np.int64]:
    """Rows of one length; what is added at their ends is never looked at."""
    made = np.zeros((len(given), length), np.int64)
    for row, values in zip(made, given, strict=True):
        row[: len(values)] = values
    return made


def _weights(num_outputs: int, dim: int, draw: torch.Generator) -> Tensor:
    """By Glorot's rule."""
    reach: float = (6 / (num_outputs + dim)) ** 0.5
    return reach * (2 * torch.rand(num_outputs, dim, generator=draw) - 1)
