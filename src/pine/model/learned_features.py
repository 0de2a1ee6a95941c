"""What a fit leaves of features, as plain arrays: the vectors c and o, the maps A that made them, and theta on both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from pine.graph import Graph
from pine.model.feature_objective import feature_predictions
from pine.model.features import HOPS, FeatureVectors, Standardization, feature_columns
from pine.propagation import FeaturePropagator

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LearnedFeatures:
    """vectors (num_nodes, dim): c and o side by side. A (width, dim) for each of the types. w, b: theta."""

    types: tuple[str, ...]
    vectors: Array
    A: tuple[Array, ...]
    standardizations: tuple[Standardization, ...]
    w: Array
    b: Array

    @property
    def widths(self) -> dict[str, int]:
        """The number of features of each node type that has them."""
        return {type: len(A) for type, A in zip(self.types, self.A, strict=True)}

    @property
    def middle(self) -> int:
        return -(-int(self.vectors.shape[1]) // 2)

    def parameters(self) -> dict[str, Array]:
        """By their names in FeatureObjective, without theta."""
        return {f"vectors.A.{k}": A for k, A in enumerate(self.A)}

    def predictions(self, task: str, vectors: Array) -> tuple[Array, Array]:
        """By c and by o of vectors (n, dim), in standardized units: (n, num_outputs) each."""
        c, o = (torch.tensor(each) for each in np.split(vectors, [self.middle], axis=1))
        made = feature_predictions(task, c, o, torch.tensor(self.w), torch.tensor(self.b))
        return made[0].numpy(), made[1].numpy()

    def apply(self, graph: Graph, threads: int | None) -> Array:
        """The vectors of all nodes of another graph."""
        cpu = torch.device("cpu")
        columns = feature_columns(graph, self.types, cpu, threads, self.standardizations)
        propagator = FeaturePropagator(graph, HOPS, cpu, threads)
        dim = self.vectors.shape[1]
        made = FeatureVectors(columns, propagator, graph.num_nodes, dim, torch.Generator())
        with torch.no_grad():
            for own, A in zip(made.A, self.A, strict=True):
                own.copy_(torch.tensor(A))
            vectors: Array = torch.cat(made(), dim=1).numpy()
        return vectors

    def arrays(self) -> dict[str, Array]:
        """What is saved as numbers."""
        made = {"features.vectors": self.vectors, "features.w": self.w, "features.b": self.b}
        for k, (A, how) in enumerate(zip(self.A, self.standardizations, strict=True)):
            made |= {f"features.A.{k}": A, f"features.center.{k}": how.center, f"features.scale.{k}": how.scale}
        return made

    def about(self) -> dict[str, Any]:
        """What is saved as JSON."""
        return {"types": list(self.types), "unit_rows": [how.unit_rows for how in self.standardizations]}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> Self:
        """From what arrays and about gave."""
        types, unit_rows = tuple(about["types"]), about["unit_rows"]
        hows = (
            Standardization(arrays[f"features.center.{k}"], arrays[f"features.scale.{k}"], bool(unit_rows[k]))
            for k in range(len(types))
        )
        A = tuple(arrays[f"features.A.{k}"] for k in range(len(types)))
        theta = arrays["features.w"], arrays["features.b"]
        return cls(types, arrays["features.vectors"], A, tuple(hows), *theta)
