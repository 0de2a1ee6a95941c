"""What can be asked of fitted vectors: by one id or several, as a frame, the most similar by id and by vector."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from pine import PINE, Graph, InputError

PLAIN = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c"), (("t", 1), "a")])
SHOP = Graph.from_relations(
    {("user", "buys", "item"): [(u, i) for u in range(6) for i in range(6) if u % 2 == i % 2 or u == i + 1]}
)


@pytest.fixture(scope="module")
def plain() -> Any:
    return PINE(dim=4).fit(PLAIN)


@pytest.fixture(scope="module")
def shop() -> Any:
    return PINE(dim=4).fit(SHOP)


def test_one_id_gives_one_vector_and_several_give_rows(plain):
    assert plain.vectors("b").shape == (4,)
    np.testing.assert_array_equal(plain.vectors("b"), plain.vectors(["b"])[0])
    np.testing.assert_array_equal(plain.vectors(("t", 1)), plain.vectors([("t", 1)])[0])
    np.testing.assert_array_equal(plain.vectors(("a", "b")), plain.vectors(["a", "b"]))


def test_numbers_of_any_kind_are_one_id(shop):
    for one in (3, np.int64(3), np.array(3)):
        np.testing.assert_array_equal(shop.vectors(one, type="user"), shop.embedding_["user"][3])


def test_a_frame_has_ids_types_and_a_column_a_dimension(plain, shop):
    frame = plain.to_frame()
    assert list(frame.columns) == ["id", "x0", "x1", "x2", "x3"]
    assert frame["id"].tolist() == PLAIN.ids().tolist()
    np.testing.assert_array_equal(frame[["x0", "x1", "x2", "x3"]].to_numpy(), plain.embedding_)
    typed = shop.to_frame()
    assert list(typed.columns[:2]) == ["id", "type"]
    assert typed.groupby("type").size().to_dict() == {"user": 6, "item": 6}
    assert typed["id"].dtype == np.int64
    assert len(shop.to_frame("item")) == 6


def test_a_frame_without_pandas_says_what_to_install(plain, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="to_frame needs pandas: pip install pandas"):
        plain.to_frame()


def test_the_most_similar_of_a_node_leave_it_out_and_are_sorted(plain):
    found = plain.most_similar("a", k=3)
    assert len(found) == 3
    assert "a" not in [node for node, _ in found]
    cosines = [cosine for _, cosine in found]
    assert cosines == sorted(cosines, reverse=True)
    x, y = plain.vectors("a"), plain.vectors(found[0][0])
    assert cosines[0] == pytest.approx(float(x @ y / np.linalg.norm(x) / np.linalg.norm(y)), abs=1e-5)


def test_a_batch_gives_a_list_for_each_node(plain):
    both = plain.most_similar(["a", "c"], k=2)
    assert [[node for node, _ in each] for each in both] == [
        [node for node, _ in plain.most_similar(one, k=2)] for one in ("a", "c")
    ]
    assert plain.most_similar([], k=2) == []


def test_a_vector_finds_the_node_that_has_it_first(plain):
    assert plain.most_similar(vector=plain.vectors("b"), k=1)[0][0] == "b"
    assert [each[0][0] for each in plain.most_similar(vector=plain.vectors(["a", "b"]), k=1)] == ["a", "b"]


def test_nodes_of_another_type_are_found_with_to(shop):
    found = shop.most_similar(2, k=10, type="user", to="item")
    assert sorted(node for node, _ in found) == list(range(6)), "an item of the same id is not left out"
    by_vector = shop.most_similar(vector=shop.vectors(2, type="user"), to="item")
    assert [node for node, _ in by_vector] == [node for node, _ in found]
    with pytest.raises(InputError, match="node type 'shop' does not exist"):
        shop.most_similar(2, type="user", to="shop")
    with pytest.raises(InputError, match="say which: type="):
        shop.most_similar(vector=np.ones(4))


def test_a_number_of_neighbors_beyond_the_nodes_gives_them_all_and_none_is_refused(plain):
    assert len(plain.most_similar("a", k=1000)) == 4
    for k in (-1, 0):
        with pytest.raises(InputError, match="k must be a whole number of at least 1"):
            plain.most_similar("a", k=k)


def test_questions_of_nothing_or_of_two_things_are_refused(plain):
    with pytest.raises(InputError, match="takes an id or ids, or vector="):
        plain.most_similar()
    with pytest.raises(InputError, match="takes an id or ids, or vector="):
        plain.most_similar("a", vector=np.ones(4))
    with pytest.raises(InputError, match="index must be one of 'usearch', got 'annoy'"):
        plain.most_similar("a", index="annoy")


def test_an_index_answers_as_comparing_with_all_does(plain):
    pytest.importorskip("usearch")
    found = plain.most_similar("a", k=3, index="usearch")
    assert [node for node, _ in found] == [node for node, _ in plain.most_similar("a", k=3)]


def test_a_new_fit_forgets_the_old_vectors():
    model = PINE(dim=4).fit(PLAIN)
    model.most_similar("a")
    model.fit(Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)]))
    assert {node for node, _ in model.most_similar(0)} == {1, 2, 3}
