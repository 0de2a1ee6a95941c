"""Text tables of edges and of labeled nodes, with or without a header, as publishers of graphs write them.

Nodes are numbered from 0 by rising id, whatever the ids are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.datasets.arrays import feature_arrays


def read_rows(path: Path, delimiter: str | None = None) -> list[list[str]]:
    """The fields of every line but the header, which is told by its first word; None splits at white space."""
    rows = [line.split(delimiter) for line in path.read_text("utf-8").splitlines() if line.strip()]
    start = next((number for number, row in enumerate(rows[:2]) if row[0].isdigit()), None)
    if start is None:
        raise ValueError(f"the first or second line of {path.name} must begin with a number")
    return rows[start:]


def edges_and_nodes(paths: Sequence[Path], delimiter: str | None = None) -> dict[str, NDArray[Any]]:
    """Edges, two ids first in a line; nodes, an id first in a line and a class last."""
    edges, nodes = (read_rows(path, delimiter) for path in paths)
    classes = {int(row[0]): int(row[-1]) for row in nodes}
    ids = sorted(classes)
    return {"edges": _positions(ids, edges), "labels": np.array([classes[node] for node in ids], np.int16)}


def edges_and_nodes_with_words(paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
    """Tab-separated edges_and_nodes; between id and class are the numbers of a node's words, with commas, from 0."""
    words = {int(row[0]): sorted(set(map(int, row[1].split(",")))) for row in read_rows(paths[1], "\t")}
    of_nodes = [words[node] for node in sorted(words)]
    indptr = np.cumsum([0, *map(len, of_nodes)])
    indices = np.concatenate(of_nodes)
    matrix = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(of_nodes), int(indices.max()) + 1))
    return {**edges_and_nodes(paths, "\t"), **feature_arrays(matrix, np.uint8)}


def edges_and_label_sets(paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
    """Edges, two ids first in a line; nodes, an id and then all of its labels in a line."""
    edges, nodes = map(read_rows, paths)
    sets = {int(node): list(map(int, labels)) for node, *labels in nodes}
    pairs = [(node, label) for node, labels in sets.items() for label in labels]
    return {"edges": _positions(sorted(sets), edges), "labels": _label_sets(sorted(sets), pairs)}


def edges_and_members(paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
    """Edges, two ids first in a line; labels, all nodes that have it in a line. Nodes are those of the edges."""
    edges, members = map(read_rows, paths)
    ids = sorted({int(node) for row in edges for node in row[:2]})
    pairs = [(int(node), label) for label, nodes in enumerate(members) for node in nodes]
    return {"edges": _positions(ids, edges), "labels": _label_sets(ids, pairs)}


def _positions(ids: Sequence[int], edges: Sequence[Sequence[str]]) -> NDArray[np.int32]:
    position = {node: number for number, node in enumerate(ids)}
    return np.array([(position[int(row[0])], position[int(row[1])]) for row in edges], np.int32)


def _label_sets(ids: Sequence[int], pairs: Sequence[tuple[int, int]]) -> NDArray[np.uint8]:
    """(num_nodes, num_labels) of 0 and 1, from pairs of node id and label; labels are columns by rising number."""
    position = {node: number for number, node in enumerate(ids)}
    known, columns = np.unique([label for _, label in pairs], return_inverse=True)
    sets = np.zeros((len(ids), len(known)), np.uint8)
    sets[[position[node] for node, _ in pairs], columns] = 1
    return sets
