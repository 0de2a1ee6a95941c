"""The objective of PINE where all that a step makes of the vectors does not fit into memory: a step in five passes.

    1. y = W g(x)                        blocks of nodes
    2. s = A y                           slices of columns
    3. f = h(s), the loss, ds and dx     blocks of nodes
    4. dy = A' ds                        slices of columns
    5. dx and the gradients of g from dy blocks of nodes

Between two passes lie x, y or s, and dx, in files (pine.model.mapped_part) or on a GPU (pine.model.block_part), and
nothing else of all nodes. The numbers are those of Objective, but for the order in which floats are added up, and on a
GPU for what dropout draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine.distributed.part import Whole
from pine.model.block_part import BlockPart
from pine.model.neighborhoods import OUTPUT_RIDGE
from pine.model.node_terms import terms_and_gradients
from pine.model.objective import NodeBatch, Objective
from pine.model.theta import needs_f, predictions
from pine.nn.sliced_rows import sum_slices, sum_slices_back

NODES_OF_BLOCK, NODES_OF_GPU_BLOCK = 1 << 14, 1 << 19  # nodes at a time


class BlockObjective(Objective):
    """x, its gradient and moments, messages y and their sums s lie where part has room; dy and ds in their places."""

    def __init__(self, f: Any, types: Any, lambdas: Tensor, *rest: Any, part: BlockPart) -> None:
        num_nodes = types[-1].stop
        super().__init__(f, types, lambdas, *rest, x=part.zeros(num_nodes, f.dim))
        self.part = part
        (whole,) = f.neighborhoods
        self.at_a_time = NODES_OF_BLOCK if self.x.device.type == "cpu" else NODES_OF_GPU_BLOCK
        self.batches = [NodeBatch(rows, (), self._blocks(rows)) for rows in self._ranges(slice(0, num_nodes))]
        self.neighbors = whole.neighbors
        self.places: list[slice] = list(whole.columns)  # of the nodes of each group
        width = f.of_sets.L
        self.messages = [part.sliced(place.stop - place.start, width) for place in self.places]
        self.sums = part.sliced(num_nodes, width)
        self.dx: Tensor | None = None  # room for it, from the first step on

    @property
    def is_batched(self) -> bool:
        return True

    @torch.no_grad()
    def begin_near(self, x: Tensor, *, f: bool, theta: bool, rests: bool = False) -> None:
        super().begin_near(self.x.detach(), f=f, theta=theta, rests=rests)  # which is there already

    def zeros_like(self, parameter: nn.Parameter) -> Tensor:
        own = parameter is self.x and self.settings.moments == "float32"
        return self.part.zeros(*parameter.shape) if own else super().zeros_like(parameter)

    def backward(self, generator: torch.Generator, warmup: Tensor) -> tuple[list[str], Tensor]:
        h = self.f.of_sets
        keys = h.draw_keys(generator)
        self._sum_messages(keys)
        self.dx = dx = self.part.zeros(*self.x.shape) if self.dx is None else self.dx
        lines, names = [], []
        for batch in self.batches:
            s, x, (w, b) = self.sums[batch.rows].requires_grad_(), self._x(batch.rows), (self.w, self.b)
            f, l2 = h.finish(s), self._l2()
            terms, gradients = terms_and_gradients(batch.blocks, x, f, w, b, self.settings, warmup)
            dx[batch.rows], df, dw, db = gradients
            torch.autograd.backward([f, w, b, *l2.values()], [df, dw, db, *map(torch.ones_like, l2.values())])
            assert s.grad is not None
            self.sums[batch.rows] = s.grad
            terms |= l2
            names = list(terms)
            lines.append(torch.stack(list(terms.values())).detach())
        sum_slices_back(self.sums, self.neighbors, self.messages)
        for k, rows, within in self._blocks_of_groups():
            x = self._x(rows).requires_grad_()
            y = h.messages_of(k, x, keys[k], within.start, value=False)
            y.backward(self.messages[k][within])  # type: ignore[no-untyped-call]
            assert x.grad is not None
            dx[rows] += x.grad
        self.x.grad = dx
        return names, torch.stack(lines).sum(0)

    @torch.no_grad()
    def vectors(self) -> tuple[Tensor, Tensor]:
        self._sum_messages(self.f.of_sets.draw_keys(None))
        self.dx = self.x.grad = None
        f = self.part.zeros(*self.x.shape)
        for batch in self.batches:
            f[batch.rows] = self.f.of_sets.finish(self.sums[batch.rows])
        return self.x, f

    @torch.no_grad()
    def predictions_at(self, positions: NDArray[np.int64], part: Whole, *, trained: bool = True) -> Tensor:
        assert self.visible is not None
        task, made = self.visible.targets.task, []
        with_f = needs_f(task, trained=trained)
        if with_f:
            self._sum_messages(self.f.of_sets.draw_keys(None))
        for at in torch.split(torch.as_tensor(positions, device=self.x.device), self.at_a_time):
            x = self.x[at]
            f = self.f.of_sets.finish(self.sums.pick(at)) if with_f else x
            made.append(predictions(task, self.w, self.b, x, f, trained=trained))
        return torch.cat(made)

    @torch.no_grad()
    def _reproduce(self, x: Tensor) -> None:
        """As NeighborFunction.reproduce, of x itself."""
        h, n = self.f.of_sets, len(x)
        self._sum_messages(h.draw_keys(None))
        gram, products = x.new_zeros(h.L, h.L), x.new_zeros(h.L, h.d)
        for batch in self.batches:
            hidden = h.hidden_of(self.sums[batch.rows])
            gram += hidden.mT @ hidden
            products += hidden.mT @ x[batch.rows]
        h.solve_c(gram / n, products / n, OUTPUT_RIDGE)

    @torch.no_grad()
    def _sum_messages(self, keys: list[int | None]) -> None:
        """Passes 1 and 2."""
        for k, rows, within in self._blocks_of_groups():
            self.messages[k][within] = self.f.of_sets.messages_of(k, self._x(rows), keys[k], within.start)
        sum_slices(self.messages, self.neighbors, self.sums)

    def _blocks_of_groups(self) -> Iterator[tuple[int, slice, slice]]:
        """Each group's nodes, some at a time: where they stand among all, and within the group, by which they draw."""
        for k, place in enumerate(self.places):
            for rows in self._ranges(place):
                yield k, rows, slice(rows.start - place.start, rows.stop - place.start)

    def _x(self, rows: slice) -> Tensor:
        return self.x.detach()[rows]

    def _ranges(self, whole: slice) -> list[slice]:
        size = self.at_a_time
        return [slice(lo, min(lo + size, whole.stop)) for lo in range(whole.start, whole.stop, size)]
