"""Text tables of edges and labeled nodes become arrays, in the forms in which publishers write them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pine.datasets.arrays import Arrays
from pine.datasets.tables import (
    edges_and_label_sets,
    edges_and_members,
    edges_and_nodes,
    edges_and_nodes_with_words,
)


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[Path]]:
    """The paths of files with the given texts."""

    def write(*texts: str) -> list[Path]:
        paths = [tmp_path / f"{number}.txt" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(text.encode())
        return paths

    return write


def as_lists(values: dict[str, Any]) -> dict[str, Any]:
    return {name: array.tolist() for name, array in values.items()}


def test_nodes_are_numbered_by_rising_id_as_in_the_files_of_airports(files: Callable[..., list[Path]]) -> None:
    paths = files("12343 10005\n12129 12343\n", "node label\n12343 3\n10005 1\n12129 0\n")
    assert as_lists(edges_and_nodes(paths)) == {"edges": [[2, 0], [1, 2]], "labels": [1, 0, 3]}


def test_a_header_and_columns_between_id_and_class_are_left_out_as_in_the_files_of_musae(
    files: Callable[..., list[Path]],
) -> None:
    paths = files("id_1,id_2\r\n0,2\r\n1,2\r\n", "id,name,ml_target\n0,ann,1\n1,bob smith,0\n2,7,1\n")
    values = edges_and_nodes(paths, ",")
    assert as_lists(values) == {"edges": [[0, 2], [1, 2]], "labels": [1, 0, 1]}
    assert values["edges"].dtype == np.int32
    assert values["labels"].dtype == np.int16


def test_words_between_id_and_class_are_features_once_each(files: Callable[..., list[Path]]) -> None:
    paths = files(
        "node_id\tnode_id\n1\t0\n0\t0\n", "node_id\tfeature(feature_amount:3)\tlabel\n1\t3,0,3\t4\n0\t2\t1\n2\t0\t0\n"
    )
    values = edges_and_nodes_with_words(paths)
    assert values["edges"].tolist() == [[1, 0], [0, 0]]
    assert values["labels"].tolist() == [1, 4, 0]
    assert Arrays(values, "made up").features(3).toarray().tolist() == [[0, 0, 1, 0], [1, 0, 0, 1], [1, 0, 0, 0]]


def test_a_node_may_list_its_labels(files: Callable[..., list[Path]]) -> None:
    paths = files("1 2 1.000000\n2 1 1.000000\n2 3 1.000000\n", "2 9\n1 4 9 \n3 5\n")
    assert as_lists(edges_and_label_sets(paths)) == {
        "edges": [[0, 1], [1, 0], [1, 2]],
        "labels": [[1, 0, 1], [0, 0, 1], [0, 1, 0]],
    }


def test_a_label_may_list_its_nodes(files: Callable[..., list[Path]]) -> None:
    paths = files("0\t2\n1\t1\n0\t3", "2\t0\t\n1\t2\t0\t\n")
    assert as_lists(edges_and_members(paths)) == {
        "edges": [[0, 2], [1, 1], [0, 3]],
        "labels": [[1, 1], [0, 1], [1, 1], [0, 0]],
    }


@pytest.mark.parametrize("convert", [edges_and_nodes, edges_and_label_sets, edges_and_members])
def test_a_node_that_is_not_listed_is_not_taken_for_another(
    files: Callable[..., list[Path]], convert: Callable[[list[Path]], Any]
) -> None:
    edges, nodes = ("0 1\n", "0 1\n7 0\n") if convert is edges_and_members else ("0 7\n", "0 1\n1 0\n")
    with pytest.raises(KeyError, match="7"):
        convert(files(edges, nodes))
