"""The systems that PINE is compared with, behind the same interface."""

from pine.baselines.deepwalk import DeepWalk
from pine.baselines.gnn.appnp import APPNP
from pine.baselines.gnn.gae import GAE
from pine.baselines.gnn.gat import GAT
from pine.baselines.gnn.gcn import GCN
from pine.baselines.gnn.gcnii import GCNII
from pine.baselines.gnn.grand import GRAND
from pine.baselines.gnn.graphsage import GraphSAGE
from pine.baselines.gnn.logistic_regression import LogisticRegression
from pine.baselines.gnn.mlp import MLP
from pine.baselines.gnn.rgcn import RGCN
from pine.baselines.gnn.sgc import SGC
from pine.baselines.graphwave import GraphWave
from pine.baselines.label_propagation import LabelPropagation
from pine.baselines.link_based import LinkBased
from pine.baselines.metapath2vec import Metapath2Vec
from pine.baselines.mmdw import MMDW
from pine.baselines.node2vec import Node2Vec
from pine.baselines.planetoid import Planetoid
from pine.baselines.struc2vec.struc2vec import Struc2Vec
from pine.baselines.wys import WYS

__all__ = [
    "APPNP",
    "GAE",
    "GAT",
    "GCN",
    "GCNII",
    "GRAND",
    "MLP",
    "MMDW",
    "RGCN",
    "SGC",
    "WYS",
    "DeepWalk",
    "GraphSAGE",
    "GraphWave",
    "LabelPropagation",
    "LinkBased",
    "LogisticRegression",
    "Metapath2Vec",
    "Node2Vec",
    "Planetoid",
    "Struc2Vec",
]
