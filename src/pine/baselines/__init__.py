"""The systems that PINE is compared with, behind the same interface."""

from pine.baselines.deepwalk import DeepWalk
from pine.baselines.gat import GAT
from pine.baselines.gcn import GCN
from pine.baselines.graphsage import GraphSAGE
from pine.baselines.graphwave import GraphWave
from pine.baselines.label_propagation import LabelPropagation
from pine.baselines.struc2vec import Struc2Vec

__all__ = ["GAT", "GCN", "DeepWalk", "GraphSAGE", "GraphWave", "LabelPropagation", "Struc2Vec"]
