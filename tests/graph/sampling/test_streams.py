"""Draws are uniform or by weight, and alias tables hold exactly the shares they were made from."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pine._internal.parallel import compiled
from pine.graph.sampling.streams import advanced, alias_rows, below, chosen, mixed, stream


@compiled
def follow(state, count):
    """The next numbers of a stream."""
    out = np.empty(count, np.uint64)
    for k in range(count):
        state = advanced(state)
        out[k] = mixed(state)
    return out


def numbers(key: int, count: int, number: int = 0) -> np.ndarray:
    return follow(np.uint64(stream(np.uint64(key), number)), count)


def shares(keep: np.ndarray, alias: np.ndarray) -> np.ndarray:
    """The probability of each entry of one row, read off its tables."""
    total = keep.astype(np.float64)
    np.add.at(total, alias, 1 - keep.astype(np.float64))
    return total / len(keep)


def test_splitmix_gives_its_published_numbers():
    # The first outputs of splitmix64 from the state 1234567 (Vigna's reference implementation).
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert follow(np.uint64(1234567), 3).tolist() == published


def test_whole_numbers_under_a_bound_are_all_as_likely():
    drawn = np.array([below(bits, 7) for bits in numbers(1, 7000)])
    counts = np.bincount(drawn, minlength=7)
    assert len(counts) == 7
    assert ((counts - 1000) ** 2 / 1000).sum() < 22.5  # chi-square with 6 degrees of freedom, 1 in 1,000


def test_streams_of_one_key_and_of_other_keys_differ():
    drawn = [number for key in range(30) for walk in range(30) for number in numbers(key, 5, walk).tolist()]
    assert len(set(drawn)) == 30 * 30 * 5


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40))
def test_an_alias_table_holds_the_shares_of_the_weights(weights):
    keep, alias = alias_rows(np.array([0, len(weights)]), np.array(weights))
    np.testing.assert_allclose(shares(keep, alias), np.array(weights) / sum(weights), atol=1e-6)


def test_every_row_has_a_table_of_its_own_and_empty_rows_have_none():
    weights, indptr = np.array([1.0, 3.0, 5.0, 0.5, 0.25, 0.25]), np.array([0, 2, 2, 3, 6])
    keep, alias = alias_rows(indptr, weights)
    np.testing.assert_allclose(shares(keep[:2], alias[:2]), [0.25, 0.75], atol=1e-7)
    np.testing.assert_allclose(shares(keep[2:3], alias[2:3]), [1])
    np.testing.assert_allclose(shares(keep[3:], alias[3:]), [0.5, 0.25, 0.25], atol=1e-7)


def test_draws_follow_the_weights():
    keep, alias = alias_rows(np.array([0, 4]), np.array([4.0, 3.0, 2.0, 1.0]))
    drawn = [chosen(bits, 0, 4, keep, alias) for bits in numbers(3, 10_000)]
    expected = np.array([4000, 3000, 2000, 1000])
    assert ((np.bincount(drawn, minlength=4) - expected) ** 2 / expected).sum() < 16.3  # 3 degrees, 1 in 1,000
