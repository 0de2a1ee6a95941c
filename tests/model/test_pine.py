"""PINE: what it learns, for labels of every kind and for none, and what it gives to nodes that come later."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from support.models import pine_with

import pine
from pine import METHODS, PINE, Graph, InputError
from pine.datasets import planted_classes
from pine.evaluation.protocol import hide, split
from pine.labels import read_labels
from pine.model.choice import LAMBDA
from pine.model.settings import FunctionSettings, Settings, TrainingSettings

FIXED = {"lam": 10.0, "label_share": 0.0}


def groups(count: int = 40, seed: int = 0, kinds: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Edges of a graph of planted groups, and the group of every node."""
    rng = np.random.default_rng(seed)
    kind = np.arange(count * kinds) % kinds
    chance = np.where(kind[:, None] == kind[None, :], 6 / count, 0.5 / count)
    return np.argwhere(np.triu(rng.random(chance.shape) < chance, 1)), kind


@pytest.fixture(scope="module")
def planted():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    seen = np.where(np.arange(len(kind)) % 2, kind, -1)
    return graph, kind, seen, pine_with(epochs=100, dim=16, **FIXED).fit(graph, seen)


def test_on_cora_it_is_above_what_its_start_gives_and_near_label_propagation_with_one_setting():
    data = pine.datasets.load("cora")
    labels = read_labels(data.graph, data.labels)
    parts = split("cora", labels.known, 0.5, 0)
    model = pine_with(epochs=200, **FIXED).fit(data.graph, hide(labels, parts.train, 2708))
    accuracy = (model.predict()[parts.test] == data.labels[parts.test]).mean()
    assert accuracy > 0.835


def test_settings_are_chosen_on_the_training_labels_and_remembered():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    model = pine_with(dim=16).fit(graph, np.where(np.arange(len(kind)) % 2, kind, -1))
    choice = model.learned_.choice
    assert choice.epochs in (0, 150)
    assert choice.lam == (LAMBDA / 2,)  # half of the labels are known
    assert 0.5 < choice.score <= 1
    assert (model.predict() == kind).mean() > 0.9


def test_a_setting_that_the_user_fixes_stays_fixed(planted):
    assert planted[3].learned_.choice.lam == (10.0,)
    assert planted[3].learned_.choice.epochs == 100
    assert np.isnan(planted[3].learned_.choice.score)


def test_the_reconstruction_is_near_the_vectors(planted):
    model = planted[3]
    gap = np.square(model.embedding_ - model.reconstruct()).sum() / np.square(model.embedding_).sum()
    assert gap < 0.5
    assert model.reconstruct().shape == model.embedding_.shape


def test_the_history_holds_every_part_of_the_loss_and_falls(planted):
    history = planted[3].learned_.history
    assert len(history) == 100
    assert set(history[0]) == {"agreement", "labels", "labels of f", "l2", "entropy"}
    assert sum(history[-1].values()) < sum(history[0].values())


def test_numbers_are_learned():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    numbers = np.where(np.arange(len(kind)) % 2, 100.0 + 10 * kind, np.nan)
    predicted = pine_with(epochs=150, dim=16, **FIXED).fit(graph, numbers).predict()
    assert np.corrcoef(predicted[::2], kind[::2])[0, 1] > 0.9
    assert abs(predicted.mean() - 110) < 3


def test_labels_on_one_type_of_a_typed_graph_are_learned_and_every_node_gets_a_vector():
    edges, kind = groups()
    words = [(int(v), f"w{kind[v]}{i}") for v in range(len(kind)) for i in range(3) if (v + i) % 2]
    graph = Graph.from_relations(
        {("doc", "links", "doc"): edges, ("doc", "has", "word"): words}, nodes={"doc": range(120)}
    )
    seen = {"doc": np.where(np.arange(120) % 2, kind, -1)}
    for by in ("type", "relation", "all"):
        model = pine_with(epochs=100, dim=16, groups=by, **FIXED).fit(graph, seen)
        assert {type: vectors.shape for type, vectors in model.embedding_.items()} == {
            "doc": (120, 16),
            "word": (9, 16),
        }
        assert (model.predict() == kind).mean() > 0.95


@pytest.mark.parametrize("lam", [10.0, (10.0, 5.0)])
def test_a_node_type_without_nodes_does_no_harm(lam):
    edges, kind = groups()
    graph = Graph.from_relations({("doc", "links", "doc"): edges}, nodes={"doc": range(len(kind)), "word": []})
    seen = {"doc": np.where(np.arange(len(kind)) % 2, kind, -1)}
    model = pine_with(epochs=30, dim=8, lam=lam, scaling="sqrt").fit(graph, seen)
    assert np.isfinite(model.embedding_["doc"]).all()
    assert model.embedding_["word"].shape == (0, 8)


def test_directed_graphs_have_two_groups():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)), directed=True)
    model = pine_with(epochs=60, dim=16, **FIXED).fit(graph, np.where(np.arange(len(kind)) % 2, kind, -1))
    assert model.learned_.group_names == ("node:out", "node:in")
    assert (model.predict() == kind).mean() > 0.85


def test_without_labels_x_is_the_structural_start_and_f_reproduces_it():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    model = pine_with(dim=8).fit(graph)
    np.testing.assert_array_equal(model.embedding_, METHODS["propagation"]().set_params(dim=8).fit(graph).embedding_)
    np.testing.assert_array_equal(model.embedding_, pine_with(dim=8, epochs=0).fit(graph, kind).embedding_)
    error = np.square(model.embedding_ - model.reconstruct()).mean()
    assert error < 0.7 * np.square(model.embedding_).mean()
    assert model.learned_.history == []
    with pytest.raises(InputError, match="was fitted without labels and cannot predict"):
        model.predict()
    with pytest.raises(InputError, match="without labels PINE gives its structural start; start='random' needs labels"):
        pine_with(start="random").fit(graph)


def test_without_training_theta_is_the_regression_on_the_start():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    model = pine_with(dim=8, epochs=0).fit(graph, np.where(np.arange(len(kind)) % 2, kind, -1))
    assert (model.predict() == kind).mean() > 0.9


def test_known_nodes_keep_their_vectors_bit_for_bit_and_new_ones_get_f_of_their_neighbors(planted):
    graph, kind, _, model = planted
    friends = np.flatnonzero(kind == 1)[:5]
    edges = np.vstack([groups()[0], [(1000, v) for v in friends]])
    larger = Graph.from_edges(edges, nodes=[1000, *range(len(kind)), 2000])
    vectors = model.transform(larger)
    np.testing.assert_array_equal(vectors[1:-1][::2], model.embedding_[::2])
    again = Graph.from_edges(
        np.vstack([groups()[0], [(1000, v) for v in friends[::-1]]]), nodes=[*range(len(kind)), 1000]
    )
    np.testing.assert_allclose(model.transform(again)[-1], vectors[0], atol=1e-6)
    assert model.predict(graph=larger)[0] == 1
    assert model.predict([1000, 3], graph=larger).tolist() == [1, model.predict(graph=larger)[4]]
    alone = model.transform(Graph.from_edges(groups()[0], nodes=[*range(len(kind)), 2000]))[-1]
    np.testing.assert_allclose(vectors[-1], alone, atol=1e-6)
    assert graph.num_nodes == len(kind)


def test_new_nodes_that_touch_each_other_settle(planted):
    _, kind, _, model = planted
    new = [(1000, 1001), (1001, 1002), (1000, 1), (1001, 4), (1002, 7)]
    larger = Graph.from_edges(np.vstack([groups()[0], new]), nodes=[*range(len(kind)), 1000, 1001, 1002])
    vectors = model.transform(larger)
    assert np.isfinite(vectors).all()
    once = model.transform(larger)
    np.testing.assert_array_equal(vectors, once)


def test_a_graph_without_a_known_node_or_of_another_kind_is_refused(planted):
    model = planted[3]
    with pytest.raises(InputError, match="shares no node"):
        model.transform(Graph.from_edges([("a", "b")]))
    with pytest.raises(InputError, match="trained on an undirected graph"):
        model.transform(Graph.from_edges([(0, 1)], directed=True))
    with pytest.raises(InputError, match="must have the node types 'node'"):
        model.transform(Graph.from_relations({("a", "r", "b"): [(0, 1)]}))


def test_the_most_similar_nodes_are_of_the_same_group(planted):
    _, kind, _, model = planted
    found = model.most_similar(4, k=5)
    assert len(found) == 5
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    assert np.mean([kind[node] == kind[4] for node, _ in found]) >= 0.8


def test_a_saved_model_transforms_and_predicts_as_before(planted, tmp_path):
    _, _, _, model = planted
    model.save(tmp_path / "run")
    loaded = PINE.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.reconstruct(), model.reconstruct())
    larger = Graph.from_edges(np.vstack([groups()[0], [(1000, 1), (1000, 2)]]))
    np.testing.assert_array_equal(loaded.transform(larger), model.transform(larger))
    np.testing.assert_array_equal(loaded.predict(graph=larger), model.predict(graph=larger))
    assert loaded.learned_.choice.lam == model.learned_.choice.lam


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("nodes", [300, 9_000])  # with the exact start, and more than one block of each loop
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(nodes, features):
    graph, kind = planted_classes(nodes, classes=3)
    if features:
        graph = graph.with_features(np.random.default_rng(0).random((nodes, 9), np.float32) + np.eye(9)[kind])
    seen = np.where(np.arange(nodes) % 2, kind, -1)
    before = torch.get_num_threads()
    models = [PINE(epochs=3, dim=8, threads=threads).fit(graph, seen) for threads in (1, 1, 3, None)]
    torch.set_num_threads(before + 1)  # as on a machine with more cores
    models.append(PINE(epochs=3, dim=8, threads=None).fit(graph, seen))
    torch.set_num_threads(before)
    for model in models[1:]:
        np.testing.assert_array_equal(model.embedding_, models[0].embedding_)
        np.testing.assert_array_equal(model.predict_proba(), models[0].predict_proba())
    assert torch.get_num_threads() == before


def test_fit_leaves_the_generators_and_the_default_type_of_torch_alone(planted):
    graph, _, seen, _ = planted
    state, kind = torch.get_rng_state(), torch.get_default_dtype()
    pine_with(epochs=5, dim=8, **FIXED).fit(graph, seen)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_default_dtype() == kind


def test_an_interrupted_fit_leaves_the_model_and_torch_as_they_were(planted):
    graph, _, seen, fitted = planted
    model = pine_with(epochs=3, dim=8, **FIXED).fit(graph, seen)
    vectors, proba, threads = model.embedding_.copy(), model.predict_proba().copy(), torch.get_num_threads()

    def interrupted(done, planned, what):
        raise KeyboardInterrupt

    fresh = pine_with(threads=threads + 1, epochs=3, dim=8, **FIXED)
    for each, start_from in ((model, None), (model, fitted), (fresh, None)):
        with pytest.raises(KeyboardInterrupt):
            each.set_params(dim=fitted.dim if start_from else 8).fit(
                graph, 2 - seen, start_from=start_from, progress=interrupted
            )
    np.testing.assert_array_equal(model.embedding_, vectors)
    np.testing.assert_array_equal(model.predict_proba(), proba)
    assert torch.get_num_threads() == threads
    with pytest.raises(InputError, match="is not fitted yet"):
        _ = fresh.embedding_


def test_progress_is_told_of_every_epoch_of_every_model_and_ends_where_it_was_planned(planted):
    graph, kind, _, _ = planted
    calls = []
    pine_with(epochs=3, dim=8).fit(graph, kind, progress=lambda *call: calls.append(call))
    done, planned, what = calls[-1]
    assert done == planned == 2 + 3  # half of the epochs for the choice, and the last training
    assert what == "PINE"
    assert [call[0] for call in calls] == sorted(call[0] for call in calls)


def test_training_that_diverges_says_so(planted):
    graph, _, seen, _ = planted
    with pytest.raises(InputError, match="training diverged in epoch"):
        pine_with(epochs=200, dim=8, learning_rate=1e30, embedding_lr=1e30, **FIXED).fit(graph, seen)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": 0}, "dim must be a whole number of at least 1, got 0"),
        ({"epochs": 2.5}, "epochs must be a whole number of at least 0 or none, got 2.5"),
        ({"epochs": True}, "epochs must be a whole number of at least 0 or none, got True"),
        ({"epochs": -1}, "epochs must be a whole number of at least 0 or none, got -1"),
        ({"threads": 0}, "threads must be a whole number of at least 1 or none, got 0"),
        ({"threads": "two"}, "threads must be a whole number of at least 1 or none, got 'two'"),
        ({"entropy": -1.0}, "entropy must be a number of at least 0, got -1.0"),
        ({"dropout": 1.0}, "dropout must be a number of at least 0 and below 1, got 1.0"),
        ({"lam": -1.0}, "lam must be a number above 0 or a tuple of numbers above 0 or none, got -1.0"),
        ({"lam": (1.0, 2.0)}, "lam must be one number or one for each of 'node'"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0, got 0.0"),
        ({"start": "warm"}, "start must be one of"),
        ({"device": "abacus"}, "device 'abacus' cannot be used here"),
        ({"scaling": "max"}, "scaling must be one of"),
    ],
)
def test_settings_out_of_range_are_refused_in_fit(planted, settings, message):
    graph, _, seen, _ = planted
    with pytest.raises(InputError, match=message):
        pine_with(**settings).fit(graph, seen)


def test_the_printed_method_runs_with_the_papers_numbers(planted):
    graph, _, seen, _ = planted
    model = PINE.paper(epochs=5, dim=8)
    f, training = model.function, model.training
    assert (training.start, training.dropout, training.entropy, training.supervise_f) == ("random", 0.0, 0.0, False)
    assert (training.weight_decay, training.balanced_decay) == (1e-3, False)
    assert (model.lam, f.hidden, f.projections, f.scales) == (0.005, 16, 32, 16)
    with pytest.warns(UserWarning, match="predictions collapsed"):
        assert np.isfinite(model.fit(graph, seen).embedding_).all()
    typed = PINE.paper(typed=True)
    f = typed.function
    assert (typed.lam, f.hidden, f.projections, f.scales) == ((0.2, 200.0), 8, 16, 8)


@pytest.mark.parametrize(
    "change",
    [
        {"dropout": 0.1}, {"entropy": 0.0}, {"supervise_f": False}, {"weight_decay": 0.5},
        {"learning_rate": 0.001}, {"embedding_lr": 0.05}, {"scaling": "sum"}, {"activation": "sigmoid"},
        {"heads": "separate"}, {"conditioned": False}, {"start": "random"}, {"lam": 0.1}, {"hidden": 5},
        {"projections": 3}, {"scales": 2}, {"epochs": 4}, {"seed": 1},
    ],
    ids=str,
)  # fmt: skip
def test_every_setting_of_training_reaches_it(change):
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    settings = {"epochs": 3, "dim": 4, "lam": 10.0, "threads": 1, "hidden": 8, "projections": 4, "scales": 3}
    seen = np.where(np.arange(len(kind)) % 2, kind, -1)
    usual = pine_with(**settings).fit(graph, seen).embedding_
    assert not np.array_equal(pine_with(**{**settings, **change}).fit(graph, seen).embedding_, usual)


def test_label_sets_have_a_decay_for_each_label_unless_told_otherwise():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    sets = np.column_stack([kind == 0, np.arange(len(kind)) < 3]).astype(int)
    settings = {"epochs": 3, "dim": 4, "lam": 10.0, "label_share": 0.0}
    found = [pine_with(**settings, balanced_decay=on).fit(graph, sets).embedding_ for on in (True, False)]
    assert not np.array_equal(*found)
    found = [pine_with(**settings, balanced_decay=on).fit(graph, kind).embedding_ for on in (True, False)]
    assert np.array_equal(*found)


def test_a_number_of_epochs_that_is_given_is_honored_on_graphs_of_any_size_and_none_is_automatic():
    settings = [Settings(epochs=None).num_epochs(count) for count in (10, 40_000, 80_000, 10**7)]
    assert settings == [150, 150, 75, 20]
    assert [Settings(epochs=777).num_epochs(count) for count in (10, 10**7)] == [777, 777]
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    model = pine_with(epochs=110, dim=8, hidden=8).fit(graph, np.where(np.arange(len(kind)) % 2, kind, -1))
    assert not np.isnan(model.learned_.choice.score)  # the share was chosen
    assert model.learned_.choice.epochs == len(model.learned_.history) == 110


def test_numbers_are_standardized_by_their_deviation():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    numbers = np.where(np.arange(len(kind)) % 2, kind.astype(float), np.nan)
    settings = {"epochs": 20, "dim": 8, **FIXED}
    one, scaled = (pine_with(**settings).fit(graph, each) for each in (numbers, 1000 * numbers + 7))
    known = numbers[~np.isnan(numbers)]
    assert (one.learned_.center, one.learned_.scale) == pytest.approx((known.mean(), known.std()))
    # In units of their deviation both are the same labels, so that the same vectors are learned.
    np.testing.assert_allclose(one.embedding_, scaled.embedding_, atol=1e-4)
    np.testing.assert_allclose(1000 * one.predict() + 7, scaled.predict(), rtol=1e-3, atol=0.5)


def test_predictions_are_the_mean_of_theta_on_x_and_on_f(planted):
    *_, model = planted
    learned = model.learned_

    def softmax(vectors):
        scores = np.exp(vectors @ learned.w.T + learned.b)
        return scores / scores.sum(axis=1, keepdims=True)

    expected = (softmax(model.embedding_) + softmax(model.reconstruct())) / 2
    np.testing.assert_allclose(model.predict_proba(), expected, atol=1e-5)
    assert np.abs(softmax(model.embedding_) - softmax(model.reconstruct())).max() > 0.01


def test_help_shows_at_most_a_dozen_settings_each_with_a_sentence():
    fields = [field.name for field in dataclasses.fields(PINE)]
    assert len(fields) <= 12
    for owner in (PINE, FunctionSettings, TrainingSettings):
        text = owner.__doc__ or ""
        for field in dataclasses.fields(owner):
            assert re.search(rf"^\s+(\w+, )*{field.name}(, \w+)*: \S", text, re.MULTILINE) or re.search(
                rf"\. {field.name}: \S", text
            ), field.name


def test_settings_inside_settings_objects_are_reached_by_scikit_learn_and_by_their_own_names():
    model = PINE().set_params(hidden=7, training__dropout=0.1)
    assert model.get_params()["function__hidden"] == model.function.hidden == 7
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(InputError, match="hidden must be a whole number of at least 1, got 0"):
        model.set_params(hidden=0)
    assert model.function.hidden == 7


def test_without_training_it_predicts_as_logistic_regression_on_its_start_does():
    data = pine.datasets.load("cora")
    seen = np.where(np.arange(2708) % 2, data.labels, -1)
    model = PINE(epochs=0, label_share=0.0, threads=1).fit(data.graph, seen)
    known = seen >= 0
    regression = LogisticRegression(C=1 / 8, tol=1e-6, max_iter=1000)  # 1 / (2 n decay), decay 4 / n
    expected = regression.fit(model.embedding_[known], seen[known]).predict_proba(model.embedding_)
    np.testing.assert_allclose(model.predict_proba(), expected, atol=0.02)
