"""Errors are one printable sentence of at most 300 characters, whatever the words of users hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pine
from pine import PINE, Graph, InputError
from pine.errors import LONGEST_MESSAGE, listed, printable, quoted, sentence

HUGE = 10**5000  # Python refuses to write it out


@given(st.text(st.characters(), max_size=2000), st.text(max_size=2000))
def test_any_words_are_one_printable_line_of_300_characters(path: str, cell: str):
    message = str(InputError(f"{path}, line 7: the weight must be a number, got {cell!r}"))
    assert len(message) <= LONGEST_MESSAGE
    assert message.isprintable()
    message.encode()


def test_what_is_quoted_loses_its_middle_and_the_rest_of_the_sentence_stays():
    message = sentence(f"/data/edges.csv, line 7: got {'many words ' * 100!r}; remove it")
    assert message.startswith("/data/edges.csv, line 7: got 'many words")
    assert message.endswith("; remove it")


def test_a_long_path_keeps_its_ends_and_a_short_one_all():
    deep = "/".join(["folder"] * 100)
    message = sentence(f"cannot read /data/{deep}/edges.csv: no such file")
    assert message.startswith("cannot read /data/folder")
    assert message.endswith("edges.csv: no such file")
    assert len(message) <= LONGEST_MESSAGE
    path = "/data" + "/folder" * 15
    assert path in sentence(f"cannot read {path}: no such file")


def test_what_could_change_a_terminal_is_written_as_an_escape():
    assert printable("a\x1b[31mb\udcffc\u202e") == "a\\x1b[31mb\\udcffc\\u202e"
    assert sentence("two\nlines") == "two lines"


def test_numbers_that_python_does_not_write_out_are_named():
    assert quoted(HUGE) == "a very large int"
    assert listed([HUGE, 1]) == "a very large int, 1"


GRAPH = Graph.from_edges([(0, 1), (1, 2)])
FITTED = pine.METHODS["label-propagation"]().fit(GRAPH, [0, 1, 1])
REFUSED = {
    "a setting": lambda: PINE(dim=-HUGE).fit(GRAPH),
    "a large setting": lambda: PINE(dim=HUGE).fit(GRAPH),
    "a node": lambda: FITTED.vectors([HUGE]),
    "the number of neighbors": lambda: FITTED.most_similar(0, k=-HUGE),
    "a task": lambda: FITTED.fit(GRAPH, [0, 1, 1], task=HUGE),  # type: ignore[arg-type]
    "a weight": lambda: Graph.from_edges([(0, 1)], weights=[HUGE]),
    "a pair": lambda: Graph.from_edges([(HUGE,)]),
    "an id twice": lambda: Graph.from_edges([(0, 1)], nodes=[HUGE, HUGE]),
    "a number as label": lambda: FITTED.fit(GRAPH, [HUGE, 1, 1], task="numbers"),
    "a label of no node": lambda: FITTED.fit(GRAPH, {HUGE: 1}),
    "threads": lambda: PINE(threads=-HUGE).fit(GRAPH),
    "a seed": lambda: PINE(seed=HUGE).fit(GRAPH),
    "a spread": lambda: FITTED.predict(spread=HUGE),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_number_of_5000_digits_is_refused_in_a_sentence(case: str):
    with pytest.raises(InputError) as caught:
        REFUSED[case]()
    assert len(str(caught.value)) <= LONGEST_MESSAGE


def test_a_seed_may_have_hundreds_of_bits():
    first, second = (PINE(dim=2, epochs=0, seed=2**128 + 1).fit(GRAPH).embedding_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_device_that_holds_no_numbers_is_refused():
    with pytest.raises(InputError, match="device 'meta' cannot be used here"):
        PINE(device="meta", epochs=1).fit(GRAPH, [0, 1, 1])


@pytest.mark.parametrize("name", ["a\0b.csv", "a\0b.parquet", "a\0b.csv.gz"])
def test_a_zero_byte_in_a_name_is_refused_in_a_sentence(name: str):
    with pytest.raises(InputError):
        Graph.from_edges(name)
    with pytest.raises(InputError):
        FITTED.save(name)
    with pytest.raises(InputError):
        pine.methods.load_run(name)


@pytest.mark.parametrize("type", [{1}, [], 1, float("nan"), pd.NA])
def test_a_node_type_that_is_no_text_is_refused(type: Any):
    for ask in (FITTED.vectors, FITTED.predict, FITTED.predict_proba):
        with pytest.raises(InputError, match=r"node type|of type 'node', not"):
            ask([0], type=type)
