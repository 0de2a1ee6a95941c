"""Reddit loads from small files of the published form."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from pine.datasets import load
from pine.errors import InputError

REDDIT = {
    "feature": np.arange(12, dtype=np.float32).reshape(4, 3),
    "label": np.array([0, 40, 2, 2]),
    "node_types": np.array([1, 3, 2, 1]),
    "node_ids": np.arange(4),
}


@pytest.fixture
def reddit(tmp_path: Path) -> Callable[..., Path]:
    """Write the two files as GraphSAGE's data are shared: arrays, and a matrix as SciPy saves it."""

    def write(matrix: Any = None, **changes: Any) -> Path:
        if matrix is None:
            pairs = np.array([[0, 1], [1, 0], [1, 2], [2, 1], [3, 3]])
            matrix = sp.coo_matrix((np.ones(5), (pairs[:, 0], pairs[:, 1])), shape=(4, 4))
        (tmp_path / "reddit").mkdir()
        arrays = {name: value for name, value in {**REDDIT, **changes}.items() if value is not None}
        np.savez(tmp_path / "reddit" / "reddit_data.npz", **arrays)
        sp.save_npz(tmp_path / "reddit" / "reddit_graph.npz", matrix)
        return tmp_path

    return write


def test_reddit_has_one_class_a_post_and_splits_from_node_types(reddit: Callable[..., Path]) -> None:
    data = load("reddit", reddit())
    assert data.raw == {"nodes": 4, "edges": 5, "self_loops": 1}
    assert (data.graph.num_nodes, data.graph.num_edges) == (4, 2)
    assert np.asarray(data.labels).tolist() == [0, 40, 2, 2]
    assert len(data.label_names) == 41
    assert {part: nodes.tolist() for part, nodes in data.splits.items()} == {"train": [0, 3], "val": [2], "test": [1]}
    assert data.features.tolist() == REDDIT["feature"].tolist()
    assert not data.graph.features
    assert data.with_features().features["node"].shape == (4, 3)


def test_reddit_loads_from_the_zip_archive_too(reddit: Callable[..., Path], tmp_path: Path) -> None:
    folder = reddit() / "reddit"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with zipfile.ZipFile(elsewhere / "reddit.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    assert load("reddit", elsewhere).graph.num_edges == 2
    (elsewhere / "reddit.zip").write_bytes(b"PK")
    with pytest.raises(
        InputError, match=r"reddit\.zip: must be a zip archive of reddit_data\.npz and reddit_graph\.npz"
    ):
        load("reddit", elsewhere)


@pytest.mark.parametrize(
    ("matrix", "changes", "reason"),
    [
        (sp.csr_matrix((4, 4)), {}, "the matrix must be in coordinate form, 'coo', got b'csr'"),
        (sp.coo_matrix((3, 3)), {}, r"one row and one column per label, \(4, 4\), got \(3, 3\)"),
        (None, {"label": np.array([0, 1, 2, 41])}, "label must be between -1 and 40, got 41"),
        (None, {"node_types": np.array([0, 1, 2, 3])}, r"node_types must be 1 \(train\), 2 \(val\) or 3 \(test\)"),
        (
            None,
            {"feature": np.zeros((3, 2))},
            r"feature must be floats of shape \(4, any\), got float64 of shape \(3, 2\)",
        ),
        (None, {"node_types": None}, "must hold an array 'node_types'"),
    ],
)
def test_reddit_files_that_do_not_fit_are_named(
    reddit: Callable[..., Path], matrix: Any, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        load("reddit", reddit(matrix, **changes))
