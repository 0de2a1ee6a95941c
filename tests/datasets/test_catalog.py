"""Every data set has the counts that its source, the paper and the catalog state."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from pine.datasets import CATALOG, load
from pine.datasets.dblp import STOP_WORDS
from pine.graph import NODE

# name: files, nodes, listed edges, listed loops, simple undirected edges, isolated nodes, classes, unlabeled nodes
PLAIN: dict[str, tuple[tuple[str, ...], int, int, int, int, int, int, int]] = {
    "citeseer": (("citeseer.npz",), 3312, 4732, 124, 4551, 48, 6, 0),
    "wikipedia": (("wiki.npz",), 2405, 17981, 1996, 11596, 42, 17, 0),
    "email-eu": (("email-eu-core.npz",), 1005, 25571, 642, 16064, 19, 42, 0),
    "pubmed": (("pubmed.npz", "pubmed-features.npz"), 19717, 88676, 6, 44324, 0, 3, 0),
    "ppi": (("ppi.npz", "ppi-features.npz"), 56944, 818716, 25084, 793632, 256, 121, 0),
    "blogcatalog-10312": (("blogcatalog-10312.npz",), 10312, 333983, 0, 333983, 0, 39, 0),
    "cora-planetoid": (("cora-planetoid.npz", "cora-planetoid-features.npz"), 2708, 10858, 0, 5278, 0, 7, 0),
    "citeseer-planetoid": (
        ("citeseer-planetoid.npz", "citeseer-planetoid-features.npz"), 3327, 9464, 248, 4552, 48, 6, 15,
    ),
    "facebook-pages": (("facebook-pages.npz",), 22470, 171002, 179, 170823, 0, 4, 0),
    "chameleon": (("chameleon.npz",), 2277, 36101, 50, 31371, 0, 0, 0),
    "airports-brazil": (("airports-brazil.npz",), 131, 1074, 71, 1003, 0, 4, 0),
    "airports-europe": (("airports-europe.npz",), 399, 5995, 2, 5993, 0, 4, 0),
    "airports-usa": (("airports-usa.npz",), 1190, 13599, 0, 13599, 0, 4, 0),
    "pos": (("pos.npz",), 4777, 92517, 222, 92295, 0, 40, 0),
    "ppi-node2vec": (("ppi-node2vec.npz",), 3890, 76584, 894, 37845, 30, 50, 0),
    "github": (("github.npz",), 37700, 289003, 0, 289003, 0, 2, 0),
    "lastfm-asia": (("lastfm-asia.npz",), 7624, 27806, 0, 27806, 0, 18, 0),
    "actor": (("actor.npz", "actor-features.npz"), 7600, 33391, 122, 26659, 0, 5, 0),
    "tolokers": (("tolokers.npz", "tolokers-features.npz"), 11758, 519000, 0, 519000, 0, 2, 0),
}  # fmt: skip
TYPED = ("dblp", "blogcatalog-hetero-standin", "acm", "freebase-movies")


@pytest.mark.parametrize("name", PLAIN)
def test_a_graph_of_one_type_has_the_counts_of_its_source(name: str, need_data: Callable[..., Path]) -> None:
    files, nodes, rows, loops, edges, isolated, classes, unlabeled = PLAIN[name]
    data = load(name, need_data(*files), download=False)
    assert data.raw == {"nodes": nodes, "edges": rows, "self_loops": loops}
    assert (data.graph.num_nodes, data.graph.num_edges) == (nodes, edges)
    assert int((np.diff(data.graph.adjacency().indptr) == 0).sum()) == isolated
    assert len(data.label_names) == classes
    labels: Any = data.labels
    if CATALOG[name].label_sets:
        assert labels.shape == (nodes, classes)
        assert labels.dtype == np.uint8
        assert labels.any(0).all()
    elif CATALOG[name].numbers:
        assert (labels.shape, labels.dtype) == ((nodes,), np.float32)
        assert int(np.isnan(labels).sum()) == unlabeled
    else:
        assert np.array_equal(np.unique(labels[labels >= 0]), np.arange(classes))
        assert int((labels == -1).sum()) == unlabeled


@pytest.mark.parametrize("name", [*PLAIN, "cora", *TYPED])
def test_the_catalog_states_what_load_gives(name: str, need_data: Callable[..., Path]) -> None:
    entry = CATALOG[name]
    data = load(name, None if entry.embedded else need_data(*entry.files), download=False)
    graph = data.graph
    assert {type: graph.count(type) for type in graph.node_types} == entry.nodes
    assert {relation[1]: graph.edge_count(relation) for relation in graph.relations} == entry.edges
    assert data.raw["edges"] in (entry.rows, entry.rows.get("to"))
    assert len(data.label_names) == entry.classes
    assert entry.license in data.source


@pytest.mark.parametrize("name", ["ppi", "pubmed", "dblp", "cora"])
def test_labels_and_attributes_cannot_be_reached_from_the_graph(name: str, need_data: Callable[..., Path]) -> None:
    data = load(name, None if name == "cora" else need_data(*CATALOG[name].files), download=False)
    assert not data.graph.features
    assert not data.graph.node_data


def test_the_papers_pubmed_edges_are_the_distinct_ordered_pairs(need_data: Callable[..., Path]) -> None:
    with np.load(need_data("pubmed.npz") / "pubmed.npz", allow_pickle=False) as arrays:
        distinct = np.unique(arrays["edges"], axis=0)
    assert len(distinct) == 88651
    assert "88,651 edges" in CATALOG["pubmed"].paper


@pytest.mark.parametrize(
    ("name", "sizes", "attributes", "entries"),
    [
        ("pubmed", (60, 500, 1000), 500, 988031),
        ("cora-planetoid", (140, 500, 1000), 1433, 49216),
        ("citeseer-planetoid", (120, 500, 1000), 3703, 105165),
    ],
)
def test_planetoid_data_have_the_public_split_and_attributes(
    name: str, sizes: tuple[int, ...], attributes: int, entries: int, need_data: Callable[..., Path]
) -> None:
    data = load(name, need_data(*CATALOG[name].files), download=False)
    assert tuple(len(data.splits[part]) for part in ("train", "val", "test")) == sizes
    together = np.concatenate(list(data.splits.values()))
    assert together.dtype == np.int64
    assert len(np.unique(together)) == sum(sizes)
    # The public split takes equally many training nodes from every class, all of them labeled.
    labels: Any = data.labels
    assert np.bincount(labels[data.splits["train"]]).tolist() == [20] * len(data.label_names)
    assert sp.issparse(data.features)
    assert (data.features.shape, data.features.nnz) == ((data.graph.num_nodes, attributes), entries)
    assert data.with_features().features[NODE].shape == (data.graph.num_nodes, attributes)


def test_class_names_of_planetoid_data_agree_in_size_with_those_of_the_named_copies(
    need_data: Callable[..., Path],
) -> None:
    for name, named in (("cora-planetoid", "cora"), ("citeseer-planetoid", "citeseer")):
        folder = need_data(*CATALOG[name].files, *CATALOG[named].files)
        assert class_sizes(load(name, folder)) == class_sizes(load(named, folder))


def class_sizes(data: Any) -> dict[str, int]:
    return {name: int((data.labels == label).sum()) for label, name in enumerate(data.label_names)}


def test_ppi_splits_by_whole_graphs(need_data: Callable[..., Path]) -> None:
    ppi = load("ppi", need_data("ppi.npz", "ppi-features.npz"), download=False)
    assert ppi.graph_ids is not None
    graphs = {part: np.unique(ppi.graph_ids[nodes]).tolist() for part, nodes in ppi.splits.items()}
    assert graphs == {"train": list(range(20)), "val": [20, 21], "test": [22, 23]}
    assert {part: len(nodes) for part, nodes in ppi.splits.items()} == {"train": 44906, "val": 6514, "test": 5524}
    assert ppi.label_names[:2] == ("GO:0050789", "GO:0070062")
    assert ppi.features.shape == (56944, 50)


def test_dblp_comes_as_near_the_papers_counts_as_the_docs_say(need_data: Callable[..., Path]) -> None:
    dblp = load("dblp", need_data("dblp-author-term.npz"), download=False)
    graph = dblp.graph
    assert dblp.raw == {
        "nodes": {"author": 28702, "term": 13575},
        "edges": {"coauthor": 66832, "uses": 489601},
        "self_loops": {"coauthor": 0, "uses": 0},
    }
    assert (graph.count("author"), graph.count("term")) == (27199, 3704)  # the paper: 27K and 3.7K
    assert graph.edge_count(("author", "coauthor", "author")) == 66832  # the paper: 66,832
    uses = graph.edge_count(("author", "uses", "term"))
    assert uses == 337286
    assert abs(uses / 338210 - 1) < 0.003  # the paper: 338,210
    labels: Any = dblp.labels
    assert labels["author"].shape == (27199, 4)
    assert labels["author"].any(1).all()


def test_dblp_authors_are_rows_words_are_words_and_weights_are_papers(need_data: Callable[..., Path]) -> None:
    folder = need_data("dblp-author-term.npz")
    graph = load("dblp", folder, download=False).graph
    words = set(graph.ids("term"))
    assert {"database", "retrieval", "system"} <= words
    assert not words & STOP_WORDS
    assert min(map(len, words)) == 4
    with np.load(folder / "dblp-author-term.npz", allow_pickle=False) as arrays:
        (a, b), weight = arrays["edges_author_coauthor_author"][7], arrays["weight_author_coauthor_author"][7]
        term, heavy = np.flatnonzero(arrays["name_term"] == b"database")[0], arrays["weight_author_uses_term"]
        rows = arrays["edges_author_uses_term"]
        users = rows[:, 1] == term
        expected = dict(zip(rows[users, 0].tolist(), heavy[users].tolist(), strict=True))
    coauthor = graph.to_scipy(("author", "coauthor", "author"))
    first, second = graph.nodes.find([a, b], "author")[1]
    assert coauthor[first, second] == coauthor[second, first] == weight
    column = graph.to_scipy(("author", "uses", "term"))[
        :, [int(graph.nodes.find(["database"], "term")[1][0])]
    ].toarray()[:, 0]
    authors = graph.ids("author")
    got = dict(zip(authors[column > 0].tolist(), column[column > 0].tolist(), strict=True))
    kept = set(authors.tolist())
    assert got == {author: papers for author, papers in expected.items() if author in kept}


def test_the_names_of_dblps_areas_are_those_that_their_words_tell(need_data: Callable[..., Path]) -> None:
    dblp = load("dblp", need_data("dblp-author-term.npz"), download=False)
    labels: Any = dblp.labels
    areas = labels["author"]
    one_area = areas * (areas.sum(1, keepdims=True) == 1)
    uses = dblp.graph.to_scipy(("author", "uses", "term"))
    by_area = one_area.T @ uses.toarray()  # papers of authors of one area only, by word
    share = by_area / by_area.sum(1, keepdims=True)
    area_of = {
        "dbms": "database",
        "transaction": "database",
        "frequent": "data mining",
        "patterns": "data mining",
        "robot": "artificial intelligence",
        "planning": "artificial intelligence",
        "retrieval": "information retrieval",
        "document": "information retrieval",
    }
    for word, area in area_of.items():
        position = int(dblp.graph.nodes.find([word], "term")[1][0])
        assert dblp.label_names[int(share[:, position].argmax())] == area, word


def test_the_typed_stand_in_has_its_counts_and_weights(need_data: Callable[..., Path]) -> None:
    data = load("blogcatalog-hetero-standin", need_data("blogcatalog-hetero-standin.npz"), download=False)
    assert data.raw["edges"] == {"friend": 171743, "has": 369435}
    labels: Any = data.labels
    assert np.bincount(labels["user"]).tolist() == [885, 777, 921, 858, 892, 863]
    weights = data.graph.to_scipy(("user", "has", "attribute")).data
    assert (weights.min(), weights.max()) == (1, 703)


def test_chameleon_has_numbers_and_nouns(need_data: Callable[..., Path]) -> None:
    data = load("chameleon", need_data("chameleon.npz"), download=False)
    assert data.label_names == ()
    assert repr(data) == "Dataset('chameleon', Graph(2,277 nodes, 31,371 edges), numbers)"
    labels: Any = data.labels
    assert 2.7 < labels.min() < labels.max() < 13.2
    assert (data.features.shape, data.features.nnz) == ((2277, 3132), 49057)


def test_the_names_of_facebooks_classes_are_those_of_its_file(need_data: Callable[..., Path]) -> None:
    data = load("facebook-pages", need_data("facebook-pages.npz"), download=False)
    assert data.label_names == CATALOG["facebook-pages"].names == ("company", "government", "politician", "tvshow")
    assert data.features is None


def test_acm_has_words_of_its_papers_alone(need_data: Callable[..., Path]) -> None:
    data = load("acm", need_data(*CATALOG["acm"].files), download=False)
    assert {type: np.bincount(labels).tolist() for type, labels in data.labels.items()} == {"paper": [1993, 965, 1061]}
    assert {type: (words.shape, words.nnz) for type, words in data.features.items()} == {
        "paper": ((4019, 1902), 340377)
    }
    assert set(data.with_features().features) == {"paper"}


@pytest.mark.parametrize(("name", "columns", "entries"), [("actor", 932, 40977), ("tolokers", 10, 61101)])
def test_graphs_of_neighbors_of_other_classes_have_features(
    name: str, columns: int, entries: int, need_data: Callable[..., Path]
) -> None:
    data = load(name, need_data(*CATALOG[name].files), download=False)
    assert (data.features.shape, data.features.nnz) == ((data.graph.num_nodes, columns), entries)
    assert data.splits == {}


def test_data_sets_used_for_no_choice_are_of_every_kind() -> None:
    untouched = [entry for entry in CATALOG.values() if entry.untouched]
    assert len(untouched) >= 5
    assert all(entry.downloadable and not entry.paper and not entry.stand_in_for for entry in untouched)
    assert any(len(entry.types) > 1 for entry in untouched)
    assert any(entry.label_sets for entry in untouched)
    assert any(entry.num_nodes > 30_000 for entry in untouched)


def test_a_data_set_without_attributes_says_so() -> None:
    with pytest.raises(ValueError, match=r"dataset 'cora' has no node attributes; use its \.graph"):
        load("cora").with_features()
