"""Gradients of WYS's objective, -mean of E[D; q] o log sigma(L R') + 1[A = 0] o log(1 - sigma(L R')), where
E[D; q] = P sum of q_k T^k.

T holds the steps of a random walk, and P = 80 num_nodes diag(degree) how often it starts at a node. The paper has 80
for every node, the code of its authors has this, and with this alone vectors tell Cora's classes apart: the pairs that
never meet outweigh equal starts.

All pairs of nodes count, so matrices are made for a block of nodes at a time and thrown away: memory is that of a few
columns a node. Rows of the block stand as columns here, as T' (T^k)' needs them. Blocks and the rows of them that are
looked at together are small enough for a processor's caches.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine._internal.compiled import compiled
from pine._internal.parallel import parts
from pine.graph import Graph
from pine.graph.sampling.walks import step_matrix

BLOCK = 64  # nodes at a time
ROWS = 512  # of a block's matrices at a time
WALKS = 80
MATRICES = 6  # (num_nodes, BLOCK) at a time on a thread: chances, their logarithms, E[D; q] and two powers, and room


@dataclass(frozen=True, eq=False)
class Objective:
    """A graph, prepared: the transposed steps T', the links A, and the weights P / num_nodes^2 of the mean."""

    steps: sp.csr_array
    links: sp.csr_array
    weights: NDArray[np.float32]
    powers: int

    @classmethod
    def of(cls, graph: Graph, powers: int) -> Objective:
        links = graph.links()
        steps = step_matrix(links).astype(np.float32)
        matrix = sp.csr_array(links.to_scipy().astype(np.float32))
        matrix.eliminate_zeros()  # an edge of weight 0 is none
        weights = np.asarray(WALKS * matrix.sum(axis=1) / graph.num_nodes, np.float32)
        return cls(sp.csr_array(steps.T), matrix, weights, powers)

    def gradients(
        self, left: NDArray[Any], right: NDArray[Any], attention: NDArray[Any], threads: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """By L and R (num_nodes, dim / 2) and by the attention (powers,).

        Blocks are added up in their order, whoever made them: bits depend on no thread.
        """
        of_left, of_right, met = np.empty_like(left), np.zeros_like(right), np.zeros(self.powers)
        blocks = [slice(lo, hi) for lo, hi in parts(len(left), BLOCK)]
        with ThreadPoolExecutor(threads) as pool:
            made = pool.map(lambda block: self._of_block(block, left, right, attention), blocks)
            for block, (its_left, its_right, its_met) in zip(blocks, made, strict=True):
                of_left[block] = its_left
                of_right += its_right
                met += its_met
        return -of_left, -of_right, -met

    def _of_block(
        self, block: slice, left: NDArray[Any], right: NDArray[Any], attention: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """A block's share of the gradients, some rows at a time, so that what is between stays in the cache."""
        count, width = len(left), block.stop - block.start
        rows = [slice(lo, hi) for lo, hi in parts(count, ROWS)]
        chance, log_chance = (np.empty((count, width), np.float32) for _ in range(2))
        for some in rows:
            scores = right[some] @ left[block].T
            low = np.minimum(scores, 0)
            small = np.abs(scores, out=scores)
            np.exp(np.negative(small, out=small), out=small)
            np.subtract(low, np.log1p(small), out=log_chance[some])
            np.divide(np.exp(low, out=low), np.add(small, 1, out=small), out=chance[some])  # sigma, without overflow
        expected, met = self._expected(block, attention, log_chance)
        for some in rows:
            expected[some] *= np.subtract(1, chance[some], out=log_chance[some])
        here = self.links[block]
        chance[here.indices, np.repeat(np.arange(width), np.diff(here.indptr))] = 0  # the second term has no links
        of_left, of_right = np.zeros((width, left.shape[1]), np.float32), np.empty_like(right)
        for some in rows:
            gradient = expected[some]
            gradient -= np.multiply(chance[some], np.float32(1 / count**2), out=chance[some])
            of_left += gradient.T @ right[some]
            np.matmul(gradient, left[block], out=of_right[some])
        return of_left, of_right, met

    def _expected(
        self, block: slice, attention: NDArray[Any], log_chance: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """The block's rows of E[D; q] as columns (num_nodes, block), and P T^k . log sigma for every power k."""
        met, expected = np.empty(self.powers), np.zeros_like(log_chance)
        here, there = (np.zeros_like(log_chance) for _ in range(2))
        reached, next_reached = (np.zeros(len(here), np.bool_) for _ in range(2))
        here[np.arange(block.start, block.stop), np.arange(here.shape[1])] = self.weights[block]
        reached[block] = True
        steps = self.steps.indptr, self.steps.indices, self.steps.data
        for k, share in enumerate(attention.astype(np.float32)):
            sums = np.zeros(here.shape[1], np.float32)
            _walk_on(*steps, here, reached, there, next_reached, share, log_chance, expected, sums)
            met[k] = sums.sum(dtype=np.float64)
            here, there, reached, next_reached = there, here, next_reached, reached
        return expected, met


@compiled
def _walk_on(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    steps: NDArray[Any],
    here: NDArray[Any],
    reached: NDArray[Any],
    there: NDArray[Any],
    next_reached: NDArray[Any],
    share: float,
    log_chance: NDArray[Any],
    expected: NDArray[Any],
    sums: NDArray[Any],
) -> None:
    """there = T' here; expected += share there; sums += the columns' sums of there o log_chance.

    Rows that no walk has reached are not looked at, and hold anything.
    """
    for i in range(len(there)):
        row = there[i]
        next_reached[i] = False
        for e in range(indptr[i], indptr[i + 1]):
            if reached[indices[e]]:
                step, other = steps[e], here[indices[e]]
                if next_reached[i]:
                    for k in range(len(row)):
                        row[k] += step * other[k]
                else:
                    for k in range(len(row)):
                        row[k] = step * other[k]
                    next_reached[i] = True
        if next_reached[i]:
            for k in range(len(row)):
                expected[i, k] += share * row[k]
                sums[k] += row[k] * log_chance[i, k]


def bytes_needed(num_nodes: int, num_links: int, dim: int, threads: int) -> int:
    """What learning takes: T' and A, a block's matrices and gradients on every thread, and vectors with their steps."""
    on_a_thread = MATRICES * min(BLOCK, num_nodes) + dim
    return 2 * num_links * 8 + 4 * num_nodes * (threads * on_a_thread + 9 * dim)


def numbers_computed(num_nodes: int, powers: int, steps: int) -> int:
    """How many entries of all powers of T are made, anew in every step: what time grows with."""
    return num_nodes**2 * powers * steps
