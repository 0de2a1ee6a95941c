"""The settings of the inductive experiments, as their authors have them, and specs such as sampled:aggregator=pine.

sampled   GraphSAGE's (Hamilton et al., 2017): two layers on samples of neighbors, batches of nodes
whole     GAT's (Veličković et al., 2018): three layers on all neighbors, batches of graphs
deepwalk  vectors of walks over all nodes, seen or not, perhaps beside their features, and a linear map: GraphSAGE's
          comparison
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pine._internal.settings import Count, FrozenSettings, NonNegativeInt, Positive, annotation_of
from pine.errors import InputError, listed
from pine.evaluation.specs import read_value, split_spec


@dataclass(frozen=True)
class InductiveSettings(FrozenSettings):
    """How long and how fast."""

    graphs: NonNegativeInt = 0  # training graphs that are used; 0: all
    batch: Count = 1
    epochs: Count = 1
    patience: Count = 1  # epochs to wait for a better validation loss or score
    learning_rate: Positive = 0.01


@dataclass(frozen=True)
class LayerSettings(InductiveSettings):
    """A network of layers. A set function of a layer has hidden units L, projections T and scales Q."""

    aggregator: Literal["pool", "mean", "pine"] = "pool"
    width: Count = 128
    pool: Count = 512  # columns that the pool aggregator takes the maximum of
    hidden: Count = 256
    projections: Count = 32
    scales: Count = 8


@dataclass(frozen=True)
class SampledSettings(LayerSettings):
    """GraphSAGE's code: width, samples, batch, epochs and rate; no dropout. Samples repeat neighbors."""

    samples_1: Count = 25  # neighbors of a node in the first layer
    samples_2: Count = 10  # and in the second
    batch: Count = 512  # nodes
    epochs: Count = 10
    patience: Count = 10


@dataclass(frozen=True)
class WholeSettings(LayerSettings):
    """GAT's paper: heads, width of a head, rate, batch and patience; no dropout. 128 columns to pool are its too."""

    layer: Literal["gat", "graphsage", "pine", "pine-attention", "gat+pine"] = "gat"
    width: Count = 256
    heads: Count = 4
    last_heads: Count = 6
    root: bool = True  # PINEConv's own features, R x, in its layers
    pool: Count = 128
    hidden: Count = 768
    projections: Count = 128
    scales: Count = 4
    batch: Count = 2  # graphs
    epochs: Count = 400  # at most
    patience: Count = 100
    learning_rate: Positive = 0.005

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layer == "pine-attention" and (self.hidden % self.heads or self.hidden % self.last_heads):
            raise InputError(
                f"hidden units are divided among {self.heads} and among {self.last_heads} heads: "
                f"hidden must be a multiple of both, got {self.hidden}"
            )


@dataclass(frozen=True)
class WalkSettings(InductiveSettings):
    """DeepWalk as the PINE paper sets it; the linear map is trained as the networks of GraphSAGE are."""

    features: bool = False  # node features beside the vectors
    dim: Count = 64
    walks: Count = 80
    length: Count = 40
    window: Count = 10
    batch: Count = 512  # nodes
    epochs: Count = 10
    patience: Count = 10

    @property
    def walk(self) -> tuple[int, int, int, int]:
        """The settings that the vectors depend on."""
        return (self.dim, self.walks, self.length, self.window)


Setting = SampledSettings | WholeSettings | WalkSettings
SETTINGS: dict[str, Setting] = {"sampled": SampledSettings(), "whole": WholeSettings(), "deepwalk": WalkSettings()}


def parse(spec: str) -> Setting:
    """Read a spec such as sampled:aggregator=pine:epochs=3."""
    name, given = split_spec(spec)
    if name not in SETTINGS:
        raise InputError(f"unknown setting {name!r} in {spec!r}; there are {listed(SETTINGS)}")
    setting = SETTINGS[name]
    changes = {}
    for key, text in given.items():
        try:
            annotation = annotation_of(setting, key, name)
        except InputError as problem:
            raise InputError(f"{spec!r}: {problem}") from None
        changes[key] = read_value(spec, key, text, annotation)
    return replace(setting, **changes)
