"""From the publishers' own files to the arrays of our form, which must be the very ones that PINE knows."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.datasets.arrays import UNREADABLE, Arrays, content_sha256, unfit
from pine.datasets.entry import Entry
from pine.datasets.planetoid import PLANETOID_PARTS, read_planetoid
from pine.errors import InputError
from pine.graph import NODE

Converter = Callable[[Entry, Sequence[Path]], dict[str, NDArray[Any]]]


def read_originals(entry: Entry, paths: Sequence[Path], names: Sequence[str]) -> Arrays:
    """The arrays that the publisher's files hold; anything but the known content is refused under the given names."""
    where = " and ".join(names)
    try:
        values = CONVERTERS[entry.name](entry, paths)
    except InputError:
        raise
    except (*UNREADABLE, TypeError, IndexError) as problem:
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
        content = gzip.decompress(content)
    return np.array(content.split(), np.int64).reshape(-1, 2)


def network_and_group(entry: Entry, paths: Sequence[Path]) -> dict[str, NDArray[Any]]:
    """A MATLAB file with a symmetric matrix `network` and label sets `group`."""
    found = scipy.io.loadmat(paths[0])
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


CONVERTERS: dict[str, Converter] = {
    "citeseer": edges_and_classes,
    "wikipedia": edges_and_classes,
    "email-eu": edges_and_classes,
    "blogcatalog-10312": network_and_group,
    "pubmed": planetoid(np.float32),
    "cora-planetoid": planetoid(np.uint8),
    "citeseer-planetoid": planetoid(np.uint8),
}
