"""The systems that PINE is compared with, behind the same interface."""

from pine.baselines.deepwalk import DeepWalk
from pine.baselines.gnn.gat import GAT
from pine.baselines.gnn.gcn import GCN
from pine.baselines.gnn.graphsage import GraphSAGE
from pine.baselines.graphwave import GraphWave
from pine.baselines.label_propagation import LabelPropagation
from pine.baselines.metapath2vec import Metapath2Vec
from pine.baselines.mmdw import MMDW
from pine.baselines.node2vec import Node2Vec
from pine.baselines.planetoid import Planetoid
from pine.baselines.struc2vec.struc2vec import Struc2Vec
from pine.baselines.wys import WYS

__all__ = [
    "GAT",
    "GCN",
    "MMDW",
    "WYS",
    "DeepWalk",
    "GraphSAGE",
    "GraphWave",
    "LabelPropagation",
    "Metapath2Vec",
    "Node2Vec",
    "Planetoid",
    "Struc2Vec",
]
