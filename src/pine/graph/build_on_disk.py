"""A graph of one node type out of a Parquet file that is larger than memory: its rows of neighbors lie in files.

The file is read three times, a batch of rows at a time: for the range of the ids, for the ids, and for the positions of
both ends of every edge, which are written down and then sorted into rows, a range of rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pine._internal.mapped import MappedArrays
from pine.errors import InputError, one_of, quoted
from pine.graph.build import SELF_LOOPS, check_sum
from pine.graph.csr import CSR, DUPLICATES, build_csr
from pine.graph.ids.column import Column
from pine.graph.ids.hash_table import IntInterner, StringInterner
from pine.graph.ids.node_ids import NodeIds, ids_from
from pine.graph.ids.numbering import ClosedNumbering, UnknownId
from pine.graph.nodes import EDGE
from pine.graph.read.table import EdgeBatch, EdgeTable

Read = Callable[[], EdgeTable]  # the edges, from the first on


def build_on_disk(read: Read, nodes: Any, folder: Path, *, self_loops: str, duplicates: str) -> tuple[NodeIds, CSR]:
    """The ids, and their rows in files of a folder. nodes: a closed list of ids."""
    one_of("self_loops", self_loops, SELF_LOOPS)
    one_of("duplicates", duplicates, DUPLICATES)
    arrays = MappedArrays(folder)
    ids = _ids(read) if nodes is None else ids_from(nodes)
    num_edges, weighted = 0, False
    for batch in read().batches:
        num_edges += len(batch.source)
        weighted = batch.weights is not None
    kind = np.int32 if len(ids) <= np.iinfo(np.int32).max else np.int64
    source, target = (arrays.zeros(num_edges, dtype=kind) for _ in range(2))
    weights = arrays.zeros(num_edges) if weighted else None
    first, table = 0, read()
    numbering = ClosedNumbering(ids)
    for batch in table.batches:
        rows = slice(first, first + len(batch.source))
        source[rows], target[rows] = _positions(numbering, batch, table, first)
        if weights is not None:
            weights[rows] = batch.weights
        first = rows.stop
    del numbering
    pa.default_memory_pool().release_unused()  # what the reader held
    shape = (len(ids), len(ids))
    loops = self_loops == "drop"
    made = build_csr(
        source, target, weights, shape, mirror=True, drop_loops=loops, duplicates=duplicates, empty=arrays.zeros
    )
    check_sum(EDGE, made)
    return ids, made


def _ids(read: Read) -> NodeIds:
    """As an open numbering has them: whole numbers in ascending order, text in order of first appearance."""
    kinds = {column.kind for batch in read().batches for column in (batch.source, batch.target)}
    if kinds <= {"int"}:
        return NodeIds("int", _integers(read))
    if kinds != {"str"}:
        raise InputError("with mmap_dir ids must be whole numbers at both ends of all edges, or text at both")
    strings = StringInterner()
    for batch in read().batches:
        source, target = (pa.chunked_array([_large(piece) for piece in each.pieces]) for each in _ends(batch))
        both = pa.chunked_array([*source.chunks, *target.chunks]).combine_chunks()
        order = np.arange(2 * len(source)).reshape(2, -1).T.ravel()  # row by row, the source before the target
        strings.add(both.take(pa.array(order)))
    return NodeIds("str", strings.strings())


def _large(strings: pa.Array) -> pa.Array:
    return strings.cast(pa.large_string())


def _ends(batch: EdgeBatch) -> Iterable[Column]:
    return batch.source, batch.target


def _integers(read: Read) -> NDArray[np.int64]:
    """The distinct ids, in ascending order: marked in a table where they are dense, else in a hash table."""
    pieces = [piece for batch in read().batches for end in _ends(batch) for piece in _extremes(end)]
    if not pieces:
        return np.empty(0, np.int64)
    count = sum(length for *_, length in pieces)
    lowest, highest = min(low for low, _, _ in pieces), max(high for _, high, _ in pieces)
    if highest - lowest < 4 * count + 1024:
        present = np.zeros(highest - lowest + 1, bool)
        for batch in read().batches:
            for end in _ends(batch):
                for piece in end.pieces:
                    present[piece - lowest] = True
        return np.flatnonzero(present) + lowest
    numbers = IntInterner()
    for batch in read().batches:
        for end in _ends(batch):
            for piece in end.pieces:
                numbers.add(piece)
    return np.sort(numbers.values())


def _extremes(column: Column) -> list[tuple[int, int, int]]:
    """The smallest and the largest id of each piece, and its length."""
    return [(int(piece.min()), int(piece.max()), len(piece)) for piece in column.pieces if len(piece)]


def _positions(numbering: ClosedNumbering, batch: EdgeBatch, table: EdgeTable, first: int) -> tuple[Any, Any]:
    """Of both ends of a batch's edges."""
    try:
        numbering.add(batch.source, batch.target)
    except UnknownId as unknown:
        raise InputError(
            f"{table.where(first + unknown.row)}: {quoted(unknown.value)} is not among the given nodes; add it there, "
            "or leave out `nodes` to take them from the edges"
        ) from None
    _, parts = numbering.finish()
    source, target = parts
    parts.clear()
    return source, target
