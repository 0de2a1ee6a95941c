"""What every rank checks of its part of a graph."""

from __future__ import annotations

import numpy as np
import torch

from pine import PINE
from pine.datasets import planted_classes
from pine.distributed.part import RankPart, Whole
from pine.distributed.ranks import Group, current_ranks
from support.rank_fits import typed_graph

CPU = torch.device("cpu")


def check_part() -> None:
    """Sums over neighbors, and rows that go from rank to rank, are those of one process."""
    graph, ranks = typed_graph(), current_ranks()
    part, whole = RankPart(graph, ranks), Whole(graph.num_nodes, graph.nodes)
    rows = torch.randn(graph.num_nodes, 3, generator=torch.Generator().manual_seed(0))
    mine = rows[part.own]
    for group in graph.groups("type", "split"):
        ours, theirs = (each.neighbors(group.matrix, group.type, "sqrt", CPU, 1) for each in (part, whole))
        x, dx = rows[whole.place(group.type)], mine[part.place(group.type)]
        torch.testing.assert_close(ours.total(dx, transposed=False), theirs.total(x, transposed=False)[part.own])
        back = theirs.total(rows, transposed=True)[part.numbers(group.type)]
        torch.testing.assert_close(ours.total(mine, transposed=True), back)
        assert ours.num_entries == group.matrix.nnz
    for type in (None, "a", "b"):
        gathered = part.gathered(mine[part.place(type)], type)
        assert torch.equal(gathered, rows[whole.place(type)] if ranks.rank == 0 else rows[:0])
    some = np.array([3, 92, 50, 7])
    assert torch.equal(part.at(some, mine), rows[some])
    even = part.to_even(mine)
    assert torch.equal(even, rows.chunk(ranks.size)[ranks.rank])
    assert torch.equal(part.from_even(even), mine)
    drawn, at_once = (each.drawn(_draw()) for each in (part, whole))
    np.testing.assert_array_equal(drawn, at_once[part.own])


def _draw():
    rng = np.random.default_rng(5)
    return lambda count: rng.standard_normal((count, 2), np.float32)


def counted_traffic() -> tuple[int, int, int, int]:
    """Bytes a step by what is counted, and by what is sent: in fits of ten and of twenty epochs."""
    ranks = current_ranks()
    assert isinstance(ranks, Group)
    graph, classes = planted_classes(200, classes=3)
    sent = []
    for epochs in (10, 20):
        before = ranks.bytes_exchanged, ranks.bytes_summed
        PINE(dim=8, epochs=epochs, label_share=0.0, threads=1).fit(graph, {k: int(classes[k]) for k in range(100)})
        sent.append((ranks.bytes_exchanged - before[0], ranks.bytes_summed - before[1]))
    (first, summed), (second, more_summed) = sent
    found = torch.tensor([(second - first) / 10, (more_summed - summed) / 10])
    exchanged, added = ranks.total(found).int().tolist()
    return ranks.traffic.exchanged, exchanged, ranks.traffic.summed, added
