"""BlogCatalog loads from small files of both forms."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from pine.datasets import load
from pine.errors import InputError

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
    labels: Any = data.labels
    assert labels["user"].tolist() == [
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
    labels: Any = data.labels
    assert labels["user"][1].tolist() == [0, 1, 0, 0, 1]
    assert labels["user"][5].tolist() == [0, 0, 0, 0, 1]


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
