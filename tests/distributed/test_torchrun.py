"""Ranks that are started again meet each other, and not those before them, whose store they have."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from torch._C._distributed_c10d import TCPStore

from pine.distributed import torchrun
from pine.distributed.torchrun import START, start_name


def test_ranks_of_one_start_have_a_name_in_common_and_those_of_another_have_another():
    server = TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=30))

    def name_of(rank: int) -> str:
        store = TCPStore("127.0.0.1", server.port, is_master=False, timeout=timedelta(seconds=30))
        return start_name(store, rank, 3)

    names = []
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):  # who comes before the first rank reads an old name
        with ThreadPoolExecutor(3) as pool:
            names.append(set(pool.map(name_of, order)))
    assert [len(each) for each in names] == [1, 1, 1]
    assert len(set.union(*names)) == 3
    assert server.get(START).decode() in names[-1]


def test_a_rank_does_not_wait_for_ever_for_a_first_one_that_is_gone(monkeypatch):
    monkeypatch.setattr(torchrun, "TIMEOUT", timedelta(seconds=0.3))
    store = TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=30))
    store.set(START, "old")
    store.set(f"{START}/old/1/answer", "of a rank before")
    with pytest.raises(RuntimeError, match="the first one does not answer"):
        start_name(store, 1, 2)
