"""Threads that share the nodes of a fit."""

from __future__ import annotations

import threading

import torch

from pine.nn.threads import over_nodes, sleeping_threads


def test_no_thread_keeps_a_graph_of_what_it_computes():
    weights, kept, met = torch.ones(3, requires_grad=True), {}, threading.Barrier(2, timeout=30)

    def note(lo: int, hi: int) -> None:
        met.wait()  # so that each of the two threads has one part
        kept[threading.get_ident()] = (2 * weights).requires_grad

    with sleeping_threads(2):
        over_nodes(note, 2, 1)
    assert list(kept.values()) == [False, False]
    assert torch.is_grad_enabled()
