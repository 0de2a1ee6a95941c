"""What a fit leaves behind, as plain arrays: x, f of the neighbors, the parameters of f, and theta, the classifier."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.graph.nodes import Nodes
from pine.model.settings import Choice, Form
from pine.model.theta import predictions

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Learned:
    """x and f (num_nodes, dim), scores (count, num_outputs) of the labeled type or None.

    start: the structural start, (num_nodes, dim), for a later fit to see what has changed; None if it was random.
    w (num_outputs, dim), b (1, num_outputs) and parameters: those of Objective.
    """

    nodes: Nodes
    x: Array
    f: Array
    scores: Array | None
    start: Array | None
    parameters: dict[str, Array]  # by their names in Objective: those of f, and those of features
    w: Array
    b: Array
    form: Form
    feature_types: tuple[str, ...]  # the node types whose features are used
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

    def parameters_of(self, module: str) -> dict[str, Tensor]:
        """The parameters of a module of Objective, "f" or "features", by their names in it."""
        prefix = f"{module}."
        own = {name: array for name, array in self.parameters.items() if name.startswith(prefix)}
        return {name.removeprefix(prefix): torch.tensor(array) for name, array in own.items()}

    @property
    def feature_widths(self) -> dict[str, int]:
        """The number of features of each node type that has them."""
        widths = [self.parameters[f"features.A.{k}"].shape[0] for k in range(len(self.feature_types))]
        return dict(zip(self.feature_types, widths, strict=True))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is saved as numbers, beside x and scores."""
        start = {} if self.start is None else {"start": self.start}
        return self.parameters | start | {"reconstruction": self.f, "theta.w": self.w, "theta.b": self.b}

    def about(self) -> dict[str, Any]:
        """What is saved as JSON."""
        return {
            "form": asdict(self.form),
            "feature_types": list(self.feature_types),
            "groups": list(self.group_names),
            "directed": self.directed,
            "numbers": [self.center, self.scale],
            "choice": self.choice.as_json(),
            "history": self.history,
        }

    @classmethod
    def restored(
        cls, nodes: Nodes, x: Array, scores: Array | None, arrays: dict[str, Array], about: dict[str, Any]
    ) -> Self:
        """From what arrays and about gave."""
        return cls(
            nodes=nodes,
            x=x,
            f=arrays["reconstruction"],
            scores=scores,
            start=arrays.get("start"),
            parameters={name: array for name, array in arrays.items() if name.startswith(("f.", "features."))},
            w=arrays["theta.w"],
            b=arrays["theta.b"],
            form=Form.from_json(about["form"]),
            feature_types=tuple(about["feature_types"]),
            group_names=tuple(about["groups"]),
            directed=about["directed"],
            center=about["numbers"][0],
            scale=about["numbers"][1],
            choice=Choice.from_json(about["choice"]),
            history=about["history"],
        )
