"""One of several fits of a method on one graph that are made side by side: they differ in labels and seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pine.labels import Labels


@dataclass(frozen=True, eq=False)
class Replica:
    """One fit: labels to learn from, labels to choose an epoch by, and the seed. Classes are those of all replicas."""

    labels: Labels
    seed: int
    validation: Labels | None = None

    @property
    def outputs(self) -> NDArray[np.int64]:
        """The numbers of the classes that it sees, or all of a label set."""
        if self.labels.task != "classes":
            return np.arange(self.labels.num_outputs)
        validation = self.labels.values[:0] if self.validation is None else self.validation.values
        return np.union1d(self.labels.values, validation).astype(np.int64)


class ReplicaFit(NamedTuple):
    """scores (count, num_outputs) of the labeled type, 0 for classes that it did not see; its share of the seconds."""

    scores: NDArray[np.float32]
    seconds: float

    @property
    def diverged(self) -> bool:
        """Whether its training did, which leaves the others as they are."""
        return not np.isfinite(self.scores).all()
