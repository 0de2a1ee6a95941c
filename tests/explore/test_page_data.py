"""What the page reads, as bytes."""

from __future__ import annotations

import numpy as np
from support.explore import explored_run, labels_of, run_of, taken_apart

from pine import Graph
from pine.explore.page_data import page_data, small_integers


def test_arrays_come_back_as_they_were_at_multiples_of_four():
    model = run_of({"u": ["a", "b", "c"], "v": [1, 2]})
    given = labels_of(model, {"u": {"a": "x", "b": "y"}})
    scores = [[0.25, 0.75], [1, 0], [0.5, 0.5]]
    explored = explored_run(run_of({"u": ["a", "b", "c"], "v": [1, 2]}, given, scores))
    about, arrays = taken_apart(page_data(explored))
    assert about["ids"] == ["a", "b", "c", "1", "2"]
    assert about["types"] == ["u", "v"]
    assert arrays["types"].tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_array_equal(arrays["points"].reshape(-1, 2), explored.map.points)
    assert all(begin % 4 == 0 for _, begin, _ in about["arrays"].values())
    assert about["answers"] == {
        "task": "classes", "first": 0, "count": 3, "classes": ["x", "y"], "predicts": True, "top": 2,
    }  # fmt: skip
    assert arrays["known"].tolist() == [1, 1, 0]
    assert arrays["top.classes"].reshape(3, 2).tolist() == [[1, 0], [0, 1], [0, 1]]
    np.testing.assert_allclose(arrays["top.shares"][:2] / 65535, [0.75, 0.25], atol=1e-5)


def test_label_sets_are_rows_of_members_and_numbers_are_numbers():
    model = run_of(["a", "b", "c"])
    sets = labels_of(model, {"a": {"x", "y"}, "c": {"y"}})
    _, arrays = taken_apart(page_data(explored_run(run_of(["a", "b", "c"], sets, [[0.9, 0.6], [0.1, 0.2], [0, 1]]))))
    assert arrays["label.starts"].tolist() == [0, 2, 2, 3]
    assert arrays["label.members"].tolist() == [0, 1, 1]
    assert arrays["prediction.starts"].tolist() == [0, 2, 2, 3]
    numbers = labels_of(model, {"a": 1.5, "c": -2.25}, "numbers")
    about, arrays = taken_apart(page_data(explored_run(run_of(["a", "b", "c"], numbers, [[1], [2], [3]]))))
    assert arrays["label.numbers"].tolist() == [1.5, 0, -2.25]
    assert arrays["prediction.numbers"].tolist() == [1, 2, 3]
    assert about["answers"]["top"] == 0


def test_ids_of_every_kind_are_text():
    ids = [("a", 1), 2.5, "x", True]
    explored = explored_run(run_of(ids), Graph.from_edges([(("a", 1), 2.5)]))
    about, arrays = taken_apart(page_data(explored))
    assert about["ids"] == ["('a', 1)", "2.5", "x", "True"]
    assert arrays["degrees"].tolist() == [1, 1, 0, 0]


def test_whole_numbers_take_as_few_bytes_as_they_need():
    assert [small_integers(np.array([top])).dtype.name for top in (0, 255, 256, 65_535, 65_536)] == [
        "uint8", "uint8", "uint16", "uint16", "uint32",
    ]  # fmt: skip
