"""Vectors to files that other tools read: word2vec text, NumPy, Parquet, csv, TensorBoard; whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pine._internal.files import atomic_write
from pine.errors import InputError, did_you_mean, listed, quoted
from pine.graph import NODE
from pine.graph.nodes import Nodes


def export_vectors(path: Path, format: str, nodes: Nodes, embedding: Any) -> list[Path]:
    """Write the vectors of all nodes; embedding: (num_nodes, dim), or {type: array}. The files that were written."""
    if format not in FORMATS:
        raise InputError(f"format must be one of {listed(FORMATS, 10)}, got {quoted(format)}")
    vectors = np.vstack([embedding[type] for type in nodes.types]) if isinstance(embedding, dict) else embedding
    written = [path]
    if format in BESIDE:  # first, so that whoever sees the vectors finds the ids
        ending, write = BESIDE[format]
        written.append(path.with_name(path.stem + ending))
        with atomic_write(written[1]) as file:
            write(file, nodes)
    with atomic_write(path) as file:
        FORMATS[format](file, nodes, vectors)
    return written


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
        raise InputError(
            f"word2vec's format separates by blanks, and the id {quoted(broken)} has one; use --format parquet"
        )
    file.write(f"{len(vectors)} {vectors.shape[1]}\n".encode())
    for name, row in zip(names, vectors.tolist(), strict=True):
        file.write(f"{name} {' '.join(f'{value:.6g}' for value in row)}\n".encode())


def _npy(file: IO[bytes], nodes: Nodes, vectors: NDArray[np.float32]) -> None:
    """The bare array, in node order, type after type."""
    np.save(file, vectors, allow_pickle=False)


def _ids(file: IO[bytes], nodes: Nodes) -> None:
    """An id a line, after its type and a colon where there are several, in the order of the array."""
    for name in _one_line_names(nodes):
        file.write(f"{name}\n".encode())


def _metadata(file: IO[bytes], nodes: Nodes) -> None:
    """TensorBoard's table of what the points are called: one column has no header, several have one."""
    typed = nodes.types != (NODE,)
    if typed:
        file.write(b"id\ttype\n")
    types = [type for type in nodes.types for _ in range(len(nodes.of(type)))]
    ids = [node for type in nodes.types for node in nodes.of(type).to_list()]
    for node, type in zip(ids, types, strict=True):
        name = _one_line(str(node))
        file.write((f"{name}\t{_one_line(type)}\n" if typed else f"{name}\n").encode())


def _one_line(text: str) -> str:
    """Refuse what would break a line of a table."""
    if any(letter in text for letter in "\t\n\r"):
        raise InputError(f"the id {quoted(text)} holds a tab or a line break, which this format cannot; use .parquet")
    return text


def _one_line_names(nodes: Nodes) -> list[str]:
    return [_one_line(name) for name in _names(nodes)]


def _points(file: IO[bytes], nodes: Nodes, vectors: NDArray[np.float32]) -> None:
    """TensorBoard's table of vectors: numbers alone, separated by tabs."""
    for row in vectors.tolist():
        file.write(("\t".join(f"{value:.6g}" for value in row) + "\n").encode())


def _csv(file: IO[bytes], nodes: Nodes, vectors: NDArray[np.float32], delimiter: str = ",") -> None:
    """A header (id, type for a typed graph, x0, x1, ...), then a node a line."""
    typed = nodes.types != (NODE,)
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["id", *(["type"] if typed else []), *(f"x{i}" for i in range(vectors.shape[1]))])
    for type in nodes.types:
        rows = vectors[nodes.slice(type)].tolist()
        for node, row in zip(nodes.of(type).to_list(), rows, strict=True):
            writer.writerow([node, *([type] if typed else []), *(f"{value:.6g}" for value in row)])
    text.detach()  # flushed, and left open


def _tsv(file: IO[bytes], nodes: Nodes, vectors: NDArray[np.float32]) -> None:
    _csv(file, nodes, vectors, "\t")


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
    "csv": _csv,
    "tsv": _tsv,
    "projector": _points,
}
# What is written beside the vectors: the end of its name, after that of the vectors without their ending.
BESIDE: dict[str, tuple[str, Callable[[IO[bytes], Nodes], None]]] = {
    "npy": (".ids.txt", _ids),
    "projector": (".metadata.tsv", _metadata),
}
ENDINGS = {".parquet": "parquet", ".npy": "npy", ".txt": "word2vec", ".vec": "word2vec", ".csv": "csv", ".tsv": "tsv"}
ALSO = {("projector", ".tsv")}  # formats that share an ending with another, and are asked for by name


def format_of(path: Path, format: str | None = None) -> str:
    """The format that a file's ending says, or the one that is asked for if the ending does not contradict it."""
    said = ENDINGS.get(path.suffix.lower())
    if format is None:
        if said is None:
            raise InputError(
                f"{path} must end in one of {listed(ENDINGS, 10)}, to say in which form vectors are written"
            )
        return said
    if format not in FORMATS:
        raise InputError(f"unknown format {format!r}; {did_you_mean(format, FORMATS)}")
    if said is not None and said != format and (format, path.suffix.lower()) not in ALSO:
        raise InputError(f"{path} ends as {said} does, and the format is {format}; change one of them")
    return format
