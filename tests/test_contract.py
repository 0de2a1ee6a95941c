"""The contract that every method in METHODS keeps; a new method gets these tests by being listed."""

from __future__ import annotations

import gc
import types
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from sklearn.base import clone
from support.graphs import graph_for

import pine
from pine import METHODS, Graph, InputError
from pine.datasets import Dataset
from pine.embedder import Embedder, Fitted
from pine.evaluation import evaluate
from pine.methods import load_run


def islands(method: type[Embedder]) -> tuple[Graph, np.ndarray]:
    """Three groups of twelve, few links between them, a part of its own, and two isolated nodes."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 12)
    chance = np.where(groups[:, None] == groups[None, :], 0.5, 0.02)
    pairs = np.argwhere(np.triu(rng.random((36, 36)) < chance, 1))
    names = [f"v{i}" for i in range(41)]
    edges = [(names[a], names[b]) for a, b in pairs] + [("v36", "v37"), ("v37", "v38")]
    return graph_for(method, Graph.from_edges(edges, nodes=names)), np.concatenate([groups, [0, 0, 0, 1, 2]])


def typed(method: type[Embedder]) -> tuple[Graph, dict[str, dict[str, str]]]:
    writes = [(f"a{i}", f"p{j}") for i in range(9) for j in range(9) if i % 3 == j % 3 or i == j + 1]
    cites = [("p0", "p3"), ("p1", "p4"), ("p2", "p5")]
    graph = Graph.from_relations({("author", "writes", "paper"): writes, ("paper", "cites", "paper"): cites})
    return graph_for(method, graph), {"author": {f"a{i}": "xyz"[i % 3] for i in range(6)}}


@pytest.fixture(params=list(METHODS))
def method(request):
    return METHODS[request.param]


def labels_for(method: type[Embedder], labels: Any) -> Any:
    return labels if method.supervised else None


def quick(method: type[Embedder]) -> Any:
    """The method, with fewer rounds or layers where it has many: the contract is not about accuracy."""
    model = method()
    most = {"epochs": 60, "walks": 20, "label_steps": 400, "steps": 1000, "layers": 4}
    settings = {name: value for name, value in model.get_params().items() if name in most}
    return model.set_params(**{name: min(value or most[name], most[name]) for name, value in settings.items()})


def test_every_node_gets_a_finite_vector_isolated_ones_too(method):
    graph, labels = islands(method)
    model = quick(method).fit(graph, labels_for(method, np.where(np.arange(41) % 2, labels, -1)))
    assert model.embedding_.shape[0] == 41
    assert model.embedding_.dtype == np.float32
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_array_equal(model.vectors(["v40", "v3"]), model.embedding_[[40, 3]])


def test_every_node_of_every_type_gets_a_vector(method):
    graph, labels = typed(method)
    embedding = quick(method).fit(graph, labels_for(method, labels)).embedding_
    assert {type: len(vectors) for type, vectors in embedding.items()} == {"author": 9, "paper": 9}
    assert all(np.isfinite(vectors).all() for vectors in embedding.values())


def test_the_same_seed_gives_the_same_vectors_and_the_global_seed_is_left_alone(method):
    graph, labels = islands(method)
    # The global generators are legacy, but users seed them, and a library must neither read nor move them.
    state: Any = np.random.get_state
    before = state()[1].copy()
    first = quick(method).set_params(seed=3).fit(graph, labels_for(method, labels)).embedding_
    np.testing.assert_array_equal(state()[1], before)
    second = quick(method).set_params(seed=3).fit(graph, labels_for(method, labels)).embedding_
    np.testing.assert_array_equal(first, second)


@contextmanager
def doubles():
    torch.set_default_dtype(torch.float64)
    try:
        yield
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, doubles])
def test_the_modes_of_torch_around_a_fit_change_nothing(method, mode):
    graph, labels = islands(method)
    graph = graph.with_features({"node": np.random.default_rng(0).random((41, 5))})
    given = labels_for(method, np.where(np.arange(41) % 2, labels, -1))
    most = {"epochs": 3, "walks": 2, "label_steps": 5, "steps": 5, "layers": 2}
    settings = {name: most[name] for name in method().get_params() if name in most}
    expected = method(**settings).fit(graph, given)
    with mode():
        model = method(**settings).fit(graph, given)
        np.testing.assert_array_equal(model.embedding_, expected.embedding_)
        if method.supervised:
            np.testing.assert_array_equal(model.predict(), expected.predict())
        if method.transform is not Embedder.transform:
            np.testing.assert_array_equal(model.transform(graph), expected.transform(graph))


def test_predictions_are_the_users_own_labels(method):
    if not method.supervised:
        pytest.skip("has no classifier of its own")
    graph, numbers = islands(method)
    words = np.array(["low", "mid", "top"])[numbers]
    known = {f"v{i}": words[i] for i in range(0, 36, 2)}
    model = quick(method).fit(graph, known)
    assert model.classes_.tolist() == ["low", "mid", "top"]
    predicted = model.predict()
    assert (predicted[:36] == words[:36]).mean() > 0.85
    assert model.predict(["v1", "v5"]).tolist() == predicted[[1, 5]].tolist()
    probabilities = model.predict_proba()
    assert probabilities.shape == (41, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)


def test_label_sets_are_predicted_as_they_were_given(method):
    if not method.supervised or "label-sets" not in method.tasks:
        pytest.skip("does not learn label sets")
    graph, numbers = islands(method)
    sets = {f"v{i}": {"even", "odd"} if numbers[i] == 2 else {("even", "odd")[numbers[i]]} for i in range(0, 36, 2)}
    predicted = quick(method).fit(graph, sets).predict()
    assert all(isinstance(each, set) for each in predicted)
    assert predicted[1] == {"even"}
    rows = np.full((41, 2), -1)
    rows[:36:2] = [[1, 1] if numbers[i] == 2 else [numbers[i] == 0, numbers[i] == 1] for i in range(0, 36, 2)]
    assert quick(method).fit(graph, rows).predict()[1].tolist() == [1, 0]


def test_a_saved_run_gives_back_the_same_vectors_and_predictions(method, tmp_path):
    graph, labels = islands(method)
    model = quick(method).fit(graph, labels_for(method, labels))
    model.save(tmp_path / "run")
    for loaded in (method.load(tmp_path / "run"), load_run(tmp_path / "run")):
        np.testing.assert_array_equal(loaded.embedding_, model.embedding_)
        np.testing.assert_array_equal(loaded.vectors(["v7"]), model.vectors(["v7"]))
        assert loaded.get_params() == model.get_params()
        if method.supervised:
            np.testing.assert_array_equal(loaded.predict(), model.predict())


def test_settings_may_be_numpys_numbers_and_such_a_run_is_saved_too(method, tmp_path):
    graph, labels = islands(method)
    as_numpy = {
        name: np.array(value)[()]
        for name, value in quick(method).get_params().items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    model = method().set_params(**as_numpy).fit(graph, labels_for(method, labels))
    model.save(tmp_path / "run")
    assert method.load(tmp_path / "run").get_params() == model.get_params()
    plain = quick(method).fit(graph, labels_for(method, labels))
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)


def test_a_typed_run_is_saved_with_all_its_types(method, tmp_path):
    graph, labels = typed(method)
    model = quick(method).fit(graph, labels_for(method, labels))
    model.save(tmp_path / "run")
    loaded = method.load(tmp_path / "run")
    for type, vectors in model.embedding_.items():
        np.testing.assert_array_equal(loaded.embedding_[type], vectors)


def test_bad_labels_are_explained(method):
    if not method.supervised:
        pytest.skip("takes no labels")
    graph, labels = islands(method)
    with pytest.raises(InputError, match=r"labels must have one entry per node, shape \(41,\), got \(40,\)"):
        quick(method).fit(graph, labels[:-1])
    with pytest.raises(InputError, match="there is a label for node 'nobody'"):
        quick(method).fit(graph, {"nobody": 1})
    if method.needs_labels:
        with pytest.raises(InputError, match="needs some"):
            quick(method).fit(graph)


def test_nodes_with_labels_must_have_features_where_a_method_needs_them(method):
    if not method.needs_features:
        pytest.skip("does without features")
    graph, labels = islands(method)
    with pytest.raises(InputError, match="learns from node features, and nodes of type 'node' have none"):
        quick(method).fit(graph.with_features({}), labels)


def test_questions_that_cannot_be_answered_are_explained(method):
    graph, labels = islands(method)
    with pytest.raises(InputError, match="is not fitted yet"):
        _ = quick(method).embedding_
    with pytest.raises(InputError, match=r"fit takes a pine\.Graph, got list"):
        quick(method).fit([(0, 1)], labels)
    model = quick(method).fit(graph, labels_for(method, labels))
    with pytest.raises(InputError, match="there is no node 'nobody'"):
        model.vectors(["v1", "nobody"])
    if type(model).transform is Embedder.transform:
        with pytest.raises(InputError, match="is not inductive"):
            model.transform(graph)
    if not method.supervised:
        with pytest.raises(InputError, match="cannot predict"):
            model.predict()


def test_an_inductive_method_gives_the_graph_of_fit_the_vectors_of_fit(method, tmp_path):
    if method.transform is Embedder.transform:
        pytest.skip("is not inductive")
    graph, labels = islands(method)
    graph = graph.with_features({"node": np.random.default_rng(0).random((41, 5))})
    model = quick(method).fit(graph, labels)
    np.testing.assert_allclose(model.transform(graph), model.embedding_, atol=1e-6)
    model.save(tmp_path / "run")
    np.testing.assert_array_equal(method.load(tmp_path / "run").transform(graph), model.transform(graph))
    with pytest.raises(InputError, match="is not fitted yet"):
        quick(method).transform(graph)


def test_settings_follow_the_habits_of_scikit_learn(method):
    model = method()
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(seed=7).get_params()["seed"] == 7
    with pytest.raises(InputError, match="has no setting 'sed'"):
        model.set_params(sed=1)


def test_the_users_ids_come_back_whatever_they_are(method):
    edges = [((1, "x"), 7), (7, "y"), ("y", (1, "x")), (7, 8)]
    graph = graph_for(method, Graph.from_edges(edges))
    labels = {(1, "x"): 0, "y": 1, 8: 0}
    model = quick(method).fit(graph, labels if method.supervised else None)
    np.testing.assert_array_equal(model.vectors([(1, "x"), "y"]), model.embedding_[[0, 2]])


@dataclass
class Spy(Embedder):
    """A method that looks for labels it was not given: in everything that hangs from its arguments."""

    name: ClassVar[str] = "spy"
    supervised: ClassVar[bool] = True
    truth: ClassVar[np.ndarray]
    found: ClassVar[list[str]] = []
    seed: int | None = None

    def _fit(self, graph, labels, rng):
        count = graph.num_nodes
        Spy.found += [type(each).__name__ for each in reachable([graph, labels]) if self.reveals(each)]
        hidden = np.setdiff1d(np.arange(count), labels.known)
        guess = np.zeros((count, labels.num_outputs), np.float32)
        guess[labels.known, labels.values] = 1
        guess[hidden, 0] = 1
        return Fitted(np.zeros((count, 1), np.float32), guess)

    def reveals(self, thing):
        """Whether an object tells more true labels than the training part does."""
        if not isinstance(thing, np.ndarray) or thing.shape[:1] != self.truth.shape or thing.dtype.kind not in "iuf":
            return False
        flat = thing if thing.ndim == 1 else thing.argmax(axis=1)
        return (flat == self.truth).mean() > 0.75


def reachable(roots):
    """Every object that can be reached from some objects, code and modules aside."""
    skip = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.FrameType, types.CodeType)
    seen, queue, kept = set(), list(roots), []
    while queue:
        thing = queue.pop()
        if id(thing) in seen or isinstance(thing, skip):
            continue
        seen.add(id(thing))
        kept.append(thing)
        queue += gc.get_referents(thing)
        if isinstance(thing, np.ndarray) and thing.base is not None:
            queue.append(thing.base)
    return kept


def a_dataset(graph: Graph, labels: np.ndarray) -> Dataset:
    real = pine.datasets.load("cora")
    fields = {name: getattr(real, name) for name in ("label_names", "features", "splits", "source", "raw", "graph_ids")}
    return Dataset(name="islands", graph=graph, labels=labels, **fields)


def test_hidden_labels_do_not_reach_a_method_that_looks_for_them():
    graph, labels = islands(Spy)
    bearing = Graph.assemble(
        graph.nodes, {r: graph.matrix(r) for r in graph.relations}, directed=False,
        node_data={"node": {"y": labels}},
    )  # fmt: skip
    Spy.truth, Spy.found = labels, []
    assert Spy().reveals(labels), "the spy would know the truth if it saw it"
    assert any(Spy().reveals(each) for each in reachable([bearing])), "and would find it in a graph that bears it"
    results = list(evaluate(a_dataset(bearing, labels), {"spy": Spy}, [0.5], 3))
    assert Spy.found == []
    assert len(results) == 3
    assert all(result.scores["accuracy"] < 0.7 for result in results)


def test_a_setting_of_a_wrong_kind_is_refused_by_name(method):
    graph, labels = islands(method)
    for name in method().get_params(deep=False):
        for wrong in (object(), {"a": 1}, [object()]):
            with pytest.raises(InputError, match=f"{name} must be .*, got"):
                method().set_params(**{name: wrong}).fit(graph, labels_for(method, labels))
