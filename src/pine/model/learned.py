"""What a fit leaves behind, as plain arrays: x, f of the neighbors, the parameters of f, and theta, the classifier;
with features, what was learned from them beside it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.graph import Graph
from pine.graph.nodes import Nodes
from pine.model.blend import STRUCTURE, blend, node_weights
from pine.model.learned_features import LearnedFeatures
from pine.model.projection import Projection
from pine.model.settings import Choice, Form
from pine.model.theta import predictions

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Learned:
    """x and f (num_nodes, dim), by structure; scores (count, num_outputs) of the labeled type or None.

    start: the structural start, (num_nodes, dim), for a later fit to see what has changed; None if it was random.
    w (num_outputs, dim), b (1, num_outputs) and parameters: those of Objective.
    """

    nodes: Nodes
    x: Array
    f: Array
    scores: Array | None
    start: Array | None
    parameters: dict[str, Array]  # of f, by their names in Objective
    w: Array
    b: Array
    form: Form
    group_names: tuple[str, ...]
    directed: bool
    center: float  # of numbers as labels: they are learned at zero mean and unit variance
    scale: float
    choice: Choice
    features: LearnedFeatures | None = None
    projection: Projection | None = None  # of both to dim columns, where the embedding is made of both
    history: list[dict[str, float]] = field(default_factory=list)  # the terms of the loss, a row an epoch
    feature_history: list[dict[str, float]] = field(default_factory=list)  # of what is learned from features

    @property
    def feature_vectors(self) -> Array | None:
        """What features say of the trained nodes, (num_nodes, dim), if they have their say."""
        return None if self.features is None else self.features.vectors

    def embedding(self, x: Array, features: Array | None) -> Array:
        """The vectors that users see, (n, dim): x, what features say, or the principal components of both."""
        if features is None or self.choice.weights == STRUCTURE:
            return x
        return features if self.projection is None else self.projection.apply(x, features)

    def predictions(
        self,
        task: str,
        graph: Graph,
        type: str,
        x: Array,
        f: Array,
        features: Array | None,
        *,
        has_structure: bool = True,
    ) -> Array:
        """Probabilities or numbers (count, num_outputs) of a graph's nodes of a type.

        x, f and features: vectors of all its nodes, (num_nodes, dim) each. has_structure: whether x and f say anything.
        """
        place = graph.nodes.slice(type)
        # theta on x and on f, and where features have their say, on what they make of a node.
        made = self._by_structure(task, x[place], f[place])
        if self.features is not None and features is not None:
            by_features = self.features.predictions(task, features[place])
            has_structure = has_structure and self.choice.uses_structure
            chosen = self.choice.weights, graph, type
            weights = node_weights(*chosen, has_structure=has_structure, stand_in=self.choice.stand_in)
            made = blend((made, *by_features), weights)
        return made * self.scale + self.center if task == "numbers" else made

    def structure_predictions(self, task: str, x: Array, f: Array) -> Array:
        """The same of any nodes (n, num_outputs), by their vectors alone (n, dim), without features."""
        made = self._by_structure(task, x, f)
        return made * self.scale + self.center if task == "numbers" else made

    def _by_structure(self, task: str, x: Array, f: Array) -> Array:
        given = (torch.tensor(each) for each in (self.w, self.b, x, f))
        made: Array = predictions(task, *given, trained=self.choice.epochs > 0).numpy()
        return made

    def f_parameters(self) -> dict[str, Tensor]:
        """By their names in NeighborFunction."""
        return {name.removeprefix("f."): torch.tensor(array) for name, array in self.parameters.items()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is saved as numbers, beside x and scores."""
        made = self.parameters | {"reconstruction": self.f, "theta.w": self.w, "theta.b": self.b}
        if self.start is not None:
            made |= {"start": self.start}
        if self.features is not None:
            made |= {"structure": self.x} | self.features.arrays()
        return made if self.projection is None else made | self.projection.arrays()

    def about(self) -> dict[str, Any]:
        """What is saved as JSON."""
        return {
            "form": asdict(self.form),
            "features": None if self.features is None else self.features.about(),
            "groups": list(self.group_names),
            "directed": self.directed,
            "numbers": [self.center, self.scale],
            "choice": self.choice.as_json(),
            "history": self.history,
            "feature_history": self.feature_history,
        }

    @classmethod
    def restored(
        cls, nodes: Nodes, x: Array, scores: Array | None, arrays: dict[str, Array], about: dict[str, Any]
    ) -> Self:
        """From what arrays and about gave."""
        features = about["features"]
        return cls(
            nodes=nodes,
            x=x if features is None else arrays["structure"],
            f=arrays["reconstruction"],
            scores=scores,
            start=arrays.get("start"),
            parameters={name: array for name, array in arrays.items() if name.startswith("f.")},
            w=arrays["theta.w"],
            b=arrays["theta.b"],
            form=Form.from_json(about["form"]),
            group_names=tuple(about["groups"]),
            directed=about["directed"],
            center=about["numbers"][0],
            scale=about["numbers"][1],
            choice=Choice.from_json(about["choice"]),
            features=None if features is None else LearnedFeatures.restored(arrays, features),
            projection=Projection.restored(arrays),
            history=about["history"],
            feature_history=about.get("feature_history", []),
        )
