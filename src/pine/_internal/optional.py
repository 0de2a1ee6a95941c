"""Packages that only some methods need."""

from __future__ import annotations

from importlib.util import find_spec

from pine.errors import InputError


def need_pyg(name: str) -> None:
    """Say how to get PyTorch Geometric where it is missing."""
    if find_spec("torch_geometric") is None:
        raise InputError(f"{name} needs PyTorch Geometric: pip install 'pine-embedding[pyg]'")
