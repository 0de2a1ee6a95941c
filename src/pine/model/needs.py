"""The memory that a fit takes, counted before it begins: floats for each node, in the stage that holds the most.

    untrained   3 d + 2 L                   x, f, and the hidden layer of f
    training    max(9 d + 2 L, 7 d + (1 + 2 K) L)    x, its start, gradient and moments; sums of K > 1 groups
    scores      4 d + 6 C                   predictions and propagated labels of C classes
    features    4 d + 21 C                  scores of what is learned from features
    on a GPU    10 C on top of training     which has the scores of all nodes at once
                4 d + 14 C for scores       by a regression there
    in blocks   4 d + (1 + K) L             training on a GPU without room for the above (pine.model.block_objective)

With moments in bfloat16 training has d less. d is dim, L the hidden units (times d where each coordinate has its own),
K the groups of neighbors. To these come the edges, twice, with what finds them, features, and for the exact start of a
small graph some arrays of all pairs.
Measured by `python benchmarks/memory.py`, on a CPU and on an H200 (docs/trust.md).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import torch

from pine._internal.memory import format_bytes, free_memory, resident_memory
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.model.block_objective import NODES_OF_GPU_BLOCK
from pine.model.init.start import EXACT_NODES
from pine.model.mapped_part import slice_bytes, slice_columns
from pine.model.settings import Settings
from pine.nn.training import device_of

FLOAT = 4  # bytes
BYTES_PER_ENTRY = 16  # of the neighbors: indices and their transposed, in f and in propagation
BYTES_PER_PAIR = 18  # of nodes, in the exact start
BYTES_PER_FEATURE, BYTES_PER_SPARSE_FEATURE = 16, 34
MAPPED_BYTES_A_NODE, MAPPED_FLOATS_AN_OUTPUT, MAPPED_BLOCK_BYTES = 60, 14, 100e6  # see require_memory_for_mapped_fit
FLOATS_OF_BLOCK = 12  # of each of a node's vectors, sums and scores, while its block is made
BASE_BYTES = 455e6  # Python, torch, and what is compiled
BASE_BYTES_WITH_GPU = 1550e6  # of the host, with the libraries of CUDA
BASE_GPU_BYTES, TRAINING_GPU_BYTES = 950e6, 380e6  # CUDA, its libraries and our kernels; steps that are captured

logger = logging.getLogger("pine")


@dataclass(frozen=True)
class MemoryNeed:
    """Bytes on the host and on a GPU; base: of the host's, what a process that fits takes anyway."""

    host: float
    gpu: float = 0.0
    base: float = BASE_BYTES


def memory_needed(
    settings: Settings, graph: Graph, num_outputs: int | None, ranks: int = 1, *, in_blocks: bool = False
) -> MemoryNeed:
    """For a fit; num_outputs: classes, 1 for numbers, None without labels.

    Of ranks that share it, the first needs most: a share of the arrays, the graph, and all that comes back.
    """
    n, on_gpu = graph.num_nodes, device_of(settings.device).type != "cpu"
    if in_blocks:
        arrays = _bytes_in_blocks(settings, graph, num_outputs)
    else:
        arrays = FLOAT * n * _floats_a_node(settings, graph, num_outputs, on_gpu=on_gpu)
    arrays += BYTES_PER_ENTRY * 2.0 * graph.num_edges
    arrays += BYTES_PER_PAIR * float(n) ** 2 if n <= EXACT_NODES and settings.training.start == "structural" else 0.0
    features = [graph.features[type] for type in settings.feature_types(graph)]
    arrays += sum(map(_feature_bytes, features))
    arrays /= ranks
    if not on_gpu and ranks == 1:
        return MemoryNeed(BASE_BYTES + arrays)
    # The host has the graph, its features, the start, and what comes back: x, f and scores.
    kept = FLOAT * n * (4.0 * settings.dim + 2 * (num_outputs or 0)) + graph.nbytes
    kept += sum(float((each.data if hasattr(each, "nnz") else each).nbytes) for each in features)
    if not on_gpu:
        return MemoryNeed(BASE_BYTES + arrays + kept)
    training = TRAINING_GPU_BYTES if num_outputs is not None and settings.epochs != 0 else 0.0
    return MemoryNeed(BASE_BYTES_WITH_GPU + kept, BASE_GPU_BYTES + training + arrays, BASE_BYTES_WITH_GPU)


def require_memory_for_fit(
    settings: Settings, graph: Graph, num_outputs: int | None, ranks: int = 1, *, may_be_in_blocks: bool = False
) -> bool:
    """Refuse a fit that cannot fit into memory, and name settings that would; whether it fits only in blocks."""
    need = memory_needed(settings, graph, num_outputs, ranks)
    logger.info("pine needs %s of memory", format_bytes(need.host))
    place, needed, free = _short_of(settings, need)
    if not place:
        return False
    if place == "GPU memory" and may_be_in_blocks and _has_blocks(settings, graph):
        less = memory_needed(settings, graph, num_outputs, in_blocks=True)
        if not _short_of(settings, less)[0]:
            logger.info("in blocks of nodes, with %s of GPU memory", format_bytes(less.gpu))
            return True
    raise InputError(
        f"pine needs {format_bytes(needed)} more {place} for this graph and {format_bytes(free)} are free; "
        f"{_way_out(settings, graph, num_outputs)}"
    )


def require_memory_for_mapped_fit(settings: Settings, graph: Graph, labels: Labels | None) -> int:
    """Refuse a fit whose arrays lie in files where not even slices of few columns fit; how many columns do."""
    fixed = mapped_bytes(settings, graph, labels)
    free = free_memory()
    # Half of what is left is for files that the system has read.
    columns = slice_columns(graph.num_nodes, None if free is None else (free - fixed) / 2)
    needed = fixed + slice_bytes(graph.num_nodes, columns)
    logger.info("pine needs %s of memory beside its files", format_bytes(needed))
    if free is not None and needed > free:
        raise InputError(
            f"pine needs {format_bytes(needed)} more memory for this graph even where its vectors lie in files, and "
            f"{format_bytes(free)} are free; take fewer labels, a smaller graph, or a machine with more memory"
        )
    return columns


def mapped_bytes(settings: Settings, graph: Graph, labels: Labels | None) -> float:
    """Beside slices: a few numbers a node, the vectors and scores of labeled nodes, and blocks of nodes."""
    outputs, known = (0, 0) if labels is None else (labels.num_outputs, len(labels.known))
    of_known = FLOAT * known * (settings.dim + MAPPED_FLOATS_AN_OUTPUT * outputs)
    return MAPPED_BLOCK_BYTES + MAPPED_BYTES_A_NODE * graph.num_nodes + of_known


def file_bytes(settings: Settings, graph: Graph) -> float:
    """Of a training whose arrays lie in files: x, its start, gradient and moments, f; messages and sums."""
    groups = _num_groups(settings, graph) if len(graph.node_types) == 1 else 1
    return FLOAT * graph.num_nodes * (6.0 * settings.dim + (1 + groups) * settings.function.hidden)


def _has_blocks(settings: Settings, graph: Graph) -> bool:
    """Whether blocks of nodes can be made one after the other."""
    return not settings.feature_types(graph) and settings.batch_size is None and settings.function.heads == "shared"


def _bytes_in_blocks(settings: Settings, graph: Graph, num_outputs: int | None) -> float:
    d, L, outputs = settings.dim, settings.function.hidden, num_outputs or 0
    training = 4 * d + (1 + _num_groups(settings, graph)) * L - _saved_by_moments(settings)
    of_all = max(training, 2 * d + 6 * outputs)
    of_block = FLOATS_OF_BLOCK * (d + L + outputs)
    return float(FLOAT) * (graph.num_nodes * of_all + min(NODES_OF_GPU_BLOCK, graph.num_nodes) * of_block)


def _short_of(settings: Settings, need: MemoryNeed) -> tuple[str, float, float]:
    """Where memory is short, what is needed there and what is free; no name where all fits."""
    free = free_memory()
    # What the process has loaded is there already.
    wanted = need.host - min(need.base, resident_memory())
    if free is not None and wanted > free:
        return "memory", wanted, float(free)
    if need.gpu > 0:
        free_gpu = float(torch.cuda.mem_get_info(device_of(settings.device))[0])
        if need.gpu > free_gpu:
            return "GPU memory", need.gpu, free_gpu
    return "", 0.0, 0.0


def _way_out(settings: Settings, graph: Graph, num_outputs: int | None) -> str:
    """The largest dim that fits, halved again and again; otherwise without training, or less of a graph."""
    dims = [settings.dim >> k for k in range(1, settings.dim.bit_length())]
    ways: list[tuple[str, dict[str, Any]]] = [(f"dim={dim} (--dim {dim})", {"dim": dim}) for dim in dims]
    if num_outputs is not None and settings.epochs != 0:
        ways += [("epochs=0 (--quick)", {"epochs": 0})]
        ways += [(f"epochs=0 (--quick) with dim={dim}", {"dim": dim, "epochs": 0}) for dim in dims]
    for name, changes in ways:
        changed = replace(settings, **changes)
        if not _short_of(changed, memory_needed(changed, graph, num_outputs))[0]:
            return f"{name} would fit"
    return "no dim would fit: take a smaller graph, fewer features, or a machine with more memory"


def _floats_a_node(settings: Settings, graph: Graph, num_outputs: int | None, *, on_gpu: bool) -> float:
    """In the stage that holds the most."""
    d, form = settings.dim, settings.function
    L = form.hidden * (d if form.heads == "separate" else 1)
    stages = [3 * d + 2 * L]
    if num_outputs is not None:
        stages.append(4 * d + (14 if on_gpu else 6) * num_outputs)
        if settings.epochs != 0:
            K = _num_groups(settings, graph)
            training = max(9 * d + 2 * L, 7 * d + (1 + 2 * K) * L if K > 1 else 0) - _saved_by_moments(settings)
            stages.append(training + (10 * num_outputs if on_gpu else 0))
            if settings.feature_types(graph):
                stages.append(4 * d + 21 * num_outputs)
    return float(max(stages))


def _saved_by_moments(settings: Settings) -> int:
    """Floats a node: two halves of x."""
    return settings.dim if settings.training.moments == "bfloat16" else 0


def _num_groups(settings: Settings, graph: Graph) -> int:
    """At most: a relation has two sides."""
    groups = {"all": 1, "type": len(graph.node_types), "relation": 2 * len(graph.relations)}[settings.groups]
    return groups * (2 if graph.directed and settings.groups != "relation" else 1)


def _feature_bytes(features: Any) -> float:
    if hasattr(features, "nnz"):
        return float(BYTES_PER_SPARSE_FEATURE * features.nnz)
    return float(BYTES_PER_FEATURE * features.size)
