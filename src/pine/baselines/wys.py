"""Watch Your Step: L R' predicts how often walks meet, E[D; q] = P sum of q_k T^k, and the attention q = softmax(a) to
their lengths is learned too (Abu-El-Haija et al., 2018).

The objective is -mean of E[D; q] o log sigma(L R') + 1[A = 0] o log(1 - sigma(L R')). T is the transition matrix of a
random walk, and P = 80 num_nodes diag(degree) how many walks start at a node. The paper has 80 for every node, the code
of its authors has this, and only with this do vectors separate Cora's classes: with 80, the pairs that never meet
dominate.

All pairs of nodes count, so matrices are computed for a block of nodes at a time and dropped: memory is that of a few
columns a node. Rows of the block are columns here, as T' (T^k)' needs them. Blocks, and the tiles of their rows that
are processed together, fit a processor's caches.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from pine._internal.memory import require_memory
from pine._internal.parallel import compiled, number_of_threads, parts
from pine._internal.settings import Count, NonNegative, Positive, Range
from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.graph.sampling.walks import step_matrix
from pine.labels import Labels

PERCENT_DELTA_EPSILON = 1e-5  # keeps relative changes of a number near 0 finite
INIT_RANGE = 0.1  # first vectors are uniform in [-0.1, 0.1]
WALKS_PER_NODE = 80
BLOCK_NODES, TILE_ROWS = 64, 512
MATRICES_PER_THREAD = 6  # (num_nodes, block): probabilities, their logarithms, E[D; q], two powers, and temporaries


@dataclass
class WYS(Embedder):
    """embedding_ is L beside R, half of dim each; attention_ the share of every power, first step first, sum 1.

    Node types are ignored, and edges go both ways. All pairs of nodes count: time grows with num_nodes^2, memory does
    not. What is beyond the budget is refused.

    Defaults: the PINE paper's setting, Section 4.1 (rate .2, power 5, regularizer .1, log graph likelihood); steps, the
    optimizer (PercentDelta), starts and weights P from its authors' code. That code keeps the step of the best training
    AUC; here it is the last.

    dim: the length of a vector.
    powers: how many of the transition matrix.
    learning_rate: relative change of a number in the first step, on average.
    regularizer: the penalty on the mean square of a.
    steps: how many of the optimizer.
    budget: the most entries of powers of T that may be computed.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "wys"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: Annotated[int, Range(2)] = 64
    powers: Count = 5
    learning_rate: Positive = 0.2
    regularizer: NonNegative = 0.1
    steps: Count = 100
    budget: Positive = 1e12
    seed: Seed = 0
    threads: Count | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        if self.dim % 2:
            raise InputError(f"dim must be even, for a left and a right half, got {self.dim}")
        self._check_size(graph)
        objective = WYSObjective.of(graph, self.powers)
        half = (graph.num_nodes, self.dim // 2)
        left, right = (rng.uniform(-INIT_RANGE, INIT_RANGE, half).astype(np.float32) for _ in range(2))
        a = np.ones(self.powers)
        with threadpool_limits(1):  # threads run blocks; BLAS threads inside them would only compete
            for step in range(self.steps):
                attention = softmax(a)
                gradients = objective.gradients(left, right, attention, number_of_threads(self.threads))
                of_left, of_right, of_attention = gradients
                of_a = attention * (of_attention - attention @ of_attention) + 2 * self.regularizer * a / self.powers
                rate = self.learning_rate * (1 - 0.99 * step / self.steps)
                for values, gradient in ((left, of_left), (right, of_right), (a, of_a)):
                    values -= (rate * percent_delta(values, gradient)).astype(values.dtype)
        vectors = np.concatenate([left, right], axis=1)
        if not np.isfinite(vectors).all():
            raise InputError("training diverged; lower learning_rate")
        self.attention_ = softmax(a)
        return Fitted(vectors)

    def _check_size(self, graph: Graph) -> None:
        """Refuse what does not fit in memory or in the budget."""
        entries = entries_computed(graph.num_nodes, self.powers, self.steps)
        needed = bytes_needed(graph.num_nodes, graph.links().nnz, self.dim, number_of_threads(self.threads))
        require_memory(self.name, needed, entries, "take a smaller graph")
        if entries > self.budget:
            raise InputError(
                f"wys would compute {entries:.1e} numbers for this graph, more than budget={self.budget:.1e}; "
                "take a smaller graph, lower steps, or raise budget"
            )

    def _state(self) -> dict[str, NDArray[Any]]:
        return {"attention": self.attention_}

    def _restore(self, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
        self.attention_ = arrays["attention"]


def percent_delta(values: NDArray[Any], gradient: NDArray[Any]) -> NDArray[Any]:
    """The gradient scaled so that the relative change of values is 1, on average over entries."""
    sizes = np.abs(values) + PERCENT_DELTA_EPSILON
    return np.asarray(gradient / (np.mean(np.abs(gradient) / sizes, dtype=np.float64) + PERCENT_DELTA_EPSILON))


# ---- the objective ----


@dataclass(frozen=True, eq=False)
class WYSObjective:
    """The transposed transitions T' of a graph, its links A, and the weights P / num_nodes^2 of the mean.

    block_nodes, tile_rows: what is processed together; they change the order of additions, nothing else.
    """

    steps: sp.csr_array
    links: sp.csr_array
    weights: NDArray[np.float32]
    powers: int
    block_nodes: int = BLOCK_NODES
    tile_rows: int = TILE_ROWS

    @classmethod
    def of(cls, graph: Graph, powers: int, block_nodes: int = BLOCK_NODES, tile_rows: int = TILE_ROWS) -> WYSObjective:
        links = graph.links()
        steps = step_matrix(links).astype(np.float32)
        matrix = sp.csr_array(links.to_scipy().astype(np.float32))
        matrix.eliminate_zeros()  # an edge of weight 0 is none
        weights = np.asarray(WALKS_PER_NODE * matrix.sum(axis=1) / graph.num_nodes, np.float32)
        return cls(sp.csr_array(steps.T), matrix, weights, powers, block_nodes, tile_rows)

    def gradients(
        self, left: NDArray[Any], right: NDArray[Any], attention: NDArray[Any], threads: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """By L and R (num_nodes, dim / 2) and by the attention (powers,).

        Blocks are summed in their order, whichever thread computed them: bits do not depend on threads.
        """
        of_left, of_right, of_attention = np.empty_like(left), np.zeros_like(right), np.zeros(self.powers)
        blocks = [slice(lo, hi) for lo, hi in parts(len(left), self.block_nodes)]
        with ThreadPoolExecutor(threads) as pool:
            shares = pool.map(lambda block: self._of_block(block, left, right, attention), blocks)
            for block, (left_share, right_share, attention_share) in zip(blocks, shares, strict=True):
                of_left[block] = left_share
                of_right += right_share
                of_attention += attention_share
        return -of_left, -of_right, -of_attention

    def _of_block(
        self, block: slice, left: NDArray[Any], right: NDArray[Any], attention: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """A block's share of the gradients, tile by tile, so that temporaries stay in the cache."""
        count, width = len(left), block.stop - block.start
        tiles = [slice(lo, hi) for lo, hi in parts(count, self.tile_rows)]
        sigma, log_sigma = (np.empty((count, width), np.float32) for _ in range(2))
        for tile in tiles:
            scores = right[tile] @ left[block].T
            low = np.minimum(scores, 0)
            small = np.abs(scores, out=scores)
            np.exp(np.negative(small, out=small), out=small)
            np.subtract(low, np.log1p(small), out=log_sigma[tile])
            np.divide(np.exp(low, out=low), np.add(small, 1, out=small), out=sigma[tile])  # without overflow
        expected, of_attention = self._expected(block, attention, log_sigma)
        for tile in tiles:
            expected[tile] *= np.subtract(1, sigma[tile], out=log_sigma[tile])
        links = self.links[block]
        sigma[links.indices, np.repeat(np.arange(width), np.diff(links.indptr))] = 0  # the second term has no links
        of_left, of_right = np.zeros((width, left.shape[1]), np.float32), np.empty_like(right)
        for tile in tiles:
            gradient = expected[tile]
            gradient -= np.multiply(sigma[tile], np.float32(1 / count**2), out=sigma[tile])
            of_left += gradient.T @ right[tile]
            np.matmul(gradient, left[block], out=of_right[tile])
        return of_left, of_right, of_attention

    def _expected(
        self, block: slice, attention: NDArray[Any], log_sigma: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """The block's rows of E[D; q] as columns (num_nodes, block), and P T^k . log sigma for every power k."""
        by_attention, expected = np.empty(self.powers), np.zeros_like(log_sigma)
        power, next_power = (np.zeros_like(log_sigma) for _ in range(2))
        reached, next_reached = (np.zeros(len(power), np.bool_) for _ in range(2))
        power[np.arange(block.start, block.stop), np.arange(power.shape[1])] = self.weights[block]
        reached[block] = True
        steps = self.steps.indptr, self.steps.indices, self.steps.data
        for k, share in enumerate(attention.astype(np.float32)):
            sums = np.zeros(power.shape[1], np.float32)
            _advance(*steps, power, reached, next_power, next_reached, share, log_sigma, expected, sums)
            by_attention[k] = sums.sum(dtype=np.float64)
            power, next_power, reached, next_reached = next_power, power, next_reached, reached
        return expected, by_attention


@compiled
def _advance(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    steps: NDArray[Any],
    power: NDArray[Any],
    reached: NDArray[Any],
    next_power: NDArray[Any],
    next_reached: NDArray[Any],
    share: float,
    log_sigma: NDArray[Any],
    expected: NDArray[Any],
    sums: NDArray[Any],
) -> None:
    """next_power = T' power; expected += share next_power; sums += the columns' sums of next_power o log_sigma.

    Rows that no walk has reached are not read, and hold anything.
    """
    for i in range(len(next_power)):
        row = next_power[i]
        next_reached[i] = False
        for e in range(indptr[i], indptr[i + 1]):
            if reached[indices[e]]:
                step, other = steps[e], power[indices[e]]
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
                sums[k] += row[k] * log_sigma[i, k]


def bytes_needed(num_nodes: int, num_links: int, dim: int, threads: int) -> int:
    """Memory of training: T' and A, a block's matrices and gradients on every thread, vectors and their updates."""
    per_thread = MATRICES_PER_THREAD * min(BLOCK_NODES, num_nodes) + dim
    return 2 * num_links * 8 + 4 * num_nodes * (threads * per_thread + 9 * dim)


def entries_computed(num_nodes: int, powers: int, steps: int) -> int:
    """How many entries of powers of T all steps compute: what time grows with."""
    return num_nodes**2 * powers * steps
