"""What is shown of a run: colors, tables, what is near, and what is not known."""

from __future__ import annotations

import numpy as np
import pytest
from support.explore import explored_run, labels_of, run_of

from pine import Graph, InputError
from pine.similarity import unit_rows

IDS = list("abcdef")
RING = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "a")])
SCORES = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6], [0.05, 0.95], [0.55, 0.45]]


def classes_run():
    model = run_of(IDS)
    return run_of(IDS, labels_of(model, {"a": "x", "b": "x", "c": "y"}), SCORES)


def coloring(explored, key):
    return next(each for each in explored.colorings if each.key == key)


def table(explored, key):
    return next(each for each in explored.rankings if each.key == key)


def test_classes_are_colored_by_label_prediction_and_verdict():
    explored = explored_run(classes_run(), RING)
    assert [each.key for each in explored.colorings] == ["label", "prediction", "right", "degree"]
    assert coloring(explored, "label").codes.tolist() == [1, 1, 2, 0, 0, 0]
    assert coloring(explored, "prediction").codes.tolist() == [1, 1, 2, 2, 2, 1]
    assert coloring(explored, "right").codes.tolist() == [1, 1, 1, 0, 0, 0]
    assert coloring(explored, "degree").names == ["0", "1", "2"]


def test_labels_of_a_file_are_added_and_the_most_confident_mistake_comes_first():
    model = classes_run()
    given = labels_of(model, {"d": "x", "e": "x", "f": "z"})
    explored = explored_run(model, RING, given)
    assert coloring(explored, "label").names == ["x", "y", "z"]
    rows = table(explored, "mistakes").rows
    assert [(IDS[row[0]], *row[1:3]) for row in rows] == [("e", "x", "y"), ("d", "x", "y"), ("f", "z", "x")]
    assert rows[0][3] == "0.950"
    assert "3 of 6 nodes" in table(explored, "mistakes").note
    assert "3 of these labels were trained with" in table(explored, "mistakes").note


def test_labels_of_another_kind_are_refused():
    model = classes_run()
    with pytest.raises(InputError, match="trained with classes, and the given labels are numbers"):
        explored_run(model, RING, labels_of(model, {"a": 1.5, "b": 2.5}, "numbers"))


def test_nodes_whose_neighbors_disagree_are_ranked_by_how_many_do():
    star = Graph.from_edges([("a", other) for other in "bcde"] + [("e", "f")])
    model = run_of(IDS)
    explored = explored_run(model, star, labels_of(model, dict(zip(IDS, "xyyyxx", strict=True))))
    rows = table(explored, "disagree").rows
    assert [IDS[row[0]] for row in rows] == ["a", "b", "c", "d"]
    assert rows[0][1:] == ["x", "3 of 4"]


def test_label_sets_have_a_partly_right_and_numbers_have_errors():
    sets = run_of(IDS)
    known = labels_of(sets, {"a": {"x", "y"}, "b": {"x"}, "c": set(), "d": {"y"}})
    explored = explored_run(run_of(IDS, known, SCORES), RING)
    assert coloring(explored, "label").names == ["x", "y", "empty set"]
    assert coloring(explored, "label").scale == "sets"
    assert coloring(explored, "right").codes.tolist() == [3, 1, 2, 1, 0, 0]
    assert len(table(explored, "mistakes").rows) == 2
    assert table(explored, "disagree").columns[-1] == "distance"

    numbers = labels_of(sets, {"a": 1.0, "b": 2.5, "c": 8.0}, "numbers")
    explored = explored_run(run_of(IDS, numbers, [[1.5], [2.5], [4], [4], [4], [9]]), RING)
    assert coloring(explored, "label").scale == "ordered"
    assert [(IDS[row[0]], row[3]) for row in table(explored, "mistakes").rows] == [("c", "4"), ("a", "0.5")]
    assert table(explored, "disagree").rows


def test_without_labels_and_without_a_graph_the_page_says_what_is_not_known():
    explored = explored_run(run_of(IDS))
    assert [each.key for each in explored.colorings] == ["type"]
    assert [each.rows for each in explored.rankings] == [[], []]
    assert "trained without labels" in table(explored, "mistakes").note
    assert any("No labels" in note for note in explored.notes())
    assert any("pine explore RUN EDGES" in note for note in explored.notes())
    assert explored.neighbors(0) == ([], 0)


def test_labels_alone_can_be_given_to_a_run_that_predicts_nothing():
    model = run_of(IDS)
    explored = explored_run(model, None, labels_of(model, {"a": "x"}))
    assert [each.key for each in explored.colorings] == ["label"]
    assert any("No predictions" in note for note in explored.notes())


@pytest.mark.parametrize("count", [1, 2])
def test_a_run_of_one_or_two_nodes_is_shown(count):
    model = run_of(IDS[:count])
    explored = explored_run(model, None, labels_of(model, {"a": "x"}))
    assert len(explored.nearest(0)) == count - 1
    numbers, _ = explored.all_nearest()
    assert (numbers[:, count - 1 :] == -1).all()


def test_nearest_are_those_of_the_same_type_by_cosine_and_all_at_once_are_the_same():
    model = run_of({"u": list("abcdefghijklmn"), "v": [1, 2, 3]})
    explored = explored_run(model)
    unit = unit_rows(model.fitted_.vectors)
    cosines = unit[:14] @ unit[3]
    expected = [int(i) for i in np.argsort(-cosines, kind="stable") if i != 3][:10]
    assert [number for number, _ in explored.nearest(3)] == expected
    assert sorted(number for number, _ in explored.nearest(15)) == [14, 16]
    numbers, values = explored.all_nearest()
    for number in range(17):
        found = explored.nearest(number)
        assert numbers[number, : len(found)].tolist() == [other for other, _ in found]
        np.testing.assert_allclose(values[number, : len(found)], [cosine for _, cosine in found], atol=1e-6)


def test_a_graph_with_other_nodes_in_another_order_gives_the_links_between_those_of_the_run():
    shop = {
        ("buyer", "buys", "thing"): [("zoe", 2), ("ann", 1), ("ann", 2)],
        ("buyer", "knows", "buyer"): [("zoe", "bob")],
    }
    model = run_of({"thing": [1, 2, 3], "buyer": ["ann", "bob"]})
    explored = explored_run(model, Graph.from_relations(shop))
    assert explored.neighbors(3) == ([0, 1], 2)
    assert explored.neighbors(0) == ([3], 1)
    assert explored.neighbors(2) == ([], 0)
    assert any(note.startswith("1 nodes of the run are not in") for note in explored.notes())
    assert any(note.startswith("1 nodes of the given graph are not in the run") for note in explored.notes())
    with pytest.raises(InputError, match="the edges have no node of the run"):
        explored_run(model, Graph.from_edges([(7, 8)]))


def test_degrees_are_binned_by_powers_of_two_and_the_last_bin_has_no_end():
    hub = Graph.from_edges([("hub", f"v{i}") for i in range(5000)])
    model = run_of(["hub", "v0", *[f"v{i}" for i in range(1, 5000)], "alone"])
    degrees = coloring(explored_run(model, hub), "degree")
    assert degrees.names[:4] == ["0", "1", "2", "3 to 4"]
    assert degrees.names[degrees.codes[0] - 1] == "more than 512"
    assert degrees.names[degrees.codes[1] - 1] == "1"
    assert degrees.names[degrees.codes[-1] - 1] == "0"
