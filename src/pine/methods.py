"""Every method by its name."""

from __future__ import annotations

from pathlib import Path

from pine.baselines import (
    APPNP,
    GAE,
    GAT,
    GCN,
    GCNII,
    GRAND,
    MLP,
    MMDW,
    RGCN,
    SGC,
    WYS,
    DeepWalk,
    GraphSAGE,
    GraphWave,
    LabelPropagation,
    LinkBased,
    LogisticRegression,
    Metapath2Vec,
    Node2Vec,
    Planetoid,
    Struc2Vec,
)
from pine.embedder import Embedder
from pine.errors import InputError, did_you_mean
from pine.io.runs import read_run
from pine.model import PINE, Propagation


class Methods(dict[str, type[Embedder]]):
    """Methods by name; one that was renamed is found by its former names too, and listed once."""

    def __missing__(self, name: str) -> type[Embedder]:
        for method in self.values():
            if name in method.former_names:
                return method
        raise KeyError(name)


METHODS = Methods(
    {
        "pine": PINE,
        "propagation": Propagation,
        "label-propagation": LabelPropagation,
        "link-based": LinkBased,
        "deepwalk": DeepWalk,
        "node2vec": Node2Vec,
        "struc2vec": Struc2Vec,
        "graphwave": GraphWave,
        "wys": WYS,
        "mmdw": MMDW,
        "planetoid": Planetoid,
        "gae": GAE,
        "gcn": GCN,
        "gat": GAT,
        "graphsage": GraphSAGE,
        "logistic-regression": LogisticRegression,
        "mlp": MLP,
        "sgc": SGC,
        "appnp": APPNP,
        "gcnii": GCNII,
        "grand": GRAND,
        "rgcn": RGCN,
        "metapath2vec": Metapath2Vec,
    }
)


def method_class(name: str) -> type[Embedder]:
    """The class of a method given by name."""
    try:
        return METHODS[name]
    except KeyError:
        raise InputError(f"unknown method {name!r}; {did_you_mean(name, METHODS)}") from None


def load_run(folder: str | Path) -> Embedder:
    """Read a saved run of any method."""
    return method_class(read_run(Path(folder)).method).load(folder)
