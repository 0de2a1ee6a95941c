"""A typed graph is read from arrays whose names say which types they join."""

from typing import Any

import numpy as np
import pytest

from pine.datasets.arrays import Arrays, content_sha256, feature_arrays
from pine.datasets.entry import Entry
from pine.datasets.typed import build
from pine.errors import InputError

ENTRY = Entry(
    name="papers",
    nodes={"paper": 3, "author": 2, "subject": 2},
    edges={"written-by": 3, "about": 2},
    rows={"written-by": 4, "about": 2},
    classes=2,
    source="made up",
    license="ours",
    where="It is made up.",
    files=("papers.npz",),
)


def arrays(**changes: Any) -> Arrays:
    """The arrays of ENTRY with some of them changed; None leaves one out."""
    values: dict[str, Any] = {
        "edges_paper_about_subject": np.array([[0, 1], [2, 0]]),
        "edges_paper_written-by_author": np.array([[0, 0], [1, 1], [0, 0], [2, 1]]),
        "labels_paper": np.array([1, -1, 0]),
        **changes,
    }
    return Arrays({name: array for name, array in values.items() if array is not None}, "papers.npz")


def test_types_relations_and_labels_are_those_of_the_entry() -> None:
    data = build(ENTRY, arrays())
    assert data.graph.relations == (("paper", "written-by", "author"), ("paper", "about", "subject"))
    assert {type: data.graph.count(type) for type in data.graph.node_types} == ENTRY.nodes
    assert {relation[1]: data.graph.edge_count(relation) for relation in data.graph.relations} == ENTRY.edges
    assert data.raw["edges"] == ENTRY.rows
    assert {type: labels.tolist() for type, labels in data.labels.items()} == {"paper": [1, -1, 0]}
    assert data.features is None


def test_features_and_weights_belong_to_their_type_and_relation() -> None:
    words = np.array([[0, 0.5, 0.5], [1, 0, 0], [0, 0, 0]])
    changes = {"weight_paper_about_subject": np.array([2, 3]), **feature_arrays(words, np.float32, "feat_paper")}
    data = build(ENTRY, arrays(**changes))
    assert set(data.features) == {"paper"}
    assert np.array_equal(data.features["paper"].toarray(), words.astype(np.float32))
    assert data.with_features().features["paper"].shape == (3, 3)
    assert data.graph.to_scipy(("paper", "about", "subject")).toarray().tolist() == [[0, 2], [0, 0], [3, 0]]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"edges_paper_about_subject": None},
            "must hold edges of the relations 'written-by', 'about', got 'written-by'",
        ),
        ({"edges_paper_cites_paper": np.zeros((1, 2), int)}, "must hold edges of the relations 'written-by', 'about'"),
        (
            {"edges_paper_about_subject": None, "edges_paper_about_topic": np.zeros((2, 2), int)},
            "must hold edges of the relations 'written-by', 'about', got 'written-by'",
        ),
        ({"edges_paper_about_subject": np.array([[0, 1], [3, 0]])}, "subject must be between 0 and 2, got 3"),
        ({"edges_paper_about_subject": np.array([[0, 1]])}, r"must be integers of shape \(2, 2\)"),
        ({"labels_paper": None}, "must hold an array labels_TYPE of one of the types 'paper', 'author', 'subject'"),
        ({"labels_paper": np.array([1, 2, 0])}, "labels_paper must be between -1 and 1, got 2"),
        ({"feat_paper_shape": np.array([2, 5])}, "feat_paper_shape must begin with the number of nodes, 3, got 2"),
    ],
)
def test_arrays_that_do_not_fit_the_entry_are_named(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        build(ENTRY, arrays(**changes))


def test_the_content_is_the_same_in_any_order_of_edges_and_not_of_labels() -> None:
    given = dict(arrays().values)
    turned = {name: array[::-1] if name.startswith("edges_") else array for name, array in given.items()}
    assert content_sha256(turned) == content_sha256(given)
    assert content_sha256({**given, "labels_paper": given["labels_paper"][::-1]}) != content_sha256(given)
