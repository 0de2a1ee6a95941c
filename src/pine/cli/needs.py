"""What a training will need, said before it begins: memory, disk and seconds, roughly, and what would need less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pine
from pine._internal.memory import format_bytes, free_memory

if TYPE_CHECKING:
    from pine.model import PINE

# Measured on cora, pubmed and planted graphs of 20,000 and 100,000 nodes with 5 edges a node, on one core of a server:
# seconds for each node of the start, for each node and for each edge of an epoch. Memory: pine.model.needs.
START_SECONDS, EPOCH_NODE_SECONDS, EPOCH_EDGE_SECONDS = 180e-6, 5e-6, 0.3e-6
SAVED_ARRAYS = 4  # of a vector for each node: x, f, the start, and scores or features


@dataclass(frozen=True)
class Needs:
    """Bytes of memory and disk, seconds on one core, and the option that would make them smaller."""

    memory: float
    disk: float
    seconds: float
    smaller: str

    @property
    def line(self) -> str:
        """For people."""
        free = free_memory()
        free_text = "" if free is None else f" ({format_bytes(free)} are free)"
        return (
            f"needs, roughly: {format_bytes(self.memory)} of memory{free_text}, {_time(self.seconds)}; {self.smaller}"
        )


def needs_of(model: PINE, graph: pine.Graph, num_outputs: int | None) -> Needs:
    """For PINE on a graph; num_outputs: classes, 1 for numbers, None without labels."""
    nodes, edges, dim = graph.num_nodes, graph.num_edges, model.dim
    memory = pine.model.needs.memory_needed(model, graph, num_outputs).host
    epochs = 0 if num_outputs is None else model.num_epochs(nodes)
    # Settings are chosen in two fifths as many; with features, which are learned beside structure, about twice.
    whole = epochs * 1.4 * (2 if graph.features and model.features else 1)
    epoch = EPOCH_NODE_SECONDS * nodes * dim / 64 + EPOCH_EDGE_SECONDS * edges * dim / 64
    seconds = 1 + START_SECONDS * nodes + whole * epoch
    smaller = "--quick is without training" if epochs else f"--dim {max(1, dim // 2)} needs less"
    if epochs and memory > 4e9:
        smaller += f", --dim {max(1, dim // 2)} needs less memory"
    return Needs(memory, 4.0 * SAVED_ARRAYS * nodes * dim + 64.0 * nodes, seconds, smaller)


def _time(seconds: float) -> str:
    if seconds < 10:
        return "some seconds"
    if seconds < 90:
        return f"{round(seconds, -1):.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
