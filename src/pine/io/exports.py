"""Vectors to files that other tools read: word2vec text, NumPy, Parquet; whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pine._internal.files import atomic_write
from pine.errors import InputError, listed
from pine.graph import NODE
from pine.graph.nodes import Nodes


def export_vectors(path: Path, format: str, nodes: Nodes, embedding: Any) -> None:
    """Write the vectors of all nodes; embedding: (num_nodes, dim), or {type: array}."""
    if format not in FORMATS:
        raise InputError(f"format must be one of {listed(FORMATS)}, got {format!r}")
    vectors = np.vstack([embedding[type] for type in nodes.types]) if isinstance(embedding, dict) else embedding
    with atomic_write(path) as file:
        FORMATS[format](file, nodes, vectors)


def _names(nodes: Nodes) -> list[str]:
    """One word a node: its id, after its type where there are several."""
    names = []
    for type in nodes.types:
        before = "" if nodes.types == (NODE,) else f"{type}:"
        names += [f"{before}{node}" for node in nodes.of(type).to_list()]
    return names


def _word2vec(file: IO[bytes], nodes: Nodes, vectors: NDArray[np.float32]) -> None:
    """A line with the sizes, then a word and its numbers a line."""
    names = _names(nodes)
    broken = next((name for name in names if not name or any(letter.isspace() for letter in name)), None)
    if broken is not None:
        raise InputError(f"word2vec's format separates by blanks, and the id {broken!r} has one; use --format parquet")
    file.write(f"{len(vectors)} {vectors.shape[1]}\n".encode())
    for name, row in zip(names, vectors.tolist(), strict=True):
        file.write(f"{name} {' '.join(f'{value:.6g}' for value in row)}\n".encode())


def _npy(file: IO[bytes], nodes: Nodes, vectors: NDArray[np.float32]) -> None:
    """The bare array, in node order, type after type."""
    np.save(file, vectors, allow_pickle=False)


def _parquet(file: IO[bytes], nodes: Nodes, vectors: NDArray[np.float32]) -> None:
    """Columns id, vector, and type for a typed graph; ids are text unless all of them are integers."""
    kinds = {nodes.of(type).kind for type in nodes.types}
    ids = [node for type in nodes.types for node in nodes.of(type).to_list()]
    flat = pa.array(np.ascontiguousarray(vectors, np.float32).ravel())
    columns = {
        "id": pa.array(ids if kinds == {"int"} else [str(node) for node in ids]),
        "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
    }
    if nodes.types != (NODE,):
        columns["type"] = pa.array([type for type in nodes.types for _ in range(len(nodes.of(type)))])
    pq.write_table(pa.table(columns), file)


FORMATS: dict[str, Callable[[IO[bytes], Nodes, NDArray[np.float32]], None]] = {
    "word2vec": _word2vec,
    "parquet": _parquet,
    "npy": _npy,
}
ENDINGS = {".parquet": "parquet", ".npy": "npy", ".txt": "word2vec", ".vec": "word2vec"}


def format_of(path: Path) -> str:
    """The format that a file's ending says."""
    if path.suffix not in ENDINGS:
        raise InputError(f"{path} must end in one of {listed(ENDINGS)}, to say in which form vectors are written")
    return ENDINGS[path.suffix]
