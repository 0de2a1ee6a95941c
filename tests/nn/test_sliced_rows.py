"""Rows in slices of columns: read and written row by row, summed over neighbors slice by slice."""

from __future__ import annotations

import pytest
import torch
from support.tensors import normal

from pine._internal.mapped import MappedArrays
from pine.nn import Neighbors, sliced_rows
from pine.nn.sliced_rows import SlicesInFile, sum_slices, sum_slices_back


@pytest.fixture
def arrays(tmp_path):
    return MappedArrays(tmp_path)


def sliced(arrays, rows, columns):
    made = SlicesInFile(arrays, len(rows), rows.shape[1], columns)
    made[0 : len(rows)] = rows
    return made


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch):
    monkeypatch.setattr(sliced_rows, "PICKED_ROWS", 4)


@pytest.mark.parametrize("columns", [1, 4, 7, 64])
def test_rows_come_back_as_they_were_written(arrays, columns):
    rows = normal(23, 7).float()
    made = sliced(arrays, rows, columns)
    assert made.shape == (23, 7)
    assert max(made.widths) <= columns
    assert torch.equal(made[3:9], rows[3:9])
    assert torch.equal(made.pick(torch.tensor([2, 5, 22])), rows[[2, 5, 22]])
    assert made.pick(torch.tensor([], dtype=torch.int64)).shape == (0, 7)
    made[4:6] = rows[:2]
    assert torch.equal(made[0:23], torch.cat([rows[:4], rows[:2], rows[6:]]))


@pytest.mark.parametrize("columns", [3, 8])
def test_sums_over_two_groups_and_back_are_those_of_whole_rows(draw_csr, arrays, columns):
    groups = [Neighbors.of(draw_csr(37, n, weighted=n == 23), "sqrt") for n in (23, 31)]
    xs = [normal(23, 8).float(), normal(31, 8, seed=1).float()]
    out = SlicesInFile(arrays, 37, 8, columns)
    sum_slices([sliced(arrays, x, columns) for x in xs], groups, out)
    wanted = groups[0].total(xs[0], transposed=False) + groups[1].total(xs[1], transposed=False)
    torch.testing.assert_close(out[0:37], wanted)
    backs = [SlicesInFile(arrays, n, 8, columns) for n in (23, 31)]
    sum_slices_back(out, groups, backs)
    for of, back in zip(groups, backs, strict=True):
        torch.testing.assert_close(back[0 : len(back)], of.total(wanted, transposed=True))


def test_sums_may_take_the_place_of_the_rows(draw_csr, arrays):
    neighbors, x = Neighbors.of(draw_csr(23, 23), "mean"), normal(23, 8).float()
    made = sliced(arrays, x, 3)
    sum_slices([made], [neighbors], made)
    torch.testing.assert_close(made[0:23], neighbors.total(x, transposed=False))
