"""A warm start: what carries over from an earlier run, what it saves, and which runs cannot be started from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support.graphs import graph_for
from support.models import pine_with

import pine
from pine import METHODS, Graph, InputError
from pine.evaluation.protocol import hide, split
from pine.labels import read_labels
from pine.model.settings import Settings
from pine.model.transform import fixed_point, has_neighbor_in
from pine.model.warm_start import Earlier, follow, warm_start

SMALL = {"threads": 1, "dim": 16, "hidden": 32, "projections": 8, "scales": 4}
FIXED = {"lam": 10.0, "label_share": 0.0}

kind = np.arange(120) % 3
chance = np.where(kind[:, None] == kind[None, :], 0.15, 0.0125)
EDGES = np.argwhere(np.triu(np.random.default_rng(0).random((120, 120)) < chance, 1))
NEW = [(1000, 1), (1000, 4), (1001, 1000), (1001, 7)]
GRAPH = Graph.from_edges(EDGES, nodes=range(120))
GROWN = Graph.from_edges(np.vstack([EDGES, NEW]), nodes=[1001, *range(120), 1000])
WORDS = np.array(["low", "mid", "top"])[kind]


def words(*which: str) -> dict[int, str]:
    """Labels of half of the nodes, those of some classes."""
    return {node: WORDS[node] for node in range(0, 120, 2) if WORDS[node] in which}


@pytest.fixture(scope="module")
def earlier():
    return pine_with(epochs=90, **SMALL, **FIXED).fit(GRAPH, words("mid", "top"))


def begun(run, graph=GRAPH, labels=None, center=0.0, scale=1.0, **settings):
    """What a fit would begin with."""
    given = Settings(**pine_with(**SMALL, **settings).get_params(deep=False))
    start = run.learned_.start if graph is GRAPH else np.zeros((graph.num_nodes, 16), np.float32)
    earlier = Earlier(run.learned_, run.labels_)
    known = None if labels is None else read_labels(graph, labels)
    return warm_start(given, earlier, graph, known, start, (center, scale))


def cosine(a, b):
    return float(np.mean((a * b).sum(1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1) + 1e-9)))


@pytest.mark.filterwarnings("ignore:vectors of nodes that are neighbors")
def test_on_a_grown_cora_a_third_of_the_epochs_reaches_a_full_fit_and_known_nodes_stay_near():
    data = pine.datasets.load("cora")
    graph, ids = data.graph, data.graph.ids()
    seen = hide(read_labels(graph, data.labels), split("cora", np.arange(2708), 0.3, 0).train, 2708)
    old = np.flatnonzero(np.random.default_rng(0).random(2708) >= 0.2)
    edges = np.argwhere(np.triu(graph.to_scipy().toarray()))
    smaller = Graph.from_edges(ids[edges[np.isin(edges, old).all(axis=1)]], nodes=ids[old])
    settings = SMALL | FIXED | {"dim": 32, "epochs": 150}
    before = pine_with(seed=1, **settings).fit(smaller, seen[old])
    full = pine_with(seed=2, **settings).fit(graph, seen)
    warm = pine_with(seed=2, **settings | {"epochs": None}).fit(graph, seen, start_from=before)
    assert 3 * len(warm.learned_.history) == len(full.learned_.history) == 150
    hidden = seen < 0
    of_full, of_warm, untrained = (
        float((predicted[hidden] == data.labels[hidden]).mean())
        for predicted in (full.predict(), warm.predict(), before.predict(graph=graph))
    )
    assert of_warm > of_full - 0.015
    assert of_warm > untrained + 0.01
    assert cosine(warm.embedding_[old], before.embedding_) > 0.85
    assert cosine(full.embedding_[old], before.embedding_) < 0.5


def test_on_the_same_graph_everything_begins_where_it_was(earlier):
    state = begun(earlier, labels=words("mid", "top")).state
    np.testing.assert_allclose(state.pop("x"), earlier.embedding_, atol=1e-6)
    np.testing.assert_array_equal(state.pop("w"), earlier.learned_.w)
    np.testing.assert_array_equal(state.pop("b"), earlier.learned_.b)
    assert state == earlier.learned_.parameters
    one = pine_with(epochs=1, embedding_lr=1e-6, learning_rate=1e-6, **SMALL).fit(
        GRAPH, words("mid", "top"), start_from=earlier
    )
    np.testing.assert_allclose(one.embedding_, earlier.embedding_, atol=1e-3)
    np.testing.assert_allclose(one.predict_proba(), earlier.predict_proba(), atol=1e-3)


def test_known_nodes_move_by_what_the_structure_says_and_new_ones_begin_where_it_puts_them():
    rng = np.random.default_rng(0)
    start, turn, own = (rng.standard_normal(shape).astype(np.float32) for shape in ((500, 5), (5, 5), (500, 5)))
    known, changed = np.arange(500) < 400, np.arange(500) < 10
    basis = np.linalg.qr(rng.standard_normal((5, 5)))[0]  # another start comes in another basis
    e = (start @ turn + 0.3 * own).astype(np.float32)
    same = follow(e, known, start, start @ basis)
    np.testing.assert_allclose(same[known], e[known], atol=1e-4)
    np.testing.assert_allclose(same[~known], (start @ turn)[~known], atol=0.2)
    moved = start + changed[:, None]
    after = follow(e, known, start, moved @ basis)
    assert np.abs(after - e)[known & ~changed].mean() < 0.1
    assert np.abs(after - e - turn.sum(axis=0))[changed].mean() < 0.2 * np.abs(turn.sum(axis=0)).mean()


@pytest.mark.filterwarnings("ignore:vectors of nodes that are neighbors")
def test_without_a_structural_start_known_nodes_begin_exactly_there_and_new_ones_as_transform_has_them():
    earlier = pine_with(epochs=20, start="random", **SMALL, **FIXED).fit(GRAPH, words("mid", "top"))
    state = begun(earlier, GROWN, start="random").state
    np.testing.assert_array_equal(state["x"], earlier.transform(GROWN))
    np.testing.assert_array_equal(state["x"][1:-1], earlier.embedding_)


def test_classes_are_matched_by_value_and_new_ones_begin_at_zero(earlier):
    state = begun(earlier, labels=words("low", "mid", "top")).state
    np.testing.assert_array_equal(state["w"][1:], earlier.learned_.w)
    np.testing.assert_array_equal(state["b"][:, 1:], earlier.learned_.b)
    assert not state["w"][0].any()
    assert not state["b"][0, 0]
    np.testing.assert_array_equal(begun(earlier, labels=words("top")).state["w"], earlier.learned_.w[1:])
    assert "w" not in begun(earlier, labels={0: {"mid", "top"}}).state
    assert "w" not in begun(earlier).state


def test_numbers_are_predicted_as_before_in_the_units_of_the_new_ones():
    numbers = np.where(np.arange(120) % 2, 100.0 + 10 * kind, np.nan)
    earlier = pine_with(epochs=30, **SMALL, **FIXED).fit(GRAPH, numbers)
    state = begun(earlier, labels=numbers, center=50.0, scale=4.0).state
    now = 50 + 4 * (earlier.embedding_ @ state["w"].T + state["b"])
    learned = earlier.learned_
    then = learned.center + learned.scale * (earlier.embedding_ @ learned.w.T + learned.b)
    np.testing.assert_allclose(now, then, rtol=1e-4)


def test_settings_chosen_before_are_kept_unless_the_model_fixes_them():
    earlier = pine_with(label_share=0.35, **SMALL).fit(GRAPH, words("low", "mid", "top"))
    chosen = earlier.learned_.choice
    assert chosen.score > 0
    assert chosen.label_share == 0.35
    assert begun(earlier).choice == chosen
    fixed = begun(earlier, lam=7.0).choice
    assert (fixed.lam, fixed.epochs) == ((7.0,), chosen.epochs)
    assert np.isnan(fixed.score)
    assert fixed.label_share == chosen.label_share
    assert begun(earlier, label_share=0.2).choice == replace(chosen, label_share=0.2)


def test_a_chain_of_warm_starts_trains_each_as_long_as_the_first(earlier):
    lengths = []
    for _ in range(3):
        earlier = pine_with(**SMALL).fit(GROWN, words("mid", "top"), start_from=earlier)
        lengths.append(len(earlier.learned_.history))
    assert lengths == [30, 30, 30]


def test_a_number_of_epochs_that_is_given_is_honored_at_a_warm_start_too(earlier):
    for epochs in (9, 70):
        model = pine_with(epochs=epochs, **SMALL).fit(GROWN, words("mid", "top"), start_from=earlier)
        assert len(model.learned_.history) == epochs


def test_a_folder_and_the_model_that_it_holds_are_the_same_start(earlier, tmp_path):
    earlier.save(tmp_path / "run")
    there, here = (
        pine_with(**SMALL).fit(GROWN, words("mid", "top"), start_from=run).embedding_
        for run in (tmp_path / "run", earlier)
    )
    np.testing.assert_array_equal(there, here)


def test_types_in_another_order_find_their_vectors_lambdas_and_functions():
    links, has = ("doc", "links", "doc"), ("doc", "has", "word")
    pairs = [(int(v), f"w{kind[v]}{i}") for v in range(120) for i in range(3) if (v + i) % 2]
    graph = Graph.from_relations({links: EDGES, has: pairs})
    turned = Graph.from_relations(
        {has: pairs, links: EDGES}, nodes={"word": graph.ids("word")[::-1], "doc": range(120)}
    )
    assert turned.node_types != graph.node_types
    labels = {"doc": {node: int(kind[node]) for node in range(0, 120, 2)}}
    settings = {**SMALL, "scaling": "sqrt"}
    earlier = pine_with(epochs=30, lam=(10.0, 5.0), **settings).fit(graph, labels)
    later = pine_with(epochs=1, embedding_lr=1e-6, learning_rate=1e-6, **settings).fit(
        turned, labels, start_from=earlier
    )
    assert later.learned_.choice.lam == (5.0, 10.0)
    np.testing.assert_allclose(later.embedding_["doc"], earlier.embedding_["doc"], atol=1e-3)
    np.testing.assert_allclose(later.embedding_["word"][::-1], earlier.embedding_["word"], atol=1e-3)
    np.testing.assert_allclose(later.reconstruct()["doc"], earlier.reconstruct()["doc"], atol=1e-3)


@pytest.mark.parametrize(
    ("settings", "graph", "message"),
    [
        ({"dim": 8}, GRAPH, "trained with dim=16, this model has dim=8"),
        ({"hidden": 8, "heads": "separate"}, GRAPH, "trained with hidden=32, heads='shared', this model has hidden=8"),
        ({}, Graph.from_edges(EDGES, directed=True), "was trained on an undirected graph"),
        ({}, Graph.from_relations({("a", "r", "b"): EDGES}), "must have the node types 'node'"),
        ({}, Graph.from_edges([("x", "y")]), "shares no node with the one that was trained on"),
    ],
)
def test_runs_that_are_unlike_are_refused_in_one_sentence(earlier, settings, graph, message):
    with pytest.raises(InputError, match=message):
        pine_with(**(SMALL | settings)).fit(graph, start_from=earlier)


def test_what_is_no_run_is_refused(earlier, tmp_path):
    with pytest.raises(InputError, match="takes a fitted PINE or the folder of a saved one, got int"):
        pine_with().fit(GRAPH, start_from=3)
    with pytest.raises(InputError, match="is not fitted yet"):
        pine_with().fit(GRAPH, start_from=pine_with())
    with pytest.raises(InputError, match="is not a saved run"):
        pine_with().fit(GRAPH, start_from=tmp_path)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "pine"])
def test_other_methods_say_that_they_cannot(name, earlier):
    with pytest.raises(InputError, match=f"{name} cannot start from an earlier run"):
        METHODS[name]().fit(graph_for(METHODS[name], GRAPH), words("mid", "top"), start_from=earlier)


def test_a_run_that_rested_and_is_trained_later_predicts_as_a_trained_one():
    rested = pine_with(epochs=0, **SMALL, **FIXED).fit(GRAPH, words("mid", "top"))
    trained = pine_with(epochs=30, **SMALL, **FIXED).fit(GRAPH, words("mid", "top"), start_from=rested)
    assert (rested.choice_["epochs"], trained.choice_["epochs"]) == (0, 30)


@pytest.mark.parametrize("slope", [0.5, -0.5])
def test_new_nodes_beside_each_other_end_where_f_leaves_them(slope):
    """Also where f swings around that place."""
    x = torch.tensor([[3.0, -1.0], [0.0, 0.0], [0.0, 0.0]])
    unseen = torch.tensor([False, True, True])

    def f(x):
        return torch.stack([x[0], x[0] + slope * x[2], 1 + slope * x[1]])

    made, converged = fixed_point(x, unseen, unseen, f)
    assert converged
    torch.testing.assert_close(made[0], x[0])
    torch.testing.assert_close(made[1], made[0] + slope * made[2], atol=2e-3, rtol=0)
    torch.testing.assert_close(made[2], 1 + slope * made[1], atol=2e-3, rtol=0)
    # The unit of the vectors does not matter.
    larger, _ = fixed_point(1024 * x, unseen, unseen, lambda x: 1024 * f(x / 1024))
    assert torch.equal(larger, 1024 * made)


def test_what_swings_nearly_for_ever_comes_to_rest_by_shorter_steps():
    x, unseen = torch.tensor([[1.0], [0.0], [0.0]]), torch.tensor([False, True, True])
    still = torch.tensor([[1.0], [1.0], [1.0]])
    made, converged = fixed_point(x, unseen, unseen, lambda x: still - 0.98 * (x - still))
    assert converged
    torch.testing.assert_close(made, still, atol=1e-3, rtol=0)


def test_nodes_beside_chosen_ones_are_found_by_their_rows():
    path = Graph.from_edges([(0, 1), (1, 2), (3, 4)]).adjacency()
    chosen = torch.tensor([True, False, False, False, True])
    assert has_neighbor_in(path, chosen).tolist() == [False, True, False, True, False]
