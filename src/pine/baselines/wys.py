"""Watch Your Step: L R' predicts whom walks meet, E[D; q] = P sum of q_k T^k, and q = softmax(a), how far they go, is
learned too (Abu-El-Haija et al., 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from pine._internal.memory import require_memory
from pine._internal.parallel import number_of_threads
from pine.baselines.wys_objective import Objective, bytes_needed, numbers_computed
from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels

NEAR_ZERO = 1e-5  # keeps shares of a number that is nearly 0 finite
SPREAD = 0.1  # of the first vectors


@dataclass
class WYS(Embedder):
    """embedding_ is L beside R, half of dim each; attention_ the share of every power, first step first, sum 1.

    Types are not told apart, and edges go both ways. All pairs of nodes count: time grows with num_nodes^2, memory does
    not. What is beyond the budget is refused.

    Defaults: the PINE paper's setting, Section 4.1 (rate .2, power 5, regularizer .1, log graph likelihood); steps, the
    optimizer (PercentDelta), starts and weights P from its authors' code. That code keeps the step of the best training
    AUC; here it is the last.
    """

    name: ClassVar[str] = "wys"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: int = 64
    powers: int = 5  # of the transition matrix
    learning_rate: float = 0.2  # by which share numbers change in the first step, on average
    regularizer: float = 0.1  # on the mean square of a
    steps: int = 100
    budget: float = 1e12  # most entries of powers of T that may be computed
    seed: Seed = 0
    threads: int | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        self._check()
        self._check_size(graph)
        objective = Objective.of(graph, self.powers)
        half = (graph.num_nodes, self.dim // 2)
        left, right = (rng.uniform(-SPREAD, SPREAD, half).astype(np.float32) for _ in range(2))
        a = np.ones(self.powers)
        with threadpool_limits(1):  # blocks have the threads; those of products inside them would stand in their way
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

    def _check(self) -> None:
        if self.dim < 2 or self.dim % 2:
            raise InputError(f"dim must be even, for a left and a right half, got {self.dim}")
        if self.powers < 1 or self.steps < 1:
            raise InputError(f"powers and steps must be at least 1, got {self.powers} and {self.steps}")
        if not (self.learning_rate > 0 and self.regularizer >= 0):
            raise InputError(
                f"learning_rate must be positive and regularizer at least 0, "
                f"got {self.learning_rate} and {self.regularizer}"
            )

    def _check_size(self, graph: Graph) -> None:
        """Say what the graph takes, and refuse what does not fit in memory or in the budget."""
        numbers = numbers_computed(graph.num_nodes, self.powers, self.steps)
        needed = bytes_needed(graph.num_nodes, graph.links().nnz, self.dim, number_of_threads(self.threads))
        require_memory(self.name, needed, numbers, "take a smaller graph")
        if numbers > self.budget:
            raise InputError(
                f"wys would compute {numbers:.1e} numbers for this graph, more than budget={self.budget:.1e}; "
                "take a smaller graph, lower steps, or raise budget"
            )

    def _state(self) -> dict[str, NDArray[Any]]:
        return {"attention": self.attention_}

    def _restore(self, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
        self.attention_ = arrays["attention"]


def percent_delta(values: NDArray[Any], gradient: NDArray[Any]) -> NDArray[Any]:
    """The gradient at the length that changes values by their own size, on average over entries."""
    sizes = np.abs(values) + NEAR_ZERO
    return np.asarray(gradient / (np.mean(np.abs(gradient) / sizes, dtype=np.float64) + NEAR_ZERO))
