"""The settings of the inductive experiments, as their authors have them, and specs such as sampled:aggregator=pine.

sampled   GraphSAGE's (Hamilton et al., 2017): two layers on samples of neighbors, batches of nodes
whole     GAT's (Veličković et al., 2018): three layers on all neighbors, batches of graphs
deepwalk  vectors of walks over all nodes, seen or not, perhaps beside their attributes, and a linear map: GraphSAGE's
          comparison
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from pine.errors import InputError, listed

Aggregator = Literal["pool", "mean", "pine"]
Layers = Literal["gat", "graphsage", "pine", "pine-attention", "gat+pine"]


@dataclass(frozen=True)
class Training:
    """How long and how fast."""

    graphs: int = 0  # training graphs that are used; 0: all
    batch: int = 1
    epochs: int = 1
    patience: int = 1  # epochs to wait for a better validation loss or score
    learning_rate: float = 0.01

    def __post_init__(self) -> None:
        for each in fields(self):
            given, least = getattr(self, each.name), 0 if each.name == "graphs" else 1
            if isinstance(given, int) and not isinstance(given, bool) and given < least:
                raise InputError(f"{each.name} must be at least {least}, got {given}")


@dataclass(frozen=True)
class Layered(Training):
    """A network of layers. A set function of a layer has hidden units L, projections T and scales Q."""

    aggregator: Aggregator = "pool"
    width: int = 128
    pool: int = 512  # columns that the pool aggregator takes the maximum of
    hidden: int = 256
    projections: int = 32
    scales: int = 8


@dataclass(frozen=True)
class Sampled(Layered):
    """GraphSAGE's code: width, samples, batch, epochs and rate; no dropout. Samples repeat neighbors."""

    samples_1: int = 25  # neighbors that a node looks at in the first layer
    samples_2: int = 10  # and in the second
    batch: int = 512  # nodes
    epochs: int = 10
    patience: int = 10


@dataclass(frozen=True)
class Whole(Layered):
    """GAT's paper: heads, width of a head, rate, batch and patience; no dropout. 128 columns to pool are its too."""

    layer: Layers = "gat"
    width: int = 256
    heads: int = 4
    last_heads: int = 6
    root: bool = True  # PINEConv's own features, R x, in its layers
    pool: int = 128
    hidden: int = 768
    projections: int = 128
    scales: int = 4
    batch: int = 2  # graphs
    epochs: int = 400  # at most
    patience: int = 100
    learning_rate: float = 0.005

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layer == "pine-attention" and (self.hidden % self.heads or self.hidden % self.last_heads):
            raise InputError(
                f"hidden units are divided among {self.heads} and among {self.last_heads} heads: "
                f"hidden must be a multiple of both, got {self.hidden}"
            )


@dataclass(frozen=True)
class Walked(Training):
    """DeepWalk as the PINE paper sets it; the map is trained as the networks of GraphSAGE are."""

    features: bool = False  # attributes beside the vectors
    dim: int = 64
    walks: int = 80
    length: int = 40
    window: int = 10
    batch: int = 512  # nodes
    epochs: int = 10
    patience: int = 10

    @property
    def walk(self) -> tuple[int, int, int, int]:
        """What vectors depend on."""
        return (self.dim, self.walks, self.length, self.window)


Setting = Sampled | Whole | Walked
SETTINGS: dict[str, Setting] = {"sampled": Sampled(), "whole": Whole(), "deepwalk": Walked()}


def parse(spec: str) -> Setting:
    """Understand NAME:key=value[:key=value]; of a key that is given twice, the last counts."""
    name, *pairs = (part.strip() for part in spec.split(":"))
    if name not in SETTINGS:
        raise InputError(f"unknown setting {name!r} in {spec!r}; there are {listed(SETTINGS)}")
    setting = SETTINGS[name]
    given: dict[str, Any] = {}
    for pair in pairs:
        key, _, text = pair.partition("=")
        given[key] = _value(spec, setting, key, text)
    return replace(setting, **given)


def _value(spec: str, setting: Setting, key: str, text: str) -> int | float | bool | str:
    known = [each.name for each in fields(setting)]
    if key not in known:
        raise InputError(f"{spec!r}: there is no {key!r}; there are {listed(known, 40)}")
    words = {"true": True, "false": False} if isinstance(getattr(setting, key), bool) else None
    if isinstance(getattr(setting, key), str):
        words = {word: word for word in get_args(get_type_hints(type(setting))[key])}
    if words is not None:
        if text not in words:
            raise InputError(f"{spec!r}: {key} takes {listed(words)}, got {text!r}")
        return words[text]
    kind = type(getattr(setting, key))
    try:
        number: int | float = kind(text)
    except ValueError:
        raise InputError(f"{spec!r}: {key} takes a {'whole ' if kind is int else ''}number, got {text!r}") from None
    return number
