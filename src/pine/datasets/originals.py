"""From the publishers' own files to the arrays of our form, which must be the very ones that PINE knows."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine._internal.npz_sizes import UNREADABLE
from pine.datasets.arrays import Arrays, content_sha256, feature_arrays, read_npz, unfit
from pine.datasets.entry import Entry
from pine.datasets.matlab import read_matrices
from pine.datasets.planetoid import PLANETOID_PARTS, read_planetoid
from pine.datasets.tables import (
    edges_and_label_sets,
    edges_and_members,
    edges_and_nodes,
    edges_and_nodes_with_words,
)
from pine.datasets.typed import array_name
from pine.errors import InputError
from pine.graph import NODE
from pine.graph.nodes import Relation

LARGEST_TEXT = 1 << 26  # bytes of an unpacked file; what is cut off there is not the known content
Converter = Callable[[Entry, Sequence[Path]], dict[str, NDArray[Any]]]


def read_originals(entry: Entry, paths: Sequence[Path], names: Sequence[str]) -> Arrays:
    """The arrays that the publisher's files hold; anything but the known content is refused under the given names."""
    where = " and ".join(names)
    try:
        values = CONVERTERS[entry.name](entry, paths)
    except InputError:
        raise
    except (*UNREADABLE, IndexError) as problem:
        raise unfit(where, f"cannot be read in the form of the publisher ({problem})") from None
    got = content_sha256(values)
    if got != entry.content:
        raise InputError(
            f"{where}: the content must be that of {entry.name!r} as PINE knows it, sha256 {entry.content[:12]}, got "
            f"{got[:12]}; the publisher has changed it or the files are others, so scores on it would not compare"
        )
    return Arrays(values, where)


def edges_and_classes(entry: Entry, paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
    """Two text files of two numbers a line: source and target, then node and class."""
    edges, pairs = (_pairs(path) for path in paths)
    labels = np.full(entry.nodes[NODE], -1, np.int16)
    labels[pairs[:, 0]] = pairs[:, 1]
    return {"edges": edges.astype(np.int32), "labels": labels}


def _pairs(path: Path) -> NDArray[np.int64]:
    content = path.read_bytes()
    if path.suffix == ".gz":
        with gzip.open(path) as file:
            content = file.read(LARGEST_TEXT)
    return np.array(content.split(), np.int64).reshape(-1, 2)


def network_and_group(entry: Entry, paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
    """A MATLAB file with a symmetric matrix `network` and label sets `group`."""
    found = read_matrices(paths[0])
    above = sp.triu(found["network"], format="csr")
    above.sort_indices()
    labels = sp.csr_array(found["group"]).toarray()
    return {"edges": np.column_stack(above.nonzero()).astype(np.int32), "labels": (labels != 0).astype(np.uint8)}


def planetoid(dtype: Any) -> Converter:
    """Planetoid's eight files, the features kept as `dtype`."""

    def convert(entry: Entry, paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
        sha256 = {part: original.sha256 for part, original in zip(PLANETOID_PARTS, entry.originals, strict=True)}
        return read_planetoid(dict(zip(PLANETOID_PARTS, paths, strict=True)), sha256, dtype)

    return convert


def nodes_and_edges_npz(entry: Entry, paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
    """An npz file of edges, node_labels and dense node_features, as the authors of heterophilous graphs write it."""
    found = read_npz([(str(paths[0]), paths[0])]).values
    return {
        "edges": found["edges"].astype(np.int32),
        "labels": found["node_labels"].astype(np.int16),
        **feature_arrays(found["node_features"], np.float32),
    }


def typed_pairs(*relations: Relation) -> Converter:
    """HeCo's files: pairs of numbers for each relation, the labeled type first; its classes; its features, if any."""

    def convert(entry: Entry, paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
        edges, (classes, *features) = paths[: len(relations)], paths[len(relations) :]
        labeled = relations[0][0]
        values: dict[str, NDArray[Any]] = {
            array_name("edges", relation): _pairs(path).astype(np.int32)
            for relation, path in zip(relations, edges, strict=True)
        }
        values[f"labels_{labeled}"] = np.load(classes, allow_pickle=False).astype(np.int16)
        for path in features:
            values |= feature_arrays(sp.load_npz(path), np.float32, f"feat_{labeled}")
        return values

    return convert


CONVERTERS: dict[str, Converter] = {
    "citeseer": edges_and_classes,
    "wikipedia": edges_and_classes,
    "email-eu": edges_and_classes,
    "blogcatalog-10312": network_and_group,
    "pubmed": planetoid(np.float32),
    "cora-planetoid": planetoid(np.uint8),
    "citeseer-planetoid": planetoid(np.uint8),
    "airports-brazil": lambda entry, paths: edges_and_nodes(paths),
    "airports-europe": lambda entry, paths: edges_and_nodes(paths),
    "airports-usa": lambda entry, paths: edges_and_nodes(paths),
    "acm": typed_pairs(("paper", "written-by", "author"), ("paper", "about", "subject")),
    "freebase-movies": typed_pairs(
        ("movie", "stars", "actor"), ("movie", "directed-by", "director"), ("movie", "written-by", "writer")
    ),
    "pos": lambda entry, paths: edges_and_members(paths),
    "ppi-node2vec": lambda entry, paths: edges_and_label_sets(paths),
    "github": lambda entry, paths: edges_and_nodes(paths, ","),
    "lastfm-asia": lambda entry, paths: edges_and_nodes(paths, ","),
    "actor": lambda entry, paths: edges_and_nodes_with_words(paths),
    "tolokers": nodes_and_edges_npz,
}
