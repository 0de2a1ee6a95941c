"""Reddit: posts joined by a common commenter, with the two files that GraphSAGE's data are usually shared as.

reddit_data.npz holds feature (posts, 602), label (posts,) and node_types (posts,) with 1, 2, 3 for train, val, test;
reddit_graph.npz is a matrix as SciPy saves it in coordinate form. Both lie in a folder reddit/ or in reddit.zip.

The paper speaks of 50 labels and of several labels a post; the files have 41 classes and one for every post. Training
posts are those of the first 20 days of the month, as in the paper.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pine._internal.npz_sizes import UNREADABLE
from pine.datasets.arrays import Arrays, read_npz, unfit
from pine.datasets.dataset import Dataset, counts
from pine.datasets.entry import Entry
from pine.graph import Graph

DATA, GRAPH = "reddit_data.npz", "reddit_graph.npz"
NODE_TYPES = {"train": 1, "val": 2, "test": 3}


def read(paths: Sequence[Path]) -> Arrays:
    """The arrays of both files, from the folder or from the zip archive."""
    if len(paths) == 2:
        return read_npz([(str(path), path) for path in paths])
    archive = paths[0]
    try:
        with zipfile.ZipFile(archive) as opened:
            parts = [(f"{archive}/{name}", io.BytesIO(opened.read(name))) for name in (DATA, GRAPH)]
    except UNREADABLE as problem:
        raise unfit(archive, f"must be a zip archive of {DATA} and {GRAPH} ({problem})") from None
    return read_npz(parts)


def build(entry: Entry, arrays: Arrays) -> Dataset:
    """The graph that the files hold, of whatever size; node ids are rows."""
    labels = arrays.take("label", "iu", (None,))
    count = len(labels)
    edges = _edges(arrays, count)
    kinds = arrays.take("node_types", "iu", (count,))
    if not np.isin(kinds, list(NODE_TYPES.values())).all():
        raise arrays.wrong("node_types must be 1 (train), 2 (val) or 3 (test)")
    return Dataset(
        name=entry.name,
        graph=Graph.from_edges(edges, nodes=np.arange(count)),
        labels=arrays.classes("label", count, entry.classes),
        label_names=entry.label_names,
        features=arrays.take("feature", "f", (count, None)).astype(np.float32),
        splits={part: np.flatnonzero(kinds == kind) for part, kind in NODE_TYPES.items()},
        source=entry.credit,
        raw=counts(count, edges),
    )


def _edges(arrays: Arrays, count: int) -> NDArray[np.int64]:
    """Rows and columns of the saved matrix; np.load reads it without pickles, so SciPy's own reader is not needed."""
    form = arrays.take("format", "SU", ()).item()
    if form not in (b"coo", "coo"):
        raise arrays.wrong(f"the matrix must be in coordinate form, 'coo', got {form!r}")
    shape = tuple(arrays.take("shape", "iu", (2,)).tolist())
    if shape != (count, count):
        raise arrays.wrong(f"the matrix must have one row and one column per label, ({count}, {count}), got {shape}")
    row = arrays.take("row", "iu", (None,))
    pairs = np.column_stack([row, arrays.take("col", "iu", row.shape)])
    return Arrays({"row and col": pairs}, arrays.where).edges("row and col", count, count)
