"""Functions run on several ranks of gloo: processes of this machine, forked from one that has imported all."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from pine.distributed.ranks import Group, shared_among

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["pine.model", "pine.datasets", "torch.distributed"])


def on_ranks(size: int, function: Callable[..., Any], *given: Any) -> list[Any]:
    """What a function of a module gives on each rank, inside of shared_among."""
    with tempfile.TemporaryDirectory() as folder:
        results = CONTEXT.Queue()
        ranks = [
            CONTEXT.Process(target=_run, args=(rank, size, folder, results, function, given)) for rank in range(size)
        ]
        for each in ranks:
            each.start()
        found = dict(results.get(timeout=120) for _ in ranks)
        for each in ranks:
            each.join()
    for made in found.values():
        if isinstance(made, BaseException):
            raise made
    return [found[rank] for rank in range(size)]


def _run(rank: int, size: int, folder: str, results: Any, function: Callable[..., Any], given: Any) -> None:
    torch.set_num_threads(1)
    store = (Path(folder) / "store").as_uri()
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=size, timeout=timedelta(seconds=60))
    try:
        with shared_among(Group()):
            results.put((rank, function(*given)))
    except BaseException as problem:
        results.put((rank, problem))
    finally:
        dist.destroy_process_group()
