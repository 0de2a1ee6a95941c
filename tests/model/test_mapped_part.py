"""What a part in files gives is what the whole in memory gives."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

import pine
from pine._internal.mapped import MappedArrays
from pine.distributed.part import Whole
from pine.model import mapped_part
from pine.model.init.whitened_propagation import whitened_propagation
from pine.model.mapped_part import MappedPart
from pine.propagation import LabelPropagator


@pytest.fixture
def graph():
    return pine.datasets.planted_classes(300, classes=4)[0]


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 64])
def test_labels_are_propagated_slice_by_slice_to_the_same_bits(graph, tmp_path, columns):
    known, rng = np.arange(0, 300, 7), np.random.default_rng(0)
    targets = rng.random((len(known), 4))
    part = MappedPart(graph, MappedArrays(tmp_path), columns)
    whole, sliced = (LabelPropagator(graph, "node", "cpu", 1, each) for each in (None, part))
    for ask in ("propagate", "arrivals"):
        wanted, got = (getattr(each, ask)(known, targets) for each in (whole, sliced))
        for name in ("labels", "reached") if ask == "propagate" else ():
            np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name))
        if ask == "arrivals":
            np.testing.assert_array_equal(got, wanted)
    some = np.array([1, 5, 299])
    np.testing.assert_array_equal(
        sliced.propagate_to(some, known, targets).labels, whole.propagate_to(some, known, targets).labels
    )


@pytest.mark.parametrize("columns", [3, 8, 64])
def test_whitened_propagation_is_the_same_by_slices(graph, tmp_path, columns, monkeypatch):
    monkeypatch.setattr(mapped_part, "DRAWN_ROWS", 37)
    links = graph.links()
    wanted, got = (
        whitened_propagation(links, links.strengths(), 8, np.random.default_rng(0), threads=1, part=part)
        for part in (None, MappedPart(graph, MappedArrays(tmp_path), columns))
    )
    np.testing.assert_allclose(got, wanted, atol=1e-4)


def test_rows_are_drawn_as_all_at_once_are(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(mapped_part, "DRAWN_ROWS", 37)
    drawn = []
    for part in (Whole(300), MappedPart(graph, MappedArrays(tmp_path), 8)):
        rng = np.random.default_rng(3)
        drawn.append(part.drawn(partial(_normal, rng)))
    np.testing.assert_array_equal(drawn[0], drawn[1])
    part = MappedPart(graph, MappedArrays(tmp_path), 2)
    assert torch.equal(part.for_sums(drawn[0], torch.device("cpu"))[0:300], torch.from_numpy(drawn[0]))


def _normal(rng, count):
    return rng.standard_normal((count, 5), np.float32)
