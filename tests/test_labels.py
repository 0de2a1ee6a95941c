"""Labels in every form, and the errors for those that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pine import PINE, Graph
from pine.errors import InputError
from pine.labels import Labels, read_labels, split_validation

GRAPH = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
TYPED = Graph.from_relations({("author", "writes", "paper"): [("ann", 1), ("bob", 2)]})

CLASSES: dict[str, tuple[Any, list[int], list[int], list[Any]]] = {
    "integers with -1": (np.array([2, -1, 5, 2]), [0, 2, 3], [0, 1, 0], [2, 5]),
    "words with None": (["x", None, "y", "x"], [0, 2, 3], [0, 1, 0], ["x", "y"]),
    "a dictionary": ({"d": "x", "a": "y"}, [0, 3], [1, 0], ["x", "y"]),
    "a dictionary with unknowns": ({"a": 1, "b": -1, "c": None, "d": 3}, [0, 3], [0, 1], [1, 3]),
    "truth values": ([True, False, True, True], [0, 1, 2, 3], [1, 0, 1, 1], [False, True]),
}


def known_labels(graph: Graph, given: Any, task: str = "auto") -> Labels:
    labels = read_labels(graph, given, task)
    assert labels is not None
    return labels


def test_classes_of_several_kinds_stay_what_they_are():
    labels = known_labels(GRAPH, {"a": 1, "b": "x", "c": "x", "d": "1"})
    assert labels.classes is not None
    assert [(type(each), each) for each in labels.classes] == [(int, 1), (str, "x"), (str, "1")]


@pytest.mark.parametrize("form", CLASSES)
def test_classes_are_understood_in_every_form_and_keep_the_users_values(form):
    form_given, known, values, classes = CLASSES[form]
    labels = known_labels(GRAPH, form_given)
    assert labels.task == "classes"
    assert labels.known.tolist() == known
    assert labels.values.tolist() == values
    assert labels.classes is not None
    assert labels.classes.tolist() == classes


@pytest.mark.parametrize(
    ("given", "known", "rows"),
    [
        (np.array([[1, 0], [-1, -1], [0, 0], [1, 1]]), [0, 2, 3], [[1, 0], [0, 0], [1, 1]]),
        (np.array([[1, 0], [np.nan, np.nan], [0, 0], [1, 1]]), [0, 2, 3], [[1, 0], [0, 0], [1, 1]]),
        ([{"p"}, None, set(), {"p", "q"}], [0, 2, 3], [[1, 0], [0, 0], [1, 1]]),
        ({"a": {"p"}, "c": set(), "d": {"q", "p"}}, [0, 2, 3], [[1, 0], [0, 0], [1, 1]]),
    ],
)
def test_label_sets_are_understood_and_an_empty_set_is_known(given, known, rows):
    labels = known_labels(GRAPH, given)
    assert labels.task == "label-sets"
    assert labels.known.tolist() == known
    assert labels.values.tolist() == rows


@pytest.mark.parametrize("given", [np.array([1.5, np.nan, -1.0, 2.0]), {"a": 1.5, "c": -1.0, "d": 2.0}])
def test_numbers_are_understood_and_minus_one_is_a_number_like_others(given):
    labels = known_labels(GRAPH, given)
    assert labels.task == "numbers"
    assert labels.known.tolist() == [0, 2, 3]
    assert labels.values.tolist() == [1.5, -1.0, 2.0]


def test_the_task_can_be_given():
    assert known_labels(GRAPH, [1, 2, 3, 4], "numbers").task == "numbers"
    classes = known_labels(GRAPH, [1.0, 2.0, None, 2.0], "classes").classes
    assert classes is not None
    assert classes.tolist() == [1.0, 2.0]


def test_labels_of_a_typed_graph_name_their_type():
    labels = known_labels(TYPED, {"paper": {2: "x"}})
    assert (labels.type, labels.known.tolist()) == ("paper", [1])


BAD = {
    "wrong length": ([0, 1, 2], r"labels must have one entry per node, shape \(4,\), got \(3,\)"),
    "wrong number of rows": (np.zeros((3, 2)), r"shape \(4, num_classes\), got \(3, 2\)"),
    "three dimensions": (np.zeros((4, 2, 2)), "one or two dimensions"),
    "an unknown node": ({"a": 0, "z": 1}, "there is a label for node 'z', but no such node"),
    "nothing": ({}, "labels are empty"),
    "nothing known": ([-1, -1, -1, -1], "labels hold no known label"),
    "a word": ("abcd", "labels must be an array in node order"),
    "rows of other numbers": (np.array([[0, 1], [0, 2], [0, 0], [1, 1]]), "labels, row 1: label sets hold 0 and 1"),
    "half unknown rows": (np.array([[0, 1], [0, -1], [0, 0], [1, 1]]), "labels, row 1"),
    "infinity": (np.array([0.5, np.inf, 1, 1]), "labels must be finite"),
    "ragged rows": ([[0, 1], [0], [1, 1], [0, 0]], "same length"),
    "bytes": ([b"x", b"y", None, None], "got bytes; turn it into text"),
    "dates": (np.array(["2020-01-01", "NaT", "NaT", "NaT"], "M8[D]"), "got date; turn it into text"),
    "sets of bytes": ({"a": {b"x"}}, "got bytes; turn it into text"),
    "no Unicode": (["\udcff", "x", "y", "x"], "is no Unicode text"),
    "empty sets only": ({"a": set(), "b": set()}, "must name at least one label"),
}


@pytest.mark.parametrize("case", BAD)
def test_labels_that_do_not_fit_are_explained(case):
    given, message = BAD[case]
    with pytest.raises(InputError, match=message):
        read_labels(GRAPH, given)


def test_labels_that_do_not_fit_their_task_or_type_are_explained():
    with pytest.raises(InputError, match="task must be one of 'auto', 'classes'"):
        read_labels(GRAPH, [0, 1, 2, 3], "regression")
    with pytest.raises(InputError, match="takes numbers as labels, got 'x'"):
        read_labels(GRAPH, ["x", "y", "x", "y"], "numbers")
    with pytest.raises(InputError, match="are label sets; task='classes' takes one label a node"):
        read_labels(GRAPH, np.zeros((4, 2)), "classes")
    with pytest.raises(InputError, match="label sets must be sets of names"):
        read_labels(GRAPH, ["x", "y", "x", "y"], "label-sets")
    with pytest.raises(InputError, match="labels of a typed graph must say their type"):
        read_labels(TYPED, [0, 1])
    with pytest.raises(InputError, match="node type 'venue' does not exist"):
        read_labels(TYPED, {"venue": [0]})
    with pytest.raises(InputError, match="labels must be on one node type"):
        read_labels(TYPED, {"paper": [0, 1], "author": [0, 1]})


def test_validation_nodes_are_given_by_id_or_by_mask_and_learned_from_by_no_method():
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    labels = read_labels(graph, {"a": 0, "b": 1, "d": 1})
    for nodes in (["b"], np.array([False, True, True, False])):
        learned, held = split_validation(graph, labels, nodes)
        assert learned.known.tolist() == [0, 3]
        assert held.known.tolist() == [1]
        assert held.values.tolist() == [1]
        assert held.classes is learned.classes


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (["c"], "no validation node has a label"),
        (["x"], "there is no node 'x'"),
        (["a", "b", "d"], "none is left to learn from"),
        (np.array([True]), r"must have one entry per node, shape \(4,\), got \(1,\)"),
    ],
)
def test_validation_nodes_that_cannot_serve_are_refused(nodes, message):
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    with pytest.raises(InputError, match=message):
        PINE().fit(graph, {"a": 0, "b": 1, "d": 1}, validation=nodes)
    with pytest.raises(InputError, match="need labels"):
        PINE().fit(graph, validation=nodes)


ONE_MASKED = [False, True, False, False]
MISSING: dict[str, Any] = {
    "Int64 with NA": pd.Series([1, None, 3, 1], dtype="Int64"),
    "an array of Int64": pd.array([1, None, 3, 1], dtype="Int64"),
    "a Categorical of integers": pd.Series([1, None, 3, 1], dtype="Int64").astype("category"),
    "a bare Categorical": pd.Categorical([1, None, 3, 1]),
    "a masked array": np.ma.array([1, 2, 3, 1], mask=ONE_MASKED),
    "objects with NA": [1, pd.NA, 3, 1],
    "a dictionary with NA": {"a": 1, "b": pd.NA, "c": 3, "d": 1},
    "a dictionary with a masked value": {"a": 1, "b": np.ma.masked, "c": 3, "d": 1},
    "polars": pl.Series([1, None, 3, 1]),
    "Arrow": pa.array([1, None, 3, 1]),
    "Arrow in chunks": pa.chunked_array([[1, None], [3, 1]]),
}
MISSING_WORDS: dict[str, Any] = {
    "string": pd.Series(["x", None, "y", "x"], dtype="string"),
    "object": pd.Series(["x", np.nan, "y", "x"], dtype=object),
    "category": pd.Series(["x", None, "y", "x"], dtype="category"),
    "masked": np.ma.array(["x", "?", "y", "x"], mask=ONE_MASKED),
    "polars": pl.Series(["x", None, "y", "x"]),
    "NaT": ["x", pd.NaT, "y", "x"],
}


@pytest.mark.parametrize("form", MISSING)
def test_missing_integers_are_missing_and_the_others_are_classes(form):
    labels = known_labels(GRAPH, MISSING[form])
    assert (labels.task, labels.known.tolist(), labels.values.tolist()) == ("classes", [0, 2, 3], [0, 1, 0])
    assert labels.classes is not None
    assert labels.classes.tolist() == [1, 3]


@pytest.mark.parametrize("form", MISSING_WORDS)
def test_missing_words_are_no_class(form):
    labels = known_labels(GRAPH, MISSING_WORDS[form])
    assert labels.classes is not None
    assert (labels.known.tolist(), labels.classes.tolist()) == ([0, 2, 3], ["x", "y"])


def test_missing_truth_values_and_numbers_are_missing():
    truth = known_labels(GRAPH, pd.Series([True, None, False, True], dtype="boolean"))
    assert (truth.task, truth.known.tolist()) == ("classes", [0, 2, 3])
    for given_labels in (
        pd.Series([1.5, None, 2.5, 0], dtype="Float64"),
        np.ma.array([1.5, 9, 2.5, 0], mask=ONE_MASKED),
        [1.5, None, 2.5, 0],
    ):
        numbers = known_labels(GRAPH, given_labels)
        assert (numbers.task, numbers.known.tolist(), numbers.values.tolist()) == ("numbers", [0, 2, 3], [1.5, 2.5, 0])


def test_masked_rows_of_label_sets_are_unknown():
    rows = np.ma.array([[1, 0], [1, 1], [0, 0], [0, 1]], mask=[[bool(masked)] * 2 for masked in ONE_MASKED])
    frame = pd.DataFrame({"p": pd.array([1, None, 0, 0], "Int64"), "q": pd.array([0, None, 0, 1], "Int64")})
    for given_labels in (rows, frame):
        labels = known_labels(GRAPH, given_labels)
        assert labels.known.tolist() == [0, 2, 3]
        assert labels.values.tolist() == [[1, 0], [0, 0], [0, 1]]


@pytest.mark.parametrize("given_labels", [np.array([0, 1, np.nan, 1]), {"a": 0.0, "b": 1.0, "c": None, "d": 1.0}])
def test_floats_that_are_zero_or_one_are_classes(given_labels):
    labels = known_labels(GRAPH, given_labels)
    assert (labels.task, labels.values.tolist()) == ("classes", [0, 1, 1])
    assert labels.classes is not None
    assert labels.classes.dtype.kind == "i"
    assert known_labels(GRAPH, given_labels, "numbers").task == "numbers"


@given(st.lists(st.one_of(st.none(), st.integers(-1, 3)), min_size=4, max_size=4))
def test_every_container_of_the_same_integers_has_the_same_labels(values):
    forms = [values, pd.Series(values, dtype="Int64"), pd.Series(values, dtype="Int64").astype("category")]
    forms.append(dict(zip("abcd", values, strict=True)))
    forms.append(np.ma.array([9 if v is None else v for v in values], mask=[v is None for v in values]))
    if all(value in (None, -1) for value in values):
        for form in forms:
            with pytest.raises(InputError, match="no known label"):
                read_labels(GRAPH, form)
        return
    found = [known_labels(GRAPH, form) for form in forms]
    assert len({(each.task, *each.known.tolist(), "|", *each.values.tolist()) for each in found}) == 1


def test_numbers_that_no_prediction_could_reach_are_refused():
    for wrong in (1e300, -1e31):
        with pytest.raises(InputError, match=r"at most 1e\+30 in size"):
            read_labels(GRAPH, np.array([0.5, wrong, 1, 2]))


def test_as_many_classes_as_labels_are_a_warning():
    ring = Graph.from_edges([(i, (i + 1) % 12) for i in range(12)])
    with pytest.warns(UserWarning, match="every one of 12 labels is a class of its own"):
        read_labels(ring, [f"label {i}" for i in range(12)])
