"""Ranks as torchrun starts them: gloo between processors, NCCL between GPUs, of which each rank takes one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist

from pine.distributed.ranks import ALONE, TIMEOUT, Group, Ranks, shared_among
from pine.errors import InputError
from pine.nn.training import device_of


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
    dist.init_process_group("cpu:gloo,cuda:nccl" if on_gpu else "gloo", timeout=TIMEOUT)
    with shared_among(Group()) as ranks:
        yield ranks
    dist.destroy_process_group()  # after an error the others may not be there to say goodbye
