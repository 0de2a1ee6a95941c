"""The files that Planetoid publishes, ind.NAME.*, as the arrays of our own form.

x, y are the training nodes; allx, ally all nodes but the test ones; tx, ty the test nodes, in the order that test.index
lists them; graph is {node: neighbors}. Citeseer's test.index skips 15 nodes that nobody described: they get empty
features and no label.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.datasets.old_pickle import Rows, read_old_pickle

PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
VALIDATION = 500  # Yang et al. 2016: the 500 nodes after the training ones


def read_planetoid(paths: Mapping[str, Path], sums: Mapping[str, str], values: Any) -> dict[str, NDArray[Any]]:
    """Arrays from the eight parts; values is the dtype in which the features are kept."""
    parts = {part: read_old_pickle(paths[part], sums[part]) for part in PARTS if part != "test.index"}
    test = np.array(paths["test.index"].read_text("ascii").split(), np.int64)
    start, stop = int(test.min()), int(test.max()) + 1
    features = sp.vstack([_matrix(parts["allx"]), _placed(_matrix(parts["tx"]), test - start, stop - start)], "csr")
    features.sort_indices()
    one_hot = np.zeros((stop, parts["ally"].shape[1]), np.int64)
    one_hot[:start] = parts["ally"]
    one_hot[test] = parts["ty"]
    train = len(parts["y"])
    return {
        "edges": np.array([(u, v) for u, around in parts["graph"].items() for v in around], np.int32),
        "labels": np.where(one_hot.any(1), one_hot.argmax(1), -1).astype(np.int16),
        "train_idx": np.arange(train, dtype=np.int32),
        "val_idx": np.arange(train, train + VALIDATION, dtype=np.int32),
        "test_idx": np.sort(test).astype(np.int32),
        "feat_indptr": features.indptr.astype(np.int32),
        "feat_indices": features.indices.astype(np.int32),
        "feat_data": features.data.astype(values),
        "feat_shape": np.array(features.shape, np.int32),
    }


def _matrix(rows: Rows) -> Any:
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)


def _placed(rows: Any, places: NDArray[np.int64], count: int) -> Any:
    """A matrix of `count` rows with the given rows at their places and nothing elsewhere."""
    scatter = sp.csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(count, len(places)))
    return scatter @ rows
