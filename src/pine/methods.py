"""Every method by its name."""

from __future__ import annotations

from pathlib import Path

from pine import baselines
from pine.embedder import Embedder
from pine.errors import InputError, listed
from pine.io.runs import read_run
from pine.model import PINE, StructuralStart

METHODS: dict[str, type[Embedder]] = {
    "pine": PINE,
    "start": StructuralStart,
    "label-propagation": baselines.LabelPropagation,
    "deepwalk": baselines.DeepWalk,
    "node2vec": baselines.Node2Vec,
    "struc2vec": baselines.Struc2Vec,
    "graphwave": baselines.GraphWave,
    "wys": baselines.WYS,
    "mmdw": baselines.MMDW,
    "planetoid": baselines.Planetoid,
    "gcn": baselines.GCN,
    "gat": baselines.GAT,
    "graphsage": baselines.GraphSAGE,
    "metapath2vec": baselines.Metapath2Vec,
}


def method_class(name: str) -> type[Embedder]:
    """The class of a method given by name."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}; there are {listed(METHODS, 20)}")
    return METHODS[name]


def load_run(folder: str | Path) -> Embedder:
    """Read a saved run of any method."""
    return method_class(read_run(Path(folder)).method).load(folder)
