"""What a training will need, said before it begins: memory, disk and seconds, roughly, and what would need less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pine
from pine._internal.memory import format_bytes, free_memory

if TYPE_CHECKING:
    from pine.model import PINE

# Measured on cora, pubmed and planted graphs of 20,000 and 100,000 nodes with 5 edges a node, on one core of a server:
# bytes that Python and torch take, bytes for each coordinate of a vector, bytes for each pair of nodes of the exact
# start; microseconds for each node of the start, for each node and for each edge of an epoch.
BASE_BYTES, BYTES_PER_COORDINATE, BYTES_PER_PAIR = 450e6, 64.0, 28.0
START_SECONDS, EPOCH_NODE_SECONDS, EPOCH_EDGE_SECONDS = 180e-6, 5e-6, 0.3e-6
EXACT_START_NODES = 4_000  # as in pine.model.init.start
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


def needs_of(model: PINE, graph: pine.Graph, *, labels: bool) -> Needs:
    """For PINE on a graph."""
    nodes, edges, dim = graph.num_nodes, graph.num_edges, model.dim
    pairs = nodes**2 if nodes <= EXACT_START_NODES else 0
    features = sum(each.nnz if hasattr(each, "nnz") else each.size for each in graph.features.values())
    memory = BASE_BYTES + BYTES_PER_COORDINATE * nodes * dim + BYTES_PER_PAIR * pairs + graph.nbytes + 12.0 * features
    epochs = model.num_epochs(nodes) if labels else 0
    # Settings are chosen in two fifths as many; with features, which are learned beside structure, about twice.
    whole = epochs * 1.4 * (2 if graph.features and model.features else 1)
    epoch = EPOCH_NODE_SECONDS * nodes * dim / 64 + EPOCH_EDGE_SECONDS * edges * dim / 64
    seconds = 1 + START_SECONDS * nodes + whole * epoch
    smaller = "--quick is without training" if epochs else f"--dim {max(1, dim // 2)} needs less"
    if epochs and memory > 4e9:
        smaller += f", --dim {max(1, dim // 2)} and --set batch_size=100000 need less memory"
    return Needs(memory, 4.0 * SAVED_ARRAYS * nodes * dim + 64.0 * nodes, seconds, smaller)


def _time(seconds: float) -> str:
    if seconds < 10:
        return "some seconds"
    if seconds < 90:
        return f"{round(seconds, -1):.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
