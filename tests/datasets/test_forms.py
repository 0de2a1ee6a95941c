"""Reddit and BlogCatalog load from small files of the published forms."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from pine.datasets import load
from pine.errors import InputError

# ---- Reddit ----

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
    assert data.labels.tolist() == [0, 40, 2, 2]
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


# ---- BlogCatalog ----

# Users 1-9. Groups 1-5 have two members or more, 6 has one; user 9 is in 6 alone and user 8 in none.
MEMBERS = [(1, 1), (2, 1), (2, 2), (3, 2), (4, 3), (5, 3), (6, 4), (1, 4), (7, 5), (3, 5), (9, 6)]
FRIENDS = [(1, 2), (2, 3), (2, 1), (7, 7), (8, 1), (9, 2)]
TAGGED = [(1, 1), (2, 1), (3, 4), (9, 2), (8, 3)]
RELATED = [(1, 4), (1, 2), (2, 3)]


def csv_folder(folder: Path, **changes: Any) -> Path:
    tables = {
        "nodes": [(user,) for user in range(1, 10)],
        "edges": FRIENDS,
        "group-edges": MEMBERS,
        "user-tags": TAGGED,
        "tag-edges": RELATED,
        **{name.replace("_", "-"): rows for name, rows in changes.items()},
    }
    (folder / "blogcatalog").mkdir(parents=True)
    for name, rows in tables.items():
        text = rows if isinstance(rows, str) else "".join(",".join(map(str, row)) + "\n" for row in rows)
        (folder / "blogcatalog" / f"{name}.csv").write_text(text)
    return folder


def matlab_file(folder: Path, **changes: Any) -> Path:
    def matrix(pairs: list[tuple[int, int]], shape: tuple[int, int]) -> Any:
        rows, columns = np.array(pairs).T - 1
        return sp.csc_matrix((np.ones(len(pairs)), (rows, columns)), shape=shape)

    content = {
        "friendship": matrix(FRIENDS, (9, 9)),
        "usertag": matrix(TAGGED, (9, 4)),
        "tagnetwork": matrix(RELATED, (4, 4)),
        "usercategory": matrix(MEMBERS, (9, 6)),
        **changes,
    }
    folder.mkdir(exist_ok=True)
    scipy.io.savemat(folder / "blogcatalog.mat", {name: value for name, value in content.items() if value is not None})
    return folder


@pytest.mark.parametrize("form", [csv_folder, matlab_file])
def test_blogcatalog_keeps_the_users_of_the_five_largest_groups_and_their_tags(
    form: Callable[[Path], Path], tmp_path: Path
) -> None:
    data = load("blogcatalog", form(tmp_path / "data"))
    graph = data.graph
    assert graph.ids("user").tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert graph.ids("tag").tolist() == [1, 4]
    assert {relation: graph.edge_count(relation) for relation in graph.relations} == {
        ("user", "friend", "user"): 2,
        ("user", "tagged", "tag"): 3,
        ("tag", "related", "tag"): 1,
    }
    assert data.label_names == ("1", "2", "3", "4", "5")
    assert data.labels["user"].tolist() == [
        [1, 0, 0, 1, 0],
        [1, 1, 0, 0, 0],
        [0, 1, 0, 0, 1],
        [0, 0, 1, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]
    assert data.raw == {
        "nodes": {"user": 9, "tag": 4},
        "edges": {"friend": 6, "tagged": 5, "related": 3},
        "self_loops": {"friend": 1, "tagged": 0, "related": 0},
    }


def test_blogcatalog_users_keep_the_order_and_labels_of_the_file(tmp_path: Path) -> None:
    users = [(user,) for user in (5, 3, 1, 2, 4, 9, 8, 7, 6)]
    data = load("blogcatalog", csv_folder(tmp_path, nodes=users))
    assert data.graph.ids("user").tolist() == [5, 3, 1, 2, 4, 7, 6]
    labels: Any = data.labels["user"]
    assert labels[1].tolist() == [0, 1, 0, 0, 1]
    assert labels[5].tolist() == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"edges": [(1, 2, 3)]}, r"edges\.csv: must hold 2 whole numbers a line, got shape \(1, 3\)"),
        ({"edges": "user,friend\n1,2\n"}, r"edges\.csv: must hold 2 whole numbers a line \(could not convert"),
        ({"tag_edges": ""}, r"tag-edges\.csv: must hold 2 whole numbers a line, got shape"),
        ({"group_edges": [(1, 1), (10, 2)]}, r"group-edges\.csv: users must be among those of nodes\.csv, got 10"),
        ({"edges": [(1, 77)]}, r"edges\.csv: users must be among those of nodes\.csv, got 77"),
    ],
)
def test_blogcatalog_csv_files_that_do_not_fit_are_named(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        load("blogcatalog", csv_folder(tmp_path, **changes))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tagnetwork": None}, r"must hold a matrix 'tagnetwork', got 'friendship', 'usertag', 'usercategory'"),
        ({"friendship": sp.csc_matrix((8, 8))}, r"friendship must have the shape \(9, 9\), got \(8, 8\)"),
        ({"usercategory": sp.csc_matrix((7, 6))}, r"usercategory must have the shape \(9, 6\), got \(7, 6\)"),
    ],
)
def test_a_blogcatalog_matlab_file_that_does_not_fit_is_named(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        load("blogcatalog", matlab_file(tmp_path, **changes))


def test_a_file_that_is_no_matlab_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "blogcatalog.mat").write_bytes(b"not at all" * 100)
    with pytest.raises(InputError, match=r"blogcatalog\.mat: cannot be read as a MATLAB file"):
        load("blogcatalog", tmp_path)
