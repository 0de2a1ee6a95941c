"""Features: what they add to a vector, that they are learned from, and that they carry over to other graphs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from support.models import pine_with

from pine import PINE, Graph, InputError
from pine.labels import read_labels
from pine.model.features import FeatureColumns, FeatureProjection
from pine.model.settings import Settings
from pine.model.warm_start import Earlier, warm_start

SMALL = {
    "threads": 1,
    "dim": 16,
    "hidden": 16,
    "projections": 4,
    "scales": 4,
    "lam": 10.0,
    "label_share": 0.0,
    "scaling": "sqrt",
}
CPU = torch.device("cpu")


def told_apart(seed: int, names: str = "{}", count: int = 150) -> tuple[Graph, np.ndarray]:
    """A graph whose edges say nothing and whose nodes have words of their own class, some of them wrong."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=count)
    words = (rng.random((count, 30)) < np.where(np.arange(30) % 3 == kind[:, None], 0.4, 0.1)).astype(np.float32)
    ids = [names.format(i) for i in range(count)]
    edges = [(ids[a], ids[b]) for a, b in rng.integers(count, size=(2 * count, 2))]
    return Graph.from_edges(edges, nodes=ids, features=sp.csr_array(words)), kind


GRAPH, KIND = told_apart(0)
SEEN = np.where(np.arange(150) % 2, KIND, -1)


@pytest.fixture(scope="module")
def trained():
    return pine_with(epochs=100, features=True, **SMALL).fit(GRAPH, SEEN)


def projection(given) -> FeatureProjection:
    made = FeatureProjection([FeatureColumns.of(slice(2, 6), given, CPU, None)], 7, 3, CPU, dropout=0.5)
    with torch.no_grad():
        made.A[0].copy_(torch.randn(made.A[0].shape, generator=torch.Generator().manual_seed(0)))
    return made.eval()


GIVEN = np.random.default_rng(0).poisson(0.7, (4, 6)).astype(np.float32)


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_the_share_of_features_is_the_formula_and_zero_where_a_type_has_none(form):
    made = projection(form(GIVEN))
    centered = GIVEN - GIVEN.mean(axis=0)
    length = np.sqrt(np.square(centered).sum(axis=1).mean())
    expected = np.zeros((7, 3), np.float32)
    expected[2:6] = centered / length @ made.A[0].detach().numpy()
    np.testing.assert_allclose(made().detach(), expected, atol=1e-5)


def test_sparse_and_dense_features_have_the_same_gradients():
    gradients = []
    for form in (np.array, sp.csr_array):
        made = projection(form(GIVEN))
        (made() * torch.arange(21).reshape(7, 3)).sum().backward()
        gradients.append(made.A[0].grad)
    torch.testing.assert_close(*gradients)


def test_neither_a_unit_nor_a_level_of_the_features_matters_and_constant_ones_say_nothing():
    torch.testing.assert_close(projection(GIVEN)(), projection(GIVEN * 1000 + 50)(), atol=1e-4, rtol=1e-4)
    assert not projection(np.full((4, 6), 0.1, np.float32))().abs().gt(1e-5).any()


def test_in_training_columns_are_left_out_for_all_nodes_at_once_and_the_mean_stays():
    made = projection(GIVEN).train()
    generator = torch.Generator().manual_seed(0)
    drawn = torch.stack([made(generator) for _ in range(2000)]).detach()
    np.testing.assert_allclose(drawn.mean(0), made.eval()().detach(), atol=0.05)
    assert drawn.std(0)[2:6].min() > 0.05


def test_features_are_learned_from_where_edges_say_nothing(trained):
    without = pine_with(epochs=100, **SMALL).fit(GRAPH, SEEN)
    hidden = SEEN < 0
    assert (trained.predict()[hidden] == KIND[hidden]).mean() > 0.75
    assert (without.predict()[hidden] == KIND[hidden]).mean() < 0.6


def test_sparse_and_dense_features_are_learned_alike(trained):
    dense = GRAPH.with_features({"node": GRAPH.features["node"].toarray()})
    model = pine_with(epochs=100, features=True, **SMALL).fit(dense, SEEN)
    assert (model.predict() == trained.predict()).mean() > 0.95


@pytest.mark.filterwarnings("ignore:vectors of nodes that are neighbors")
def test_a_graph_that_shares_no_node_with_the_training_graph_is_transformed_and_predicted(trained):
    other, kind = told_apart(1, "other {}")
    vectors = trained.transform(other)
    assert vectors.shape == (150, 16)
    assert (trained.predict(graph=other) == kind).mean() > 0.75
    with pytest.raises(InputError, match=r"shares no node.*PINE\(features=True\)"):
        pine_with(epochs=2, **SMALL).fit(GRAPH, SEEN).transform(other)


def test_known_nodes_keep_their_vectors_and_a_new_one_is_f_of_its_neighbors_and_what_its_features_add(trained):
    new = np.zeros((2, 30), np.float32)
    new[1, 4] = 1
    pairs = [tuple(row) for row in np.argwhere(np.triu(GRAPH.to_scipy().toarray())).astype(str)]
    larger = Graph.from_edges(
        pairs, nodes=[*GRAPH.ids(), "x", "y"], features=sp.vstack([GRAPH.features["node"], new]).tocsr()
    )
    vectors = trained.transform(larger)
    np.testing.assert_array_equal(vectors[:150], trained.embedding_)
    parameters = trained.learned_.parameters_of("features")
    np.testing.assert_allclose(
        vectors[151] - vectors[150], (parameters["A.0"][4] / parameters["scale.0"].item()).numpy(), atol=1e-5
    )


@pytest.mark.filterwarnings("ignore:vectors of nodes that are neighbors")
def test_a_saved_model_keeps_what_it_learned_of_features(trained, tmp_path):
    trained.save(tmp_path / "run")
    loaded = PINE.load(tmp_path / "run")
    other, _ = told_apart(1, "other {}")
    np.testing.assert_array_equal(loaded.transform(other), trained.transform(other))
    np.testing.assert_array_equal(loaded.reconstruct(), trained.reconstruct())


def test_a_warm_start_begins_with_the_same_vectors_and_features(trained):
    settings = Settings(**pine_with(features=True, **SMALL).get_params(deep=False))
    earlier = Earlier(trained.learned_, trained.labels_)
    warm = warm_start(settings, earlier, GRAPH, read_labels(GRAPH, SEEN), trained.learned_.start, (0.0, 1.0))
    one = pine_with(epochs=1, features=True, **SMALL | {"lam": None}, learning_rate=1e-6, embedding_lr=1e-6)
    one.fit(GRAPH, SEEN, start_from=trained)
    np.testing.assert_allclose(one.embedding_, trained.embedding_, atol=1e-3)
    np.testing.assert_allclose(one.reconstruct(), trained.reconstruct(), atol=1e-3)
    assert "features.center.0" in warm.state
    with pytest.raises(InputError, match="trained with features=True, this model has features=False"):
        pine_with(**SMALL).fit(GRAPH, SEEN, start_from=trained)


def test_settings_are_chosen_with_features_and_types_without_them_have_vectors_too():
    has = [(node, f"w{i}") for i, node in enumerate(GRAPH.ids())]
    links = [tuple(row) for row in np.argwhere(np.triu(GRAPH.to_scipy().toarray())).astype(str)]
    relations = {("doc", "links", "doc"): links, ("doc", "has", "word"): has}
    features = {"doc": GRAPH.features["node"]}
    graph = Graph.from_relations(relations, nodes={"doc": GRAPH.ids()}, features=features)
    free = {key: value for key, value in SMALL.items() if key not in ("lam", "label_share", "scaling")}
    model = pine_with(epochs=100, features=True, **free).fit(graph, {"doc": SEEN})
    assert model.learned_.choice.score > 0.4  # of three classes, on 15 held-out labels
    assert model.learned_.feature_types == ("doc",)
    assert model.embedding_["word"].shape == (150, 16)
    np.testing.assert_array_equal(model.transform(graph)["word"], model.embedding_["word"])


def test_graphs_without_the_features_are_refused_in_one_sentence(trained):
    bare = GRAPH.with_features({})
    with pytest.raises(InputError, match="features=True needs node features"):
        pine_with(features=True).fit(bare)
    with pytest.raises(InputError, match="feature_dropout must be a number of at least 0 and below 1, got 1"):
        pine_with(features=True, feature_dropout=1).fit(GRAPH)
    with pytest.raises(InputError, match="trained with 30 features of nodes of type 'node', this graph has 0"):
        trained.transform(bare)
    with pytest.raises(InputError, match="trained with 30 features of nodes of type 'node', this graph has 2"):
        trained.predict(graph=GRAPH.with_features({"node": np.zeros((150, 2))}))
