"""GraphWave: a node is the distribution of the heat that starts at it, read off a characteristic function (Donnat et
al., 2018).

Nodes whose surroundings look alike get the same vector, wherever in the graph they are. See graphwave_wavelets for the
mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pine._internal.memory import require_memory
from pine._internal.parallel import number_of_threads
from pine.baselines.graphwave_laplacians import LAPLACIANS
from pine.baselines.graphwave_wavelets import BLOCK, characteristic, characteristic_exact, left_out
from pine.embedder import Embedder, Fitted
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels

MOST_LEFT_OUT = 0.1  # of the heat, by the series: beyond, a wavelet is no longer one


@dataclass
class GraphWave(Embedder):
    """Types are not told apart, and edges go both ways. Time grows with nodes x edges x order, memory with nodes.

    Defaults: the PINE paper's setting, Section 4.1 (heat 1000, 50 samples, 100 Chebyshev terms, steps of 20). These are
    the defaults of GraphWaveMachine, a public implementation that divides D - A by its largest eigenvalue, and so does
    laplacian="combinatorial"; GraphWave's own code has the normalized Laplacian, with which a heat of 1000 levels most
    of what is near. The 2 x samples columns are turned and cut to dim by PCA.
    """

    name: ClassVar[str] = "graphwave"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: int | None = 64  # None: all 2 x samples columns as they are
    heat: float = 1000.0  # s in exp(-s L)
    laplacian: Literal["normalized", "combinatorial"] = "combinatorial"
    samples: int = 50  # of the characteristic function
    step: float = 20.0  # between samples: t = 0, 20, ..., 980
    order: int = 100  # of the Chebyshev series
    exact: bool = False  # by all eigenvectors instead, on small graphs
    seed: int | None = None  # nothing here is random; kept so that every method takes one
    threads: int | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        self._check()
        links = graph.links().nnz
        steps = graph.num_nodes**3 if self.exact else graph.num_nodes * links * self.order
        way_out = "set exact=False" if self.exact else "take a smaller graph"
        require_memory(self.name, self._bytes(graph.num_nodes, links), steps, way_out)
        matrix = LAPLACIANS[self.laplacian](graph)
        if self.exact:
            sampled = characteristic_exact(matrix, self._heat, self.step, self.samples)
        else:
            sampled = characteristic(matrix, self._heat, self.order, self.step, self.samples, self.threads)
        vectors = sampled if self.dim is None else principal(sampled, self.dim)
        return Fitted(vectors.astype(np.float32))

    @property
    def _heat(self) -> float:
        """s for a Laplacian with eigenvalues up to 2; the other implementation scales them to 1."""
        return self.heat if self.laplacian == "normalized" else self.heat / 2

    def _check(self) -> None:
        if not 0 < self.heat < np.inf or not 0 < self.step < np.inf or self.samples < 1 or self.order < 1:
            raise InputError(
                "heat and step must be positive, samples and order at least 1, "
                f"got {self.heat}, {self.step}, {self.samples} and {self.order}"
            )
        if self.dim is not None and not 1 <= self.dim <= 2 * self.samples:
            raise InputError(
                f"dim must lie between 1 and 2 x samples = {2 * self.samples}, or be None for all, got {self.dim}"
            )
        lost = 0.0 if self.exact else left_out(self._heat, self.order)
        if lost > MOST_LEFT_OUT:
            enough = int(np.ceil(2 * np.sqrt(self._heat)))  # c_k falls as exp(-k^2 / 2s)
            raise InputError(
                f"a series of order {self.order} leaves out {lost:.0%} of a heat of {self.heat:g}; "
                f"set order to {enough} or more, or lower the heat"
            )

    def _bytes(self, num_nodes: int, num_links: int) -> int:
        """Links and samples, and what a thread holds: T_k, T_k-1 and Psi; exact: L, its vectors and their product."""
        working = 5 * num_nodes**2 if self.exact else 3 * num_nodes * BLOCK * number_of_threads(self.threads)
        return 8 * (working + 3 * num_nodes * 2 * self.samples) + 60 * num_links


def principal(columns: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """The projection of (count, width) on its dim main directions; the largest entry of a direction is positive."""
    centered = columns - columns.mean(axis=0)
    _, directions = np.linalg.eigh(centered.T @ centered)
    main = directions[:, ::-1][:, :dim]
    largest = np.take_along_axis(main, np.abs(main).argmax(axis=0)[None, :], axis=0)
    return np.asarray(centered @ (main * np.sign(largest)))
