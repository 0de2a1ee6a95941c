"""Ranks as torchrun starts them: gloo between processors, NCCL between GPUs, of which each rank takes one."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from pine.distributed.ranks import ALONE, TIMEOUT, Group, Ranks, RanksError, shared_among
from pine.errors import InputError, shortened
from pine.nn.training import device_of

START, ANSWER = "pine/start", timedelta(seconds=1)  # a key, and how long to wait for an answer by a name


@contextmanager
def ranks_of_torchrun(device: str) -> Iterator[Ranks]:
    """What is fitted inside is shared by the ranks that torchrun has started; ALONE where it has not.

    device: as settings name it.
    """
    if not dist.is_torchelastic_launched():
        yield ALONE
        return
    on_gpu = device_of(device).type == "cuda"
    if on_gpu:
        here, gpus = int(os.environ["LOCAL_WORLD_SIZE"]), torch.cuda.device_count()
        if here > gpus:
            raise InputError(f"{here} ranks on a machine with {gpus} GPUs: start fewer, or use --device cpu")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    try:
        store, rank, size = next(rendezvous("env://", timeout=TIMEOUT))
        started = dist.distributed_c10d.PrefixStore(start_name(store, rank, size), store)
        backend = "cpu:gloo,cuda:nccl" if on_gpu else "gloo"
        dist.init_process_group(backend, store=started, rank=rank, world_size=size, timeout=TIMEOUT)
    except (RuntimeError, ValueError) as problem:
        reason = shortened(str(problem).partition("\n")[0])
        raise RanksError(f"the ranks did not meet within {TIMEOUT.seconds} s ({reason}); start all of them") from None
    with shared_among(Group()) as ranks:
        yield ranks
    dist.destroy_process_group()  # after an error the others may not be there to say goodbye


def start_name(store: Any, rank: int, size: int) -> str:
    """A name that the ranks of one start have in common, and no others.

    torchrun starts ranks again with the store of those before them (torch 2.13), which has the addresses of the dead.
    So the first rank makes a name up, and answers whoever calls by it; one that read an old name gets no answer.
    """
    if rank == 0:
        name: str = uuid.uuid4().hex
        store.set(START, name)
        for other in range(1, size):
            call = f"{START}/{name}/{other}"
            store.set(f"{call}/answer", store.get(call))
        return name
    mine, until = uuid.uuid4().hex, time.monotonic() + TIMEOUT.total_seconds()
    while time.monotonic() < until:
        name = store.get(START).decode()
        call = f"{START}/{name}/{rank}"
        store.set(call, mine)
        with suppress(dist.DistStoreError):
            store.wait([f"{call}/answer"], ANSWER)
            if store.get(f"{call}/answer").decode() == mine:  # not one that a rank before this one got
                return name
        time.sleep(0.01)
    raise RuntimeError("the first one does not answer")
