"""WYS's objective: -mean of E[D; q] o log sigma(L R') + 1[A = 0] o log(1 - sigma(L R')), E[D; q] = P sum of q_k T^k.

T holds the steps of a random walk, and P = 80 num_nodes diag(degree) how often it starts at a node. The paper has 80
for every node, the code of its authors has this, and with this alone vectors tell Cora's classes apart: the pairs that
never meet outweigh equal starts.

All pairs of nodes count, so matrices are made for a block of nodes at a time and thrown away: memory is that of a few
columns a node. Rows of the block stand as columns here, as T' (T^k)' needs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.graph import Graph
from pine.graph.walks import step_matrix

BLOCK = 256  # nodes at a time
WALKS = 80
MATRICES = 12  # (num_nodes, BLOCK) at a time: scores, chances, powers, gradients, and what is between


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
        weights = np.asarray(WALKS * matrix.sum(axis=1) / graph.num_nodes, np.float32)
        return cls(sp.csr_array(steps.T), matrix, weights, powers)

    def gradients(
        self, left: NDArray[Any], right: NDArray[Any], attention: NDArray[Any]
    ) -> tuple[float, NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The objective, and its gradients by L and R (num_nodes, dim / 2) and by the attention (powers,)."""
        count = len(left)
        of_left, of_right, met = np.empty_like(left), np.zeros_like(right), np.zeros(self.powers)
        loss, pair = 0.0, np.float32(1 / count**2)
        for lo in range(0, count, BLOCK):
            block = slice(lo, min(lo + BLOCK, count))
            scores = right @ left[block].T
            small = np.exp(-np.abs(scores))
            chance = np.where(scores >= 0, 1, small) / (1 + small)  # sigma, without overflow
            log_chance = np.minimum(scores, 0) - np.log1p(small)
            expected = np.zeros_like(scores)
            for k, walked in enumerate(self._powers(block)):
                weighted = walked * self.weights[block]
                met[k] += np.vdot(weighted, log_chance)
                expected += np.float32(attention[k]) * weighted
            unlinked = pair * (self.links[block].toarray().T == 0)
            loss += float(np.vdot(expected, log_chance) + np.vdot(unlinked, log_chance - scores))
            gradient = expected * (1 - chance) - unlinked * chance
            of_left[block] = gradient.T @ right
            of_right += gradient @ left[block]
        return -loss, -of_left, -of_right, -met

    def _powers(self, block: slice) -> Any:
        """The block's rows of T, T^2, ..., each as columns (num_nodes, block)."""
        walked = np.zeros((self.links.shape[0], block.stop - block.start), np.float32)
        walked[np.arange(block.start, block.stop), np.arange(block.stop - block.start)] = 1
        for _ in range(self.powers):
            walked = self.steps @ walked
            yield walked


def bytes_needed(num_nodes: int, num_links: int, dim: int) -> int:
    """What learning takes: T' and A, a block's matrices, and vectors with their gradients."""
    return 2 * num_links * 8 + MATRICES * num_nodes * min(BLOCK, num_nodes) * 4 + 6 * num_nodes * dim * 4


def numbers_computed(num_nodes: int, powers: int, steps: int) -> int:
    """How many entries of all powers of T are made, anew in every step: what time grows with."""
    return num_nodes**2 * powers * steps
