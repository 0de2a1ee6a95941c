"""PINE's settings: a dozen that users meet (Settings), the rest in two groups (FunctionSettings, TrainingSettings).

Where nothing else is said, a default was chosen on held-out training labels of cora, citeseer, wikipedia, email-eu,
pubmed, dblp, facebook-pages, blogcatalog-10312 and the BlogCatalog stand-in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np

from pine._internal.settings import (
    Chance,
    Count,
    FrozenSettings,
    NonNegative,
    NonNegativeInt,
    Positive,
    own_settings,
)
from pine.embedder import Seed
from pine.errors import InputError, listed, quoted
from pine.graph import Graph, NeighborGroup
from pine.graph.groups import By

# Automatic: at most so many epochs, and fewer on large graphs, by epochs times nodes: a good start needs few.
MOST_EPOCHS, FEWEST_EPOCHS, EPOCHS_TIMES_NODES = 150, 20, 6_000_000
BLEND_NAMES = ("structure", "features of neighbors", "own features")


@dataclass(frozen=True, repr=False)
class FunctionSettings(FrozenSettings):
    """The form of f, eq. (nn-main): what it learns carries over to models that are alike in these.

    hidden, projections, scales: the paper's L, T and Q.
    activation: sigma. heads: one hidden layer for all coordinates of f, or one for each, as printed.
    scaling: what a sum over neighbors is divided by: "sum" 1, "sqrt" the root of their number.
    conditioned: scaled and centered sums, see pine.nn.SetFunction; groups of neighbors begin with the same parameters.
    """

    hidden: Count = 128
    projections: Count = 32
    scales: Count = 8
    activation: Literal["tanh", "sigmoid"] = "tanh"
    heads: Literal["shared", "separate"] = "shared"
    scaling: Literal["sum", "sqrt"] = "sqrt"
    conditioned: bool = True


@dataclass(frozen=True, repr=False)
class TrainingSettings(FrozenSettings):
    """The objective and how it is minimized.

    start: x before training, from the structure of the graph (pine.model.init), or random.
    dropout: the chance that a coordinate of a neighbor's vector is left out of f.
    entropy: how much unlabeled nodes are asked to be sure of their class; of a label set, as of four labels at most.
    supervise_f: whether f(neighbors) is asked to predict the label too.
    weight_decay: lambda_w, on the weights of the classifier.
    balanced_decay: whether, of label sets, lambda_w is less for rare labels.
    learning_rate, embedding_lr: Adam's, for f and the classifier, and for x, at their highest (pine.model.training).
        None: the fewer epochs, the higher.
    samples: with batch_size, neighbors of a node in each group, drawn anew each epoch; None: all.
    moments: Adam's two of x, in numbers of 4 or of 2 bytes.
    """

    start: Literal["structural", "random"] = "structural"
    dropout: Chance = 0.4
    entropy: NonNegative = 0.3
    supervise_f: bool = True
    weight_decay: NonNegative = 0.02
    balanced_decay: bool = True
    learning_rate: Positive = 0.06
    embedding_lr: Positive | None = None
    samples: Count | None = None
    moments: Literal["float32", "bfloat16"] = "float32"


@dataclass
class Settings:
    """What PINE is constructed with; help(pine.PINE) explains each."""

    dim: Count = 64
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None
    lam: Positive | tuple[Positive, ...] | None = None
    label_share: Chance | None = None
    epochs: NonNegativeInt | None = None
    features: bool | Literal["auto"] = "auto"
    groups: By = "type"
    batch_size: Count | None = None
    function: FunctionSettings = FunctionSettings()
    training: TrainingSettings = TrainingSettings()

    def check_graph(self, graph: Graph) -> None:
        """What settings ask of a graph, and of each other."""
        if self.features is True and not graph.features:
            raise InputError("features=True needs node features: Graph.from_edges(..., features=...) or with_features")
        if self.training.samples is not None and self.batch_size is None:
            raise InputError("samples are drawn for batches: set batch_size too")
        if self.lam is not None and np.size(self.lam) not in (1, len(graph.node_types)):
            raise InputError(
                f"lam must be one number or one for each of {listed(graph.node_types)}, got {quoted(self.lam)}"
            )

    def num_epochs(self, num_nodes: int) -> int:
        """The number of epochs that is given, or ours by the number of nodes, num_nodes."""
        automatic = min(MOST_EPOCHS, max(FEWEST_EPOCHS, EPOCHS_TIMES_NODES // max(1, num_nodes)))
        return automatic if self.epochs is None else self.epochs

    def feature_types(self, graph: Graph) -> tuple[str, ...]:
        """The node types of a graph whose features are used."""
        return tuple(sorted(graph.features)) if self.features else ()


@dataclass(frozen=True)
class Form:
    """The settings that decide the shapes of what is learned, at the time of the fit."""

    dim: int
    groups: By
    function: FunctionSettings

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The form that settings ask for."""
        return cls(settings.dim, settings.groups, settings.function)

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """The opposite of asdict."""
        return cls(saved["dim"], saved["groups"], FunctionSettings(**saved["function"]))

    def flat(self) -> dict[str, Any]:
        """All settings by their own names."""
        flat = own_settings(self) | own_settings(self.function)
        del flat["function"]
        return flat

    def neighbor_groups(self, graph: Graph) -> dict[str, NeighborGroup]:
        """The K groups that f sums over; in a directed graph, successors and predecessors are groups of their own."""
        return {group.name: group for group in graph.groups(self.groups, "split" if graph.directed else None)}


@dataclass(frozen=True)
class Choice:
    """The settings that a fit chose, and how they scored on held-out training labels (NaN: they were not scored).

    weights: of the predictions by structure, by features carried along edges and by own features (pine.model.blend).
    uses_structure: whether the first have a say at some node. stand_in: weights for where structure says nothing, if
    features are worth asking there though they have no say elsewhere.
    """

    lam: tuple[float, ...]  # one for all node types, or one for each
    epochs: int
    score: float = float("nan")
    label_share: float = 0.0
    weights: tuple[float, float, float] = (1.0, 0.0, 0.0)
    uses_structure: bool = True
    stand_in: tuple[float, float, float] | None = None

    def by_name(self) -> dict[str, Any]:
        """The settings as users read them; the weights of features where they have a say."""
        lam = self.lam[0] if len(self.lam) == 1 else self.lam
        made: dict[str, Any] = {"lam": lam, "epochs": self.epochs, "label_share": self.label_share}
        if self.weights[0] != 1:
            made["weights"] = dict(zip(BLEND_NAMES, self.weights, strict=True))
        return made

    def as_json(self) -> dict[str, Any]:
        """What is saved."""
        return asdict(self) | {"score": None if math.isnan(self.score) else self.score}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """The opposite of as_json."""
        return cls(
            lam=tuple(map(float, saved["lam"])),
            epochs=int(saved["epochs"]),
            score=float("nan") if saved["score"] is None else float(saved["score"]),
            label_share=float(saved["label_share"]),
            weights=_three(saved["weights"]),
            uses_structure=bool(saved["uses_structure"]),
            stand_in=None if saved["stand_in"] is None else _three(saved["stand_in"]),
        )


def _three(saved: Sequence[float]) -> tuple[float, float, float]:
    first, second, third = map(float, saved)
    return first, second, third
