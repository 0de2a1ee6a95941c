"""What a fit leaves behind, as plain arrays: x, f of the neighbors, the parameters of f, and theta."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.model.selection import Choice

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Learned:
    """x and f (num_nodes, dim), scores (count, num_outputs) of the labelled type or None, w (num_outputs, dim), b."""

    x: Array
    f: Array
    scores: Array | None
    parameters: dict[str, Array]  # of the SetFunction
    w: Array
    b: Array
    group_names: tuple[str, ...]
    directed: bool
    center: float  # of numbers as labels: they are learned at zero mean and unit variance
    scale: float
    choice: Choice
    history: list[dict[str, float]] = field(default_factory=list)

    def predictions(self, task: str, x: Array, f: Array) -> Array:
        """The mean of theta on x and theta on f: probabilities or numbers, (n, num_outputs)."""
        mean: Array = ((self._of(task, x) + self._of(task, f)) / 2).astype(np.float32)
        return mean

    def _of(self, task: str, vectors: Array) -> NDArray[Any]:
        scores = vectors @ self.w.T + self.b
        if task == "classes":
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            return np.asarray(powers / powers.sum(axis=1, keepdims=True))
        return 1 / (1 + np.exp(-scores)) if task == "label-sets" else scores * self.scale + self.center

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is saved as numbers, beside x and scores."""
        own = {"reconstruction": self.f, "theta.w": self.w, "theta.b": self.b}
        return own | {f"f.{name}": array for name, array in self.parameters.items()}

    def about(self) -> dict[str, Any]:
        """What is saved as JSON."""
        score = None if np.isnan(self.choice.score) else self.choice.score
        return {
            "groups": list(self.group_names),
            "directed": self.directed,
            "numbers": [self.center, self.scale],
            "choice": [list(self.choice.lam), self.choice.scaling, self.choice.epochs, score],
            "history": self.history,
        }

    @classmethod
    def restored(cls, x: Array, scores: Array | None, arrays: dict[str, Array], about: dict[str, Any]) -> Learned:
        """From what arrays and about gave."""
        lam, scaling, epochs, score = about["choice"]
        return cls(
            x=x,
            f=arrays["reconstruction"],
            scores=scores,
            parameters={name.removeprefix("f."): array for name, array in arrays.items() if name.startswith("f.")},
            w=arrays["theta.w"],
            b=arrays["theta.b"],
            group_names=tuple(about["groups"]),
            directed=about["directed"],
            center=about["numbers"][0],
            scale=about["numbers"][1],
            choice=Choice(tuple(lam), scaling, epochs, float("nan") if score is None else score),
            history=about["history"],
        )
