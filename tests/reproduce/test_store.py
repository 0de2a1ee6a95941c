"""Results are kept by their keys, and taken from other stores."""

from __future__ import annotations

import lzma
import sqlite3
from contextlib import closing

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


def test_a_damaged_result_is_made_again_and_never_used(tmp_path):
    store = Store(tmp_path / "a.sqlite")
    store.put("k", {}, {"accuracy": 0.75})
    store.put("other", {}, {"accuracy": 0.5})
    store.close()
    content = (tmp_path / "a.sqlite").read_bytes()
    assert content.count(b"0.75") == 1
    (tmp_path / "a.sqlite").write_bytes(content.replace(b"0.75", b"0.85"))
    with pytest.warns(UserWarning, match="damaged result"):
        assert Store(tmp_path / "a.sqlite").get(["k", "other"]) == {"other": {"accuracy": 0.5}}


def test_a_store_of_an_earlier_version_is_read_and_added_to(tmp_path):
    with sqlite3.connect(tmp_path / "a.sqlite") as old:
        old.execute("CREATE TABLE results (key TEXT PRIMARY KEY, unit TEXT, result TEXT, made TEXT)")
        old.execute("INSERT INTO results VALUES ('k', '{}', '{\"x\": 1}', '2026-01-01T00:00:00Z')")
    old.close()
    store = Store(tmp_path / "a.sqlite")
    store.put("new", {}, {"x": 2})
    assert store.get(["k", "new"]) == {"k": {"x": 1}, "new": {"x": 2}}


@pytest.mark.parametrize("result", ["{", "[" * 100_000])
def test_a_result_that_is_no_json_is_refused_in_a_sentence(tmp_path, result):
    store = Store(tmp_path / "a.sqlite")
    store.connection.execute("INSERT INTO results (key, result) VALUES ('k', ?)", [result])
    with pytest.raises(InputError, match="cannot be used to keep results in"):
        store.get(["k"])


def test_a_store_that_is_taken_from_stays_as_it_is_also_one_of_an_earlier_version(tmp_path):
    theirs = tmp_path / "theirs.sqlite"
    with closing(sqlite3.connect(theirs)) as old, old:
        old.execute("CREATE TABLE results (key TEXT PRIMARY KEY, unit TEXT, result TEXT, made TEXT)")
        old.execute("INSERT INTO results VALUES ('a', '{}', '{\"score\": 1}', '2026')")
    before = theirs.read_bytes()
    own = Store(tmp_path / "own.sqlite")
    assert own.take(theirs) == 1
    assert own.get(["a"]) == {"a": {"score": 1}}
    assert theirs.read_bytes() == before


def test_an_archive_has_all_results_and_the_same_ones_make_the_same_file(tmp_path):
    store = Store(tmp_path / "a.sqlite")
    store.put("k", {"kind": "score", "about": "tab\tand\nline"}, {"scores": {"accuracy": 0.75}})
    store.put("l", {"kind": "score"}, {"stopped": "time", "message": "\u00fc\t\n"})
    first, second = tmp_path / "first.tsv.xz", tmp_path / "second.tsv.xz"
    assert store.archive(first) == 2
    other = Store(tmp_path / "b.sqlite")
    assert (other.take(first), other.take(first)) == (2, 0)
    assert other.get(["k", "l"]) == store.get(["k", "l"])
    assert other.archive(second) == 2
    assert first.read_bytes() == second.read_bytes()
    with pytest.raises(InputError, match=r"is named ...\.tsv\.xz"):
        store.archive(tmp_path / "a.zip")


@pytest.mark.parametrize(
    "content", [b"no archive", lzma.compress(b"a\tb"), lzma.compress(b"a\tb\t[]\td\n"), lzma.compress(b"\xff")[:-9]]
)
def test_a_damaged_archive_is_refused_and_nothing_of_it_taken(tmp_path, content):
    path, store = tmp_path / "a.tsv.xz", Store(tmp_path / "a.sqlite")
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be used to keep results in"):
        store.take(path)
    assert store.connection.execute("SELECT count(*) FROM results").fetchone() == (0,)
