"""Skip-gram climbs the log-likelihood that it states, in the same steps for any number of threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pine import InputError
from pine.baselines.skip_gram.huffman import huffman_paths
from pine.baselines.skip_gram.sgd import END_RATE, START_RATE
from pine.baselines.skip_gram.skip_gram import outputs_of, skip_gram
from pine.graph.sampling.streams import advanced, alias_rows, below, chosen, mixed, stream


def sigmoid(score):
    return 1 / (1 + np.exp(-score))


def some_walks(words: int, walks: int, length: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, words, (walks, length)).astype(np.int32)


def counts_of(walks: np.ndarray, words: int) -> np.ndarray:
    return np.bincount(walks[walks >= 0], minlength=words)


def following(state):
    return np.uint64(advanced(np.uint64(state)))


def number_at(state):
    return np.uint64(mixed(np.uint64(state)))


def reference(
    walks: np.ndarray, words: int, dim: int, window: int, negatives: int, seed: int, bounds: np.ndarray | None = None
) -> np.ndarray:
    """The definition: x and y climb the gradient of each pair's log-likelihood, one pair after the other."""
    rng = np.random.default_rng(seed)
    x, y = (rng.random((words, dim), np.float32).astype(float) - 0.5) / dim, np.zeros((words, dim))
    key = np.uint64(rng.integers(2**63))
    counts = counts_of(walks, words)
    paths, types = huffman_paths(counts), list(pairwise([0, words] if bounds is None else bounds))
    noise = [alias_rows(np.array([0, hi - lo]), counts[lo:hi] ** 0.75) for lo, hi in types]
    for number, walk in enumerate(walks):
        rate, state = START_RATE + (END_RATE - START_RATE) * number / len(walks), stream(key, number)
        for center, word in enumerate(walk):
            state = following(state)
            reach = 1 + below(number_at(state), window)
            for near in range(max(0, center - reach), min(len(walk), center + reach + 1)):
                if near == center:
                    continue
                rows = paths.nodes[paths.indptr[word] : paths.indptr[word + 1]].tolist()
                labels = paths.left[paths.indptr[word] : paths.indptr[word + 1]].tolist()
                if negatives:
                    rows, labels = [word], [1.0]
                    type = next(k for k, (lo, hi) in enumerate(types) if lo <= word < hi)
                    for _ in range(negatives):
                        state = following(state)
                        lo, hi = types[type]
                        drawn = lo + chosen(number_at(state), 0, hi - lo, *noise[type])
                        if drawn != word:
                            rows, labels = [*rows, drawn], [*labels, 0.0]
                context = x[walk[near]].copy()
                g = [rate * (label - sigmoid(context @ y[row])) for row, label in zip(rows, labels, strict=True)]
                x[walk[near]] += sum(each * y[row] for each, row in zip(g, rows, strict=True))
                for each, row in zip(g, rows, strict=True):
                    y[row] += each * context
    return x


@pytest.mark.parametrize(
    ("output", "negatives", "bounds"),
    [("hierarchical", 0, None), ("negative", 3, None), ("negative", 3, np.array([0, 3, 3, 8, 12]))],
)
def test_a_small_vocabulary_is_learned_pair_after_pair_as_the_definition_says(output, negatives, bounds):
    walks = some_walks(6, 200, 9) + 6 * (np.arange(200) % 2)[:, None].astype(np.int32)  # two groups of words
    want = reference(walks, 12, 5, 4, negatives, seed=7, bounds=bounds)
    counts, given = counts_of(walks, 12), {"dim": 5, "window": 4, "output": output, "negatives": negatives or 5}
    got = skip_gram([walks], 200, counts, rng=np.random.default_rng(7), bounds=bounds, **given)
    assert got.shape == (12, 5)
    start = (np.random.default_rng(7).random((12, 5), np.float32) - 0.5) / 5
    assert np.abs(want - start).max() > 0.05, "something was learned"
    np.testing.assert_allclose(got, want, atol=5e-3)  # the sigmoid is read from a table


def test_negatives_are_of_the_words_own_type_by_their_frequency_to_the_power_of_three_quarters():
    counts, bounds = np.random.default_rng(6).integers(1, 100, 20), np.array([0, 7, 8, 20])
    outputs = outputs_of(counts, 4, bounds)
    for word in range(20):
        lo, hi = outputs.bounds[outputs.type[word]], outputs.bounds[outputs.type[word] + 1]
        assert lo <= word < hi
        assert (lo, hi) in list(pairwise(bounds))
        states = np.arange(8000, dtype=np.uint64)
        drawn = np.array([chosen(number_at(state), lo, hi - lo, outputs.keep, outputs.other) for state in states])
        share = counts[lo:hi] ** 0.75 / (counts[lo:hi] ** 0.75).sum()
        np.testing.assert_allclose(np.bincount(drawn - lo, minlength=hi - lo) / 8000, share, atol=0.02)


@pytest.mark.parametrize("output", ["hierarchical", "negative"])
def test_any_number_of_threads_gives_the_same_bits(output):
    walks = some_walks(4100, 600, 12)

    def learned(threads):
        given = {"dim": 20, "window": 3, "rng": np.random.default_rng(3), "output": output, "threads": threads}
        return skip_gram([walks[:311], walks[311:]], 600, counts_of(walks, 4100), **given)

    one = learned(1)
    assert np.isfinite(one).all()
    np.testing.assert_array_equal(learned(2), one)
    np.testing.assert_array_equal(learned(4), one)


def test_words_that_keep_company_get_vectors_that_point_the_same_way():
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1], 300)[:, None]
    walks = (10 * group + rng.integers(0, 10, (600, 20))).astype(np.int32)[rng.permutation(600)]
    x = skip_gram([walks], 600, counts_of(walks, 20), dim=8, window=5, rng=rng)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosine = unit @ unit.T
    assert cosine[:10, :10].mean() > 0.8
    assert cosine[:10, 10:].mean() < 0.2


def test_what_comes_after_the_end_of_a_walk_is_not_read():
    walks = some_walks(12, 50, 6)
    padded_walks = np.pad(walks, ((0, 0), (0, 4)), constant_values=-1)
    rngs = [np.random.default_rng(5) for _ in range(2)]
    short, long = (
        skip_gram([each], 50, counts_of(walks, 12), dim=4, window=3, rng=rng)
        for each, rng in zip((walks, padded_walks), rngs, strict=True)
    )
    np.testing.assert_array_equal(short, long)


def test_a_vocabulary_of_one_word_and_a_word_that_never_occurs_are_no_trouble():
    rng = np.random.default_rng(0)
    for output in ("hierarchical", "negative"):
        alone = skip_gram([np.zeros((3, 4), np.int32)], 3, np.array([12]), dim=4, window=2, rng=rng, output=output)
        assert np.isfinite(alone).all()
        walks = some_walks(5, 10, 4)
        assert np.isfinite(skip_gram([walks], 10, counts_of(walks, 9), dim=4, window=2, rng=rng, output=output)).all()


def test_words_beyond_the_vocabulary_are_refused():
    with pytest.raises(InputError, match="words must be numbers under 3"):
        skip_gram([some_walks(5, 3, 4)], 3, np.ones(3), dim=4, window=2, rng=np.random.default_rng(0))
