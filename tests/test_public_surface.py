"""What users hold: every parameter is documented, reprs are short, dir(pine) shows the public names."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.graphs import two_groups

import pine
from pine import METHODS, PINE, Graph, NodeClassifier
from pine.embedder import Embedder
from pine.model import FunctionSettings, TrainingSettings

SETTINGS = [*METHODS.values(), FunctionSettings, TrainingSettings]


def public_functions() -> Iterator[tuple[str, Any, str]]:
    """Name, function and docstring of what users call; a class documents its constructor."""
    for owner in (PINE, Graph, NodeClassifier):
        if owner is NodeClassifier:
            yield owner.__name__, owner.__init__, owner.__doc__ or ""
        for name, _ in inspect.getmembers(owner, callable):
            function = getattr(owner, name)
            if not name.startswith("_") and getattr(function, "__module__", "").startswith("pine."):
                yield f"{owner.__name__}.{name}", function, inspect.getdoc(function) or ""
    yield "datasets.load", pine.datasets.load, inspect.getdoc(pine.datasets.load) or ""


FUNCTIONS = {name: (function, text) for name, function, text in public_functions()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_of_a_public_function_is_named_in_its_docstring(name):
    function, text = FUNCTIONS[name]
    assert text
    parameters = [each for each in inspect.signature(function).parameters if each not in ("self", "cls")]
    missing = [each for each in parameters if not re.search(rf"\b{re.escape(each)}\b", text)]
    assert not missing


@pytest.mark.parametrize("owner", SETTINGS, ids=lambda owner: owner.__name__)
def test_every_setting_is_named_in_the_docstring_of_its_class(owner):
    text = owner.__doc__ or ""
    missing = [field.name for field in dataclasses.fields(owner) if not re.search(rf"\b{field.name}\b", text)]
    assert not missing


def test_a_method_shows_its_size_its_seed_and_what_differs_from_the_default():
    assert repr(PINE()) == "PINE(dim=64, seed=0)"
    assert repr(PINE(dim=8, seed=3, lam=2.0)) == "PINE(dim=8, seed=3, lam=2.0)"
    assert repr(PINE(training=TrainingSettings(dropout=0.1))) == (
        "PINE(dim=64, seed=0, training=TrainingSettings(dropout=0.1))"
    )
    assert repr(PINE(lam=(1.0, 2.0))) == "PINE(dim=64, seed=0, lam=(1.0, 2.0))"
    assert all(len(repr(method())) < 60 for method in METHODS.values())


def test_a_fitted_method_shows_nodes_task_and_score():
    graph, labels = two_groups()
    model = PINE(dim=4, epochs=5).fit(graph, np.where(np.arange(40) % 2, labels, -1))
    assert re.fullmatch(
        r"PINE\(dim=4, seed=0, epochs=5; fitted: 40 nodes, classes, held-out score [01]\.\d{3}\)", repr(model)
    )
    assert repr(PINE(dim=4).fit(graph)) == "PINE(dim=4, seed=0; fitted: 40 nodes, no labels)"


def test_dir_shows_the_public_names_and_nothing_else():
    assert set(dir(pine)) == set(pine.__all__)
    assert {"PINE", "Graph", "METHODS", "NodeClassifier", "datasets", "nn"} <= set(dir(pine))


def test_what_fit_chose_is_read_by_name():
    graph, labels = two_groups()
    model = PINE(dim=4, epochs=5).fit(graph, np.where(np.arange(40) % 2, labels, -1))
    assert set(model.choice_) == {"lam", "epochs", "label_share"}
    assert model.choice_["epochs"] == 5
    assert model.score_ is not None
    assert 0.5 < model.score_ <= 1
    rows = model.history_
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4, 5]
    assert {row["training"] for row in rows} == {"structure"}
    assert rows[0]["labels"] == model.learned_.history[0]["labels"]


@pytest.mark.filterwarnings("ignore:the predictions collapsed")  # after five epochs
def test_features_have_weights_and_a_history_of_their_own_that_are_saved(tmp_path):
    graph, labels = two_groups()
    words = np.eye(2, dtype=np.float32)[labels]
    graph = Graph.from_edges([(0, 1), (2, 3)], nodes=range(40))  # says next to nothing
    model = PINE(dim=4, epochs=5).fit(graph.with_features(words), np.where(np.arange(40) % 2, labels, -1))
    assert sum(model.choice_["weights"].values()) == 1
    assert sum(row["training"] == "features" for row in model.history_) == 5
    model.save(tmp_path / "run")
    loaded = PINE.load(tmp_path / "run")
    assert (loaded.choice_, loaded.score_, loaded.history_) == (model.choice_, model.score_, model.history_)


def test_the_score_of_numbers_is_r2():
    graph, labels = two_groups()
    model = PINE(dim=4, epochs=30).fit(graph, labels + np.linspace(0, 0.1, 40), task="numbers")
    assert model.score_ is not None
    assert 0 < model.score_ < 1


def test_without_labels_there_is_no_score_and_nothing_was_trained():
    graph, _ = two_groups()
    model = PINE(dim=4).fit(graph)
    assert model.score_ is None
    assert model.history_ == []
    assert model.choice_["epochs"] == 0


def test_a_method_that_chooses_nothing_says_so():
    graph, labels = two_groups()
    model = METHODS["label-propagation"]().fit(graph, labels)
    assert (model.choice_, model.score_, model.history_) == ({}, None, [])


@pytest.mark.parametrize("name", ["pine", "propagation", "label-propagation"])
def test_fit_transform_and_fit_predict_are_fit_and_then_the_rest(name):
    graph, labels = two_groups()
    method: type[Embedder] = METHODS[name]
    settings: dict[str, Any] = {"epochs": 5, "dim": 8} if name == "pine" else {}
    given = labels if method.supervised else None
    fitted = method(**settings).fit(graph, given)
    np.testing.assert_array_equal(method(**settings).fit_transform(graph, given), fitted.embedding_)
    if method.supervised:
        predicted = method(**settings).fit_predict(graph, labels, task="classes")
        np.testing.assert_array_equal(predicted, fitted.predict())


def test_a_node_classifier_without_a_method_takes_pine():
    graph, labels = two_groups()
    model = NodeClassifier(graph).set_params(method__epochs=5, method__dim=4).fit(range(0, 40, 2), labels[::2])
    assert isinstance(model.method_, PINE)
    assert (model.predict(range(40)) == labels).mean() > 0.8
