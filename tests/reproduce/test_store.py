"""Results are kept by their keys, and taken from other stores."""

from __future__ import annotations

import pytest

from pine import InputError
from pine.reproduce.store import Store


def test_a_store_gives_back_what_was_put_and_takes_from_another(tmp_path):
    store, other = Store(tmp_path / "a.sqlite"), Store(tmp_path / "b.sqlite")
    store.put("k", {"kind": "score"}, {"scores": {"accuracy": 0.5}})
    store.put("k", {"kind": "score"}, {"scores": {"accuracy": 0.75}})
    assert store.get(["k", "missing"]) == {"k": {"scores": {"accuracy": 0.75}}}
    other.put("k", {}, {"scores": {"accuracy": 0.1}})
    other.put("new", {}, {"scores": {"accuracy": 0.2}})
    assert store.take(tmp_path / "b.sqlite") == 1
    assert store.get(["k", "new"]) == {"k": {"scores": {"accuracy": 0.75}}, "new": {"scores": {"accuracy": 0.2}}}
    many = [f"key {number}" for number in range(1200)]
    store.put(many[-1], {}, {"x": 1})
    assert store.get(many) == {many[-1]: {"x": 1}}


def test_a_file_that_is_no_store_is_refused(tmp_path):
    (tmp_path / "a.sqlite").write_text("something else, and long enough to be looked at" * 20)
    with pytest.raises(InputError, match="name another file"):
        Store(tmp_path / "a.sqlite")
    with pytest.raises(InputError, match="there is no"):
        Store(tmp_path / "b.sqlite").take(tmp_path / "none.sqlite")
