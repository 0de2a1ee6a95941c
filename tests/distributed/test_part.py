"""A rank's part of a graph, and what travels."""

from __future__ import annotations

from support.rank_parts import check_part, counted_traffic
from support.ranks import on_ranks

from pine import Graph
from pine.distributed.part import Whole, part_of
from pine.distributed.ranks import ALONE, current_ranks

TERMS = 5  # of the loss


def test_sums_over_neighbors_and_rows_on_four_ranks_are_those_of_one_process():
    on_ranks(4, check_part)


def test_a_process_alone_has_all_nodes():
    graph = Graph.from_edges([(0, 1)])
    assert current_ranks() is ALONE
    assert type(part_of(graph, ALONE)) is Whole


def test_the_bytes_of_a_step_are_those_that_are_counted_from_the_partition():
    exchanged, sent, summed, added = on_ranks(2, counted_traffic)[0]
    assert exchanged == sent > 0
    assert summed + 4 * 2 * TERMS == added
