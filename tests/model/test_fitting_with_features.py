"""Fits of graphs with features: what is chosen, what carries over to other graphs, and what does no harm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from support.models import pine_with

from pine import PINE, Graph, InputError
from pine.model import feature_training, training
from pine.model.blend import STRUCTURE
from pine.model.feature_training import FeatureTrainer
from pine.model.weighing import Weighing

SMALL = {"threads": 1, "dim": 16, "hidden": 16, "projections": 4, "scales": 4}
COUNT = 240


def papers(seed: int, *, cited: bool, names: str = "{}") -> tuple[Graph, np.ndarray]:
    """Nodes with words of their own class, some of them wrong; edges stay within a class, or say nothing."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=COUNT)
    words = (rng.random((COUNT, 30)) < np.where(np.arange(30) % 3 == kind[:, None], 0.35, 0.15)).astype(np.float32)
    pairs = rng.integers(COUNT, size=(4 * COUNT, 2))
    if cited:
        pairs = pairs[(kind[pairs[:, 0]] == kind[pairs[:, 1]]) | (rng.random(len(pairs)) < 0.1)]
    ids = [names.format(i) for i in range(COUNT)]
    edges = [(ids[a], ids[b]) for a, b in pairs]
    return Graph.from_edges(edges, nodes=ids, features=sp.csr_array(words)), kind


CITED, KIND = papers(0, cited=True)
MIXED_UP, MIXED_KIND = papers(0, cited=False)
SHOWN = np.arange(COUNT) % 2 == 1


def shown(kind: np.ndarray) -> np.ndarray:
    return np.where(SHOWN, kind, -1)


def accuracy(model: Any, kind: np.ndarray) -> float:
    return float((model.predict()[~SHOWN] == kind[~SHOWN]).mean())


@pytest.fixture(scope="module")
def cited() -> PINE:
    return pine_with(**SMALL).fit(CITED, shown(KIND))


@pytest.fixture(scope="module")
def mixed_up() -> PINE:
    return pine_with(**SMALL).fit(MIXED_UP, shown(MIXED_KIND))


def test_where_edges_say_something_features_are_carried_along_them(cited):
    words = CITED.features["node"].toarray()
    alone = LogisticRegression().fit(words[SHOWN], KIND[SHOWN]).score(words[~SHOWN], KIND[~SHOWN])
    without = pine_with(features=False, **SMALL).fit(CITED, shown(KIND))
    assert cited.learned_.choice.weights[1] > 0
    assert accuracy(cited, KIND) > max(alone, accuracy(without, KIND)) + 0.02


def test_where_edges_say_nothing_own_features_are_as_good_as_logistic_regression_on_them(mixed_up):
    words = MIXED_UP.features["node"].toarray()
    alone = LogisticRegression().fit(words[SHOWN], MIXED_KIND[SHOWN]).score(words[~SHOWN], MIXED_KIND[~SHOWN])
    assert mixed_up.learned_.choice.weights[2] >= 0.75
    assert accuracy(mixed_up, MIXED_KIND) > alone - 0.03


def test_features_that_say_nothing_leave_the_fit_as_it_is_without_them_bit_by_bit():
    useless = CITED.with_features(np.random.default_rng(9).normal(size=(COUNT, 20)))
    model = pine_with(epochs=60, **SMALL).fit(useless, shown(KIND))
    without = pine_with(epochs=60, features=False, **SMALL).fit(useless, shown(KIND))
    assert model.learned_.choice == without.learned_.choice
    assert model.learned_.choice.weights == STRUCTURE
    assert model.learned_.feature_history == []
    np.testing.assert_array_equal(model.embedding_, without.embedding_)
    np.testing.assert_array_equal(model.predict_proba(), without.predict_proba())


def test_features_are_used_where_there_are_some_and_muted_by_false():
    muted = pine_with(features=False, epochs=5, **SMALL).fit(CITED, shown(KIND))
    bare = pine_with(epochs=5, **SMALL).fit(CITED.with_features({}), shown(KIND))
    np.testing.assert_array_equal(muted.embedding_, bare.embedding_)
    assert PINE.paper().features is False
    with pytest.raises(InputError, match="features=True needs node features"):
        pine_with(features=True).fit(CITED.with_features({}))


def test_the_same_seed_gives_the_same_bits(cited):
    again = pine_with(**SMALL).fit(CITED, shown(KIND))
    np.testing.assert_array_equal(again.embedding_, cited.embedding_)
    np.testing.assert_array_equal(again.predict_proba(), cited.predict_proba())


def test_the_order_of_nodes_is_none_of_the_model_s_business(cited):
    order = np.random.default_rng(1).permutation(COUNT)
    ids = np.asarray(CITED.ids())
    rows, columns = np.nonzero(np.triu(CITED.to_scipy().toarray()))
    shuffled = Graph.from_edges(
        np.stack([ids[rows], ids[columns]], axis=1), nodes=ids[order], features=CITED.features["node"][order]
    )
    model = pine_with(**SMALL).fit(shuffled, shown(KIND)[order])
    assert (model.predict(ids) == cited.predict()).mean() > 0.9


def test_sparse_and_dense_features_are_learned_alike(cited):
    dense = CITED.with_features(CITED.features["node"].toarray())
    assert (pine_with(**SMALL).fit(dense, shown(KIND)).predict() == cited.predict()).mean() > 0.97


def test_a_graph_that_shares_no_node_with_the_training_graph_is_transformed_and_predicted(cited):
    other, kind = papers(1, cited=True, names="other {}")
    assert cited.transform(other).shape == (COUNT, 16)
    assert (cited.predict(graph=other) == kind).mean() > 0.75
    without = pine_with(epochs=2, features=False, **SMALL).fit(CITED, shown(KIND))
    with pytest.raises(InputError, match="shares no node with the one that was trained on"):
        without.transform(other)


def grown(features: np.ndarray) -> Graph:
    """The cited papers, and new ones without an edge."""
    rows, columns = np.nonzero(np.triu(CITED.to_scipy().toarray()))
    ids = np.asarray(CITED.ids())
    both = sp.vstack([CITED.features["node"], sp.csr_array(features)]).tocsr()
    new = [f"new {i}" for i in range(len(features))]
    return Graph.from_edges(np.stack([ids[rows], ids[columns]], axis=1), nodes=[*ids, *new], features=both)


def test_features_that_say_less_than_edges_speak_for_what_structure_does_not_reach(monkeypatch, tmp_path):
    monkeypatch.setattr(Weighing, "chosen", lambda self: self._best([STRUCTURE], self.shares))
    alone, kind = papers(5, cited=False)
    larger, labels = grown(alone.features["node"].toarray()), np.append(shown(KIND), np.full(COUNT, -1))
    model = pine_with(epochs=60, **SMALL).fit(larger, labels)
    assert model.learned_.choice.weights == STRUCTURE
    assert model.learned_.choice.stand_in is not None
    muted = pine_with(epochs=60, features=False, **SMALL).fit(larger, labels)
    np.testing.assert_array_equal(model.embedding_, muted.embedding_)
    reached = larger.links().degrees() > 0
    np.testing.assert_array_equal(model.predict_proba()[reached], muted.predict_proba()[reached])
    assert (model.predict()[COUNT:] == kind).mean() > 0.6 > (muted.predict()[COUNT:] == kind).mean()
    model.save(tmp_path / "run")
    other, kind = papers(1, cited=True, names="other {}")
    for each in (model, PINE.load(tmp_path / "run")):
        assert (each.predict(graph=other) == kind).mean() > 0.6
        with pytest.raises(InputError, match="shares no node with the one that was trained on"):
            each.transform(other)  # its vectors are of structure alone


def test_known_nodes_keep_their_vectors_and_new_ones_without_edges_are_told_by_their_own_features(cited):
    other, kind = papers(5, cited=False)
    words = other.features["node"].toarray()
    larger = grown(words)
    vectors = cited.transform(larger)
    np.testing.assert_array_equal(vectors[:COUNT], cited.embedding_)
    known = CITED.features["node"].toarray()
    regression = LogisticRegression().fit(known[SHOWN], KIND[SHOWN]).score(words, kind)
    found = cited.predict([f"new {i}" for i in range(COUNT)], graph=larger)
    assert (found == kind).mean() > regression - 0.02


def test_nodes_whose_features_are_unknown_are_predicted_by_what_surrounds_them(cited):
    known = np.arange(COUNT) % 4 != 0
    values = CITED.features["node"].toarray()
    values[~known] = np.nan
    right = []
    for seed in range(4):  # of 60 nodes, one fit says little
        model = pine_with(**(SMALL | {"seed": seed})).fit(CITED.with_features(values, mask=known), shown(KIND))
        assert model.learned_.choice.uses_structure
        right.append((model.predict()[~known] == KIND[~known]).mean())
    assert np.mean(right) > 0.85


@pytest.mark.parametrize("kind", ["features", "both", "none"])
def test_a_saved_model_keeps_what_it_learned(kind, cited, tmp_path):
    model = cited
    if kind == "none":
        model = pine_with(**SMALL).fit(CITED)
    if kind == "both":
        model = pine_with(**SMALL).fit(CITED, np.where(SHOWN, KIND.astype(float), np.nan), task="numbers")
    model.save(tmp_path / "run")
    loaded = PINE.load(tmp_path / "run")
    larger = grown(np.eye(30)[:3])
    np.testing.assert_array_equal(loaded.transform(larger), model.transform(larger))
    np.testing.assert_array_equal(loaded.reconstruct(), model.reconstruct())
    if kind != "none":
        np.testing.assert_array_equal(loaded.predict(graph=larger), model.predict(graph=larger))


def test_without_labels_the_vectors_tell_of_features_and_of_structure():
    for graph, kind in ((CITED, KIND), (MIXED_UP, MIXED_KIND)):
        model = pine_with(**SMALL).fit(graph)
        vectors = model.embedding_
        assert vectors.shape == (COUNT, 16)
        assert model.learned_.features is not None
        assert (len(model.learned_.features.w), model.learned_.features.b.size) == (0, 0), "nothing is predicted"
        score = LogisticRegression(max_iter=1000).fit(vectors[SHOWN], kind[SHOWN]).score(vectors[~SHOWN], kind[~SHOWN])
        assert score > 0.6  # of three classes; by structure alone the second has a third
        np.testing.assert_array_equal(model.transform(graph), vectors)


def test_a_warm_start_goes_on_from_what_was_learned_of_features(cited):
    warm = pine_with(**SMALL).fit(CITED, shown(KIND), start_from=cited)
    assert warm.learned_.choice == cited.learned_.choice
    assert accuracy(warm, KIND) > accuracy(cited, KIND) - 0.03
    with_lambda = pine_with(lam=5.0, epochs=1, **SMALL).fit(CITED, shown(KIND), start_from=cited)
    assert with_lambda.learned_.choice.weights == cited.learned_.choice.weights
    still = pine_with(epochs=0, **SMALL).fit(CITED, shown(KIND))
    assert still.learned_.features is None
    with pytest.raises(InputError, match="learned from features of the types 'node', this model would learn from"):
        pine_with(features=False, **SMALL).fit(CITED, shown(KIND), start_from=cited)


def test_types_without_features_have_vectors_too_and_each_type_has_its_own_map():
    rows, columns = np.nonzero(np.triu(CITED.to_scipy().toarray()))
    ids = np.asarray(CITED.ids())
    relations = {
        ("paper", "cites", "paper"): np.stack([ids[rows], ids[columns]], axis=1),
        ("author", "writes", "paper"): [
            (f"a{k if i // 2 % 4 else i // 7 % 3}{i % 5}", ids[i]) for i, k in enumerate(KIND)
        ],
        ("paper", "at", "venue"): [(each, f"v{i % 7}") for i, each in enumerate(ids)],
    }
    features = {"paper": CITED.features["node"], "venue": np.random.default_rng(0).normal(size=(7, 3))}
    graph = Graph.from_relations(relations, nodes={"paper": ids}, features=features)
    model = pine_with(**SMALL).fit(graph, {"paper": shown(KIND)})
    assert model.learned_.features is not None
    assert model.learned_.features.widths == {"paper": 30, "venue": 3}
    assert {type: len(each) for type, each in model.embedding_.items()} == {"author": 15, "paper": COUNT, "venue": 7}
    assert accuracy(model, KIND) > 0.85
    transformed = model.transform(graph)
    for type, vectors in model.embedding_.items():
        np.testing.assert_array_equal(transformed[type], vectors)


@pytest.mark.parametrize("task", ["label-sets", "numbers"])
def test_label_sets_and_numbers_are_learned_from_features_too(task):
    values = np.stack([KIND == 0, KIND > 0], axis=1).astype(float) if task == "label-sets" else 10.0 * KIND
    labels = np.where(SHOWN[:, None] if values.ndim == 2 else SHOWN, values, -1 if values.ndim == 2 else np.nan)
    model = pine_with(**SMALL).fit(CITED, labels, task=task)
    found = model.predict()[~SHOWN]
    if task == "numbers":
        assert np.square(found - values[~SHOWN]).mean() < 0.4 * values.var()
    else:
        assert (found == values[~SHOWN]).mean() > 0.9


def test_too_few_labels_to_choose_with_leave_it_to_the_carried_features():
    few = np.full(COUNT, -1)
    few[np.unique(KIND, return_index=True)[1]] = [0, 1, 2]
    model = pine_with(**SMALL).fit(CITED, few)
    assert model.learned_.choice.weights == (0.0, 1.0, 0.0)


def test_validation_labels_choose_and_are_not_learned_from():
    held = np.arange(COUNT) % 4 == 1
    known = shown(KIND)
    model = pine_with(**SMALL).fit(CITED, known, validation=held)
    wrong = np.where(held, (KIND + 1) % 3, known)
    misled = pine_with(label_share=0.0, **SMALL).fit(CITED, wrong, validation=held)
    learned, again = model.learned_, misled.learned_
    # Wrong validation labels may change the choice, and nothing else: the labels that are learned from are the same.
    assert accuracy(model, KIND) > 0.75
    assert (misled.predict()[held] == KIND[held]).mean() > 0.5
    assert model.labels_ is not None
    assert set(model.labels_.known.tolist()) == set(np.flatnonzero(SHOWN & ~held).tolist())
    assert learned.choice.score > again.choice.score


def test_graphs_without_the_features_are_refused_in_one_sentence(cited):
    bare = CITED.with_features({})
    with pytest.raises(InputError, match="trained with 30 features of nodes of type 'node', this graph has 0"):
        cited.transform(bare)
    with pytest.raises(InputError, match="trained with 30 features of nodes of type 'node', this graph has 2"):
        cited.predict(graph=CITED.with_features({"node": np.zeros((COUNT, 2))}))


def test_a_warm_start_of_given_epochs_honors_them_and_none_leave_everything_as_it_was(cited):
    counted: list[int] = []
    pine_with(epochs=7, **SMALL).fit(
        CITED, shown(KIND), start_from=cited, progress=lambda done, *_: counted.append(done)
    )
    trains_structure = cited.learned_.choice.weights[0] > 0
    assert max(counted) == 7 * (1 + trains_structure)
    still = pine_with(epochs=0, **SMALL).fit(CITED, shown(KIND), start_from=cited)
    np.testing.assert_allclose(still.predict_proba(), cited.predict_proba(), atol=1e-3)
    other, _ = papers(1, cited=True, names="other {}")
    np.testing.assert_allclose(still.transform(other), cited.transform(other), atol=1e-3)


def test_own_features_listen_to_neighbors_that_say_more_than_they_do(monkeypatch):
    heard = []

    def train(self, stage, seen, epochs, *, agreement, **others):
        heard.append((stage, agreement))
        return original(self, stage, seen, epochs, agreement=agreement, **others)

    original = FeatureTrainer.train
    monkeypatch.setattr(FeatureTrainer, "train", train)
    for graph, kind in ((CITED, KIND), (MIXED_UP, MIXED_KIND)):
        heard.clear()
        weights = pine_with(**SMALL).fit(graph, shown(kind)).learned_.choice.weights
        *choices, (stage, agreement) = heard
        assert stage == "features"
        assert agreement == (weights[1] >= weights[2]) == (graph is CITED)
        assert [each for _, each in choices] == [
            False,
            False,
        ]  # what they are worth shows when they learn by themselves


def test_the_fewer_epochs_the_faster_features_are_learned_but_not_where_they_are_learned_already(monkeypatch):
    seen: list[Any] = []

    def train(objective, schedule, *given, **more):
        seen.append(schedule)
        return original(objective, schedule, *given, **more)

    original = training.train
    monkeypatch.setattr(feature_training, "train", train)
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], features=np.eye(4))
    for epochs in (10, 75, 150, 200):
        first = PINE(dim=4, threads=1, epochs=epochs).fit(graph, [0, 1, -1, -1])
    PINE(dim=4, threads=1, epochs=10).fit(graph, [0, 1, -1, -1], start_from=first)
    assert [each.learning_rate for each in seen] == pytest.approx([0.06, 0.04, 0.02, 0.02, 0.02])
    assert [each.theta_is_new for each in seen] == [True] * 4 + [False]


def test_features_are_carried_along_six_edges():
    path = Graph.from_edges([(k, k + 1) for k in range(11)], features=np.eye(12)[:, :1])
    learned = PINE(dim=4, threads=1).fit(path).learned_.features
    assert learned is not None
    assert learned.vectors[:, :2].any(axis=1).tolist() == [k <= 6 for k in range(12)]
