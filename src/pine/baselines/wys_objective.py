"""WYS's objective: -mean of E[D; q] o log sigma(L R') + 1[A = 0] o log(1 - sigma(L R')), E[D; q] = P sum of q_k T^k.

T holds the steps of a random walk, and P = 80 num_nodes diag(degree) how often it starts at a node. The paper has 80
for every node, the code of its authors has this, and with this alone vectors tell Cora's classes apart: the pairs that
never meet outweigh equal starts.

All pairs of nodes count, so matrices are made for a block of nodes at a time and thrown away: memory is that of a few
columns a node. Rows of the block stand as columns here, as T' (T^k)' needs them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.graph import Graph
from pine.graph.walks import step_matrix
from pine.parallel import parts

BLOCK = 256  # nodes at a time
WALKS = 80
MATRICES = 9  # (num_nodes, BLOCK) at a time on a thread: scores, chances, powers, gradients, and what is between


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
    ) -> tuple[float, NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The objective, and its gradients by L and R (num_nodes, dim / 2) and by the attention (powers,).

        Blocks are added up in their order, whoever made them: bits depend on no thread.
        """
        of_left, of_right, met, loss = np.empty_like(left), np.zeros_like(right), np.zeros(self.powers), 0.0
        blocks = [slice(lo, hi) for lo, hi in parts(len(left), BLOCK)]
        with ThreadPoolExecutor(threads) as pool:
            made = pool.map(lambda block: self._of_block(block, left, right, attention), blocks)
            for block, (its_loss, its_left, its_right, its_met) in zip(blocks, made, strict=True):
                of_left[block] = its_left
                of_right += its_right
                met += its_met
                loss += its_loss
        return -loss, -of_left, -of_right, -met

    def _of_block(
        self, block: slice, left: NDArray[Any], right: NDArray[Any], attention: NDArray[Any]
    ) -> tuple[float, NDArray[Any], NDArray[Any], NDArray[Any]]:
        """A block's share of the objective and of its gradients. Matrices are overwritten where they have served."""
        pair = np.float32(1 / len(left) ** 2)
        here = self.links[block]
        linked = here.indices, np.repeat(np.arange(here.shape[0]), np.diff(here.indptr))
        scores = right @ left[block].T
        small = np.abs(scores)
        np.exp(np.negative(small, out=small), out=small)
        log_chance = np.minimum(scores, 0)
        chance = np.exp(log_chance)
        spare = np.log1p(small, out=np.empty_like(scores))
        log_chance -= spare
        small += 1
        chance /= small  # sigma, without overflow
        np.subtract(log_chance, scores, out=spare)
        unlinked = spare.sum(dtype=np.float64) - spare[linked].sum(dtype=np.float64)
        expected, met, weighted = np.zeros_like(scores), np.empty(self.powers), scores
        for k, walked in enumerate(self._powers(block)):
            np.multiply(walked, self.weights[block], out=weighted)
            met[k] = np.vdot(weighted, log_chance)
            weighted *= np.float32(attention[k])
            expected += weighted
        loss = float(np.vdot(expected, log_chance) + pair * unlinked)
        gradient = np.multiply(expected, np.subtract(1, chance, out=spare), out=expected)
        of_links = gradient[linked]
        chance *= pair
        gradient -= chance
        gradient[linked] = of_links  # the second term is of pairs without a link
        return loss, gradient.T @ right, gradient @ left[block], met

    def _powers(self, block: slice) -> Any:
        """The block's rows of T, T^2, ..., each as columns (num_nodes, block)."""
        walked = np.zeros((self.links.shape[0], block.stop - block.start), np.float32)
        walked[np.arange(block.start, block.stop), np.arange(block.stop - block.start)] = 1
        for _ in range(self.powers):
            walked = self.steps @ walked
            yield walked


def bytes_needed(num_nodes: int, num_links: int, dim: int, threads: int) -> int:
    """What learning takes: T' and A, a block's matrices on every thread, and vectors with their gradients."""
    block = num_nodes * min(BLOCK, num_nodes)
    return 2 * num_links * 8 + MATRICES * threads * block * 4 + 6 * num_nodes * dim * 4


def numbers_computed(num_nodes: int, powers: int, steps: int) -> int:
    """How many entries of all powers of T are made, anew in every step: what time grows with."""
    return num_nodes**2 * powers * steps
