"""PINE: what it learns, for labels of every kind and for none, and what it gives to nodes that come later."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import pine
from pine import PINE, Graph, InputError
from pine.evaluation.protocol import hide, split
from pine.labels import read_labels
from pine.nn.losses import effective_rank

FIXED = {"lam": 10.0, "scaling": "sqrt"}


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
    return graph, kind, seen, PINE(epochs=100, dim=16, **FIXED).fit(graph, seen)


def test_on_cora_it_is_above_what_its_start_gives_and_near_label_propagation_with_one_setting():
    data = pine.datasets.load("cora")
    labels = read_labels(data.graph, data.labels)
    parts = split("cora", labels.known, 0.5, 0)
    model = PINE(epochs=200, **FIXED).fit(data.graph, hide(labels, parts.train, 2708))
    accuracy = (model.predict()[parts.test] == data.labels[parts.test]).mean()
    assert accuracy > 0.835


def test_settings_are_chosen_on_the_training_labels_and_remembered():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    model = PINE(epochs=100, dim=16).fit(graph, np.where(np.arange(len(kind)) % 2, kind, -1))
    choice = model.learned_.choice
    assert choice.epochs in (50, 100)
    assert choice.lam[0] in (7.5, 30.0)  # half of the labels are known
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
    predicted = PINE(epochs=150, dim=16, **FIXED).fit(graph, numbers).predict()
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
        model = PINE(epochs=100, dim=16, groups=by, **FIXED).fit(graph, seen)
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
    model = PINE(epochs=30, dim=8, lam=lam, scaling="mean").fit(graph, seen)
    assert np.isfinite(model.embedding_["doc"]).all()
    assert model.embedding_["word"].shape == (0, 8)


def test_directed_graphs_have_two_groups():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)), directed=True)
    model = PINE(epochs=60, dim=16, **FIXED).fit(graph, np.where(np.arange(len(kind)) % 2, kind, -1))
    assert model.learned_.group_names == ("node:out", "node:in")
    assert (model.predict() == kind).mean() > 0.85


def test_without_labels_vectors_do_not_collapse_and_without_the_guard_they_do():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    # From random vectors: a structural start is nearly a fixed point already, and falls too slowly to watch.
    settings = {
        "lam": 1.0,
        "scaling": "mean",
        "start": "random",
        "vector_rate": 0.02,
        "dropout": 0.0,
        "node_dropout": 0.0,
    }
    guarded = PINE(epochs=300, dim=8, **settings).fit(graph)
    loose = PINE(epochs=300, dim=8, guard=0.0, **settings).fit(graph)
    assert effective_rank(torch.tensor(guarded.embedding_)) > 7.5
    assert effective_rank(torch.tensor(loose.embedding_)) < 4
    spread = [float((model.embedding_ - model.embedding_.mean(0)).std()) for model in (guarded, loose)]
    assert spread[1] < 0.1 * 0.1 < 0.9 < spread[0]
    with pytest.raises(InputError, match="was fitted without labels and cannot predict"):
        guarded.predict()


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


def test_the_same_seed_gives_the_same_bits_and_another_number_of_threads_nearly_the_same():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    seen = np.where(np.arange(len(kind)) % 2, kind, -1)
    before = torch.get_num_threads()
    one, same, two = (PINE(epochs=80, dim=16, threads=t, **FIXED).fit(graph, seen).embedding_ for t in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    np.testing.assert_allclose(one, two, atol=1e-4)
    assert torch.get_num_threads() == before


def test_fit_leaves_the_generators_and_the_default_type_of_torch_alone(planted):
    graph, _, seen, _ = planted
    state, kind = torch.get_rng_state(), torch.get_default_dtype()
    PINE(epochs=5, dim=8, **FIXED).fit(graph, seen)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_default_dtype() == kind


def test_an_interrupted_fit_leaves_the_model_and_torch_as_they_were(planted, monkeypatch):
    graph, _, seen, fitted = planted
    model = PINE(epochs=3, dim=8, **FIXED).fit(graph, seen)
    vectors, proba, threads = model.embedding_.copy(), model.predict_proba().copy(), torch.get_num_threads()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pine.model.cross_validation.Work.done", interrupted)
    fresh = PINE(threads=threads + 1, epochs=3, dim=8, **FIXED)
    for each, start_from in ((model, None), (model, fitted), (fresh, None)):
        with pytest.raises(KeyboardInterrupt):
            each.set_params(dim=fitted.dim if start_from else 8).fit(graph, 2 - seen, start_from=start_from)
    np.testing.assert_array_equal(model.embedding_, vectors)
    np.testing.assert_array_equal(model.predict_proba(), proba)
    assert torch.get_num_threads() == threads
    with pytest.raises(InputError, match="is not fitted yet"):
        _ = fresh.embedding_


def test_the_work_that_progress_shows_is_the_work_that_is_done(planted, monkeypatch):
    graph, kind, _, _ = planted
    plans, done = [], []
    monkeypatch.setattr("pine.model.cross_validation.Work.plan", lambda self, epochs: plans.append(epochs))
    monkeypatch.setattr("pine.model.cross_validation.Work.done", lambda self, epochs: done.append(epochs))
    PINE(epochs=3, dim=8).fit(graph, kind)
    assert sum(plans) == sum(done) > 3


def test_training_that_diverges_says_so(planted):
    graph, _, seen, _ = planted
    with pytest.raises(InputError, match="training diverged in epoch"):
        PINE(epochs=200, dim=8, learning_rate=1e30, vector_rate=1e30, **FIXED).fit(graph, seen)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": 0}, "dim must be a whole number of at least 1, got 0"),
        ({"epochs": 2.5}, "epochs must be a whole number, got 2.5"),
        ({"epochs": True}, "epochs must be a whole number, got True"),
        ({"folds": -1}, "folds must be a whole number of at least 0, got -1"),
        ({"threads": 0}, "threads must be at least 1, or None for all cores, got 0"),
        ({"threads": "two"}, "threads must be a whole number or none, got 'two'"),
        ({"entropy": -1.0}, "entropy must not be negative, got -1.0"),
        ({"node_dropout": 1.0}, "node_dropout must be in"),
        ({"lam": -1.0}, "lam must be positive"),
        ({"lam": (1.0, 2.0)}, "lam must be one number or one for each of 'node'"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"start": "warm"}, "start must be one of"),
        ({"device": "abacus"}, "device 'abacus' cannot be used here"),
        ({"scaling": "max"}, "scaling must be one of"),
    ],
)
def test_settings_out_of_range_are_refused_in_fit(planted, settings, message):
    graph, _, seen, _ = planted
    with pytest.raises(InputError, match=message):
        PINE(**settings).fit(graph, seen)


def test_the_printed_method_runs_with_the_papers_numbers(planted):
    graph, _, seen, _ = planted
    model = PINE.paper(epochs=5, dim=8)
    assert (model.lam, model.weight_decay, model.hidden, model.projections, model.scales) == (0.005, 1e-3, 16, 32, 16)
    assert np.isfinite(model.fit(graph, seen).embedding_).all()
    typed = PINE.paper(typed=True)
    assert (typed.lam, typed.hidden, typed.projections, typed.scales) == ((0.2, 200.0), 8, 16, 8)


@pytest.mark.parametrize(
    "change",
    [
        {"dropout": 0.1}, {"node_dropout": 0.6}, {"entropy": 0.0}, {"supervise_f": False}, {"weight_decay": 0.5},
        {"learning_rate": 0.001}, {"vector_rate": 0.05}, {"scaling": "mean"}, {"activation": "sigmoid"},
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
    usual = PINE(**settings).fit(graph, seen).embedding_
    assert not np.array_equal(PINE(**{**settings, **change}).fit(graph, seen).embedding_, usual)


def test_without_labels_x_stays_at_its_structural_start_until_f_has_learned():
    edges, kind = groups()
    graph = Graph.from_edges(edges, nodes=range(len(kind)))
    settings = {"dim": 4, "hidden": 8, "vector_rate": 0.5, "threads": 1}
    moved = []
    for epochs in (1, 2, 4):
        learned = PINE(epochs=epochs, **settings).fit(graph).learned_
        moved.append(float(np.abs(learned.x - learned.start).max()))
    # One step of Adam moves an entry by the rate at most; half of the epochs pass before the first.
    assert moved[0] == pytest.approx(0.5, rel=0.01)
    assert 0 < moved[1] <= 0.51
    assert moved[2] <= 1.02
