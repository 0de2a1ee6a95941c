"""What a fit leaves behind, as plain arrays: x, f of the neighbors, all other parameters, and theta."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.model.form import Form
from pine.model.selection import Choice
from pine.nn.functional import probabilities

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Learned:
    """x and f (num_nodes, dim), scores (count, num_outputs) of the labelled type or None.

    start: the structural start, (num_nodes, dim), for a later fit to see what has changed; None if it was random.
    w (num_outputs, dim), b (1, num_outputs) and parameters: those of Objective, without its first dimension.
    """

    x: Array
    f: Array
    scores: Array | None
    start: Array | None
    parameters: dict[str, Array]  # by their names in Objective: those of f, and those of attributes
    w: Array
    b: Array
    form: Form
    attribute_types: tuple[str, ...]  # the node types whose attributes are used
    group_names: tuple[str, ...]
    directed: bool
    center: float  # of numbers as labels: they are learned at zero mean and unit variance
    scale: float
    choice: Choice
    history: list[dict[str, float]] = field(default_factory=list)

    def predictions(self, task: str, x: Array, f: Array) -> Array:
        """The mean of theta on x and theta on f: probabilities or numbers, (n, num_outputs)."""
        mean: Array = predictions(task, *(torch.tensor(array) for array in (self.w, self.b, x, f))).numpy()
        return mean * self.scale + self.center if task == "numbers" else mean

    def part(self, name: str) -> dict[str, Array]:
        """The parameters of a part of Objective, "f" or "attributes", by their names in it."""
        return {
            key.removeprefix(f"{name}."): array for key, array in self.parameters.items() if key.startswith(f"{name}.")
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is saved as numbers, beside x and scores."""
        start = {} if self.start is None else {"start": self.start}
        return self.parameters | start | {"reconstruction": self.f, "theta.w": self.w, "theta.b": self.b}

    def about(self) -> dict[str, Any]:
        """What is saved as JSON."""
        return {
            "form": asdict(self.form),
            "attribute_types": list(self.attribute_types),
            "groups": list(self.group_names),
            "directed": self.directed,
            "numbers": [self.center, self.scale],
            "choice": self.choice.as_json(),
            "history": self.history,
        }

    @classmethod
    def restored(cls, x: Array, scores: Array | None, arrays: dict[str, Array], about: dict[str, Any]) -> Learned:
        """From what arrays and about gave."""
        return cls(
            x=x,
            f=arrays["reconstruction"],
            scores=scores,
            start=arrays.get("start"),
            parameters={name: array for name, array in arrays.items() if name.startswith(("f.", "attributes."))},
            w=arrays["theta.w"],
            b=arrays["theta.b"],
            form=Form(**about["form"]),
            attribute_types=tuple(about["attribute_types"]),
            group_names=tuple(about["groups"]),
            directed=about["directed"],
            center=about["numbers"][0],
            scale=about["numbers"][1],
            choice=Choice.from_json(about["choice"]),
            history=about["history"],
        )


# ---- theta, the linear classifier w, b ----


def scores(vectors: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """w (..., num_outputs, dim) and b (..., 1, num_outputs) on vectors (..., n, dim): (..., n, num_outputs)."""
    return vectors @ w.mT + b


def predictions(task: str, w: Tensor, b: Tensor, x: Tensor, f: Tensor) -> Tensor:
    """The mean of theta on x and theta on f, as probabilities or numbers: (..., n, num_outputs)."""
    return (probabilities(task, scores(x, w, b)) + probabilities(task, scores(f, w, b))) / 2
