"""Splits: their size, their seed, and that they hide what they should."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pine import Graph, InputError
from pine.evaluation import RATIOS, split
from pine.evaluation.protocol import PUBLIC, Part, Ratio, hide, ratio_name, ratio_order
from pine.labels import read_labels


def test_a_split_is_the_permutation_that_the_protocol_names():
    labeled = np.array([3, 5, 8, 13, 21, 34, 55, 89, 144, 233])
    parts = split("cora", labeled, 0.3, 2)
    seed = np.random.SeedSequence([zlib.crc32(b"cora"), 30, 2])
    order = np.random.default_rng(seed).permutation(10)
    assert parts.train.tolist() == sorted(labeled[order[:3]].tolist())
    assert parts.test.tolist() == sorted(labeled[order[3:]].tolist())


@given(count=st.integers(20, 3000), ratio=st.sampled_from(RATIOS), repeat=st.integers(0, 20))
def test_every_labeled_node_is_in_one_part_and_the_share_is_right(count, ratio, repeat):
    labeled = np.arange(count) * 2
    parts = split("x", labeled, ratio, repeat)
    assert len(parts.train) == round(ratio * count)
    assert np.array_equal(np.union1d(parts.train, parts.test), labeled)
    assert len(parts.train) + len(parts.test) == count


def test_names_ratios_and_repeats_give_other_splits_and_the_same_ones_the_same():
    labeled = np.arange(100)
    base = split("cora", labeled, 0.5, 0).train.tolist()
    assert split("cora", labeled, 0.5, 0).train.tolist() == base
    others = [split("dblp", labeled, 0.5, 0), split("cora", labeled, 0.5, 1), split("cora", labeled, 0.4, 0)]
    assert all(other.train.tolist()[: len(base)] != base for other in others)


@pytest.mark.parametrize("ratio", [0, 1, -0.5, 1.5])
def test_a_ratio_that_leaves_nothing_is_refused(ratio):
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        split("cora", np.arange(10), ratio, 0)


def test_one_node_is_enough_to_train_on_and_one_to_test_on():
    for ratio, train in ((0.1, 1), (0.9, 9)):
        parts = split("graph", np.arange(10), ratio, 0)
        assert (len(parts.train), len(parts.test)) == (train, 10 - train)


def test_a_split_of_too_few_nodes_is_refused():
    with pytest.raises(InputError, match="leaves none to train or test on"):
        split("cora", np.arange(3), 0.1, 0)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1, 2, -1, 1]),
        np.array([[1, 0], [0, 1], [1, 1], [-1, -1], [0, 0]]),
        np.array([0.5, 2, 3, np.nan, 1]),
    ],
)
def test_hidden_labels_are_gone_and_visible_ones_are_there(labels):
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])
    known = read_labels(graph, labels)
    shown = read_labels(graph, hide(known, np.array([0, 4]), 5), known.task)
    assert shown.known.tolist() == [0, 4]
    if known.task == "classes":
        assert shown.classes is not None
        assert shown.classes[shown.values].tolist() == [0, 1]
    else:
        np.testing.assert_array_equal(shown.values, known.values[[0, 3]])


def test_what_is_held_out_lies_within_the_training_nodes():
    labeled = np.arange(200) * 3
    whole, held_out = Part(0.5, 1).split("x", labeled), Part(0.5, 1, held_out=True).split("x", labeled)
    assert sorted([*held_out.train, *held_out.test]) == whole.train.tolist()
    assert len(held_out.test) == 20
    assert held_out.test.tolist() != Part(0.5, 2, held_out=True).split("x", labeled).test.tolist()


SPLITS = {"train": np.array([4, 0, 2]), "val": np.array([6, 8]), "test": np.array([10, 12, 14])}


def test_the_public_split_is_the_one_of_the_data_set_as_far_as_nodes_are_labeled():
    labeled = np.array([0, 2, 3, 4, 6, 10, 14, 20])
    for repeat in (0, 7):
        nodes = Part(PUBLIC, repeat).split("x", labeled, SPLITS)
        assert nodes.train.tolist() == [0, 2, 4]
        assert nodes.validation.tolist() == [6]
        assert nodes.test.tolist() == [10, 14]
        assert nodes.visible.tolist() == [0, 2, 4, 6]


def test_settings_on_the_public_split_are_chosen_on_its_validation_nodes():
    nodes = Part(PUBLIC, 0, held_out=True).split("x", np.arange(20), SPLITS)
    assert nodes.train.tolist() == [0, 2, 4]
    assert nodes.test.tolist() == nodes.validation.tolist() == [6, 8]
    without = {part: SPLITS[part] for part in ("train", "test")}
    assert not len(Part(PUBLIC, 0).split("x", np.arange(20), without).validation)
    with pytest.raises(InputError, match="of x has no validation nodes to choose settings on"):
        Part(PUBLIC, 0, held_out=True).split("x", np.arange(20), without)


@pytest.mark.parametrize("splits", [{}, {"train": np.array([1])}, {"train": np.array([1]), "test": np.array([99])}])
def test_a_data_set_without_a_public_split_is_refused(splits):
    with pytest.raises(InputError, match=r"x has no public split; give shares of labeled nodes, such as 0\.1"):
        Part(PUBLIC, 0).split("x", np.arange(20), splits)


def test_the_public_split_stands_before_all_ratios_by_its_name():
    ratios: list[Ratio] = [0.5, PUBLIC, 0.1]
    assert [ratio_name(ratio) for ratio in sorted(ratios, key=ratio_order)] == ["public", "10 %", "50 %"]
