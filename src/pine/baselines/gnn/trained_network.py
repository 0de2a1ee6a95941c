"""A trained network as arrays and JSON, apart from the graph that it was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

PREFIX = "network."  # of the names of weights in a saved run


class Columns(NamedTuple):
    """What stands for the nodes of one type: attributes that are counts or any numbers, or a column for each node."""

    type: str
    width: int
    kind: Literal["counts", "numbers", "identity"]


@dataclass(frozen=True, eq=False)
class Trained:
    """columns and settings are what the network's class takes, weights have their names in it.

    A network whose weights belong to nodes is of no use for other nodes: its weights are not kept.
    """

    columns: tuple[Columns, ...]
    settings: dict[str, Any]
    weights: dict[str, NDArray[np.float32]]

    @property
    def own_rows(self) -> list[str]:
        """The node types whose nodes have weights of their own."""
        return [each.type for each in self.columns if each.kind == "identity"]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is saved as numbers."""
        return {PREFIX + name: array for name, array in self.weights.items()}

    def about(self) -> dict[str, Any]:
        """What is saved as JSON."""
        return {"columns": [list(each) for each in self.columns], "settings": self.settings}

    @classmethod
    def restored(cls, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> Self:
        """From what arrays and about gave."""
        weights = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
        return cls(tuple(Columns(*each) for each in about["columns"]), about["settings"], weights)
