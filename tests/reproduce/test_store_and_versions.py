"""What was made is found again by what it came from, and only then."""

from __future__ import annotations

import pytest

from pine import InputError
from pine.evaluation.protocol import Part
from pine.reproduce import versions
from pine.reproduce.store import Store
from pine.reproduce.tasks import Machine, Score


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


def test_a_method_depends_on_the_modules_that_it_imports_and_on_no_other():
    reached = versions._reached("pine.baselines.gnn.gcn")
    assert {"pine.baselines.gnn.network", "pine.graph.csr", "pine.nn.losses"} <= reached
    assert "pine.baselines.deepwalk" not in reached
    assert "pine.model.pine" not in reached
    assert "pine.model.init.push" in versions._reached("pine.model.pine")


def test_the_key_of_a_score_is_what_it_came_from(monkeypatch):
    machine = Machine()

    def key(spec="gcn", seed=0, part=None, machine=machine):
        return Score("cora", spec, seed, part or Part(0.5, 0)).key(machine)

    assert key() == key("gcn:epochs=200")  # its default
    assert key() == key(machine=Machine(device="cpu", threads=1))
    different = [key("gcn:epochs=100"), key(seed=1), key(part=Part(0.5, 1)), key(part=Part(0.5, 0, True)), key("gat")]
    assert len({key(), *different}) == 6
    before = key()
    monkeypatch.setattr("pine.reproduce.tasks.version", lambda module: "changed")
    assert key() != before
