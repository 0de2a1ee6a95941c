"""The network of GCN and its training, on torch and PyTorch Geometric."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from pine.baselines.neural import Goal
from pine.embedder import Fitted
from pine.errors import InputError
from pine.graph import Graph
from pine.graph.csr import CSR, build_csr
from pine.labels import Labels
from pine.nn import Neighbors, neighbor_sum
from pine.nn.device import device_of
from pine.nn.dropout import dropped

if TYPE_CHECKING:
    from pine.baselines.gcn import GCN


def learn(model: GCN, graph: Graph, labels: Labels, rng: np.random.Generator) -> Fitted:
    """Train on the known labels, and read the hidden layer and the scores of all nodes."""
    device = device_of(model.device)
    seeds = rng.integers(2**62, size=2)
    torch.default_generator.manual_seed(int(seeds[0]))  # the layers of PyG draw from it; the caller restores it
    generator = torch.Generator(device).manual_seed(int(seeds[1]))
    goal = Goal.of(graph, labels, device)
    adjacency = normalized(graph)
    neighbors = Neighbors.of(adjacency, device=device, threads=model.threads)
    network = Network(graph, neighbors, model.dim, goal.num_outputs, model.dropout).to(device)
    matrix = as_tensor(adjacency, device)
    first, rest = network.inputs.parameters(), [*network.hidden.parameters(), *network.output.parameters()]
    groups: list[dict[str, Any]] = [{"params": list(first), "weight_decay": model.weight_decay}, {"params": rest}]
    optimizer = torch.optim.Adam(groups, lr=model.learning_rate, fused=True)
    for _ in range(model.epochs):
        optimizer.zero_grad(set_to_none=True)
        goal.loss(network(matrix, generator)[1]).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        hidden, outputs = network(matrix)
    vectors, scores = hidden.cpu().numpy(), goal.scores(outputs)
    if not (np.isfinite(vectors).all() and np.isfinite(scores).all()):
        raise InputError("training diverged; lower learning_rate, or scale the features down")
    return Fitted(vectors, scores)


class Network(nn.Module):
    """hidden = relu(S X W_1 + b_1), outputs = S hidden W_2 + b_2, with dropout on X and on hidden while training."""

    def __init__(self, graph: Graph, neighbors: Neighbors, dim: int, num_outputs: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.inputs = Inputs(graph, dim)
        self.hidden = Layer(dim, dim, neighbors)
        self.hidden.lin = nn.Identity()  # it is given X W_1
        self.output = Layer(dim, num_outputs, neighbors)

    def forward(self, matrix: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """(num_nodes, dim) and (num_nodes, num_outputs); with a generator, entries are dropped."""
        share = self.dropout if generator is not None else 0.0
        hidden = self.hidden(self.inputs(share, generator), matrix).relu()
        seen = hidden if generator is None else dropped(hidden, share, generator)
        return hidden, self.output(seen, matrix)


class Inputs(nn.Module):
    """X W_1: (num_nodes, dim). X has a block for each node type: its attributes, or the identity if it has none."""

    def __init__(self, graph: Graph, dim: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList()
        for type in graph.node_types:
            if type not in graph.features:
                self.blocks.append(Identity(graph.count(type), dim))
                continue
            features = shares(graph.features[type])
            self.blocks.append(Sparse(features, dim) if sp.issparse(features) else Dense(features, dim))

    def forward(self, share: float, generator: torch.Generator | None) -> Tensor:
        return torch.cat([block(share, generator) for block in self.blocks])


class Block(nn.Module):
    """A block of X times its rows of W_1, with a share of the entries of X dropped."""

    def __init__(self, width: int, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, dim)))


class Identity(Block):
    """Dropping entries of the identity drops rows of W_1."""

    def forward(self, share: float, generator: torch.Generator | None) -> Tensor:
        if generator is None:
            return self.weight
        ones = self.weight.new_ones(len(self.weight), 1)
        return self.weight * dropped(ones, share, generator)


class Dense(Block):
    features: Tensor

    def __init__(self, features: Any, dim: int) -> None:
        super().__init__(features.shape[1], dim)
        self.register_buffer("features", torch.tensor(features))

    def forward(self, share: float, generator: torch.Generator | None) -> Tensor:
        features = self.features if generator is None else dropped(self.features, share, generator)
        return features @ self.weight


class Sparse(Block):
    """A row of X W is the sum of the rows of W that X names, weighted: a bag. Zeros need no dropping."""

    indptr: Tensor
    indices: Tensor
    data: Tensor

    def __init__(self, features: Any, dim: int) -> None:
        super().__init__(features.shape[1], dim)
        for name in ("indptr", "indices", "data"):
            array = getattr(features, name)
            self.register_buffer(name, torch.tensor(array if name == "data" else array.astype(np.int64)))

    def forward(self, share: float, generator: torch.Generator | None) -> Tensor:
        data = self.data if generator is None else dropped(self.data, share, generator)
        return functional.embedding_bag(
            self.indices, self.weight, self.indptr, mode="sum", per_sample_weights=data, include_last_offset=True
        )


def shares(features: Any) -> Any:
    """Rows that sum to 1, as its authors' code makes them of counts of words; other features stay as they are."""
    entries = features.data if sp.issparse(features) else features
    if (entries < 0).any():
        return features
    total = np.asarray(features.sum(axis=1, dtype=np.float64)).ravel()
    scale = (1 / np.where(total > 0, total, 1)).astype(np.float32)
    return sp.csr_array(sp.diags_array(scale) @ features) if sp.issparse(features) else features * scale[:, None]


class Layer(GCNConv):  # type: ignore[misc]
    """PyG's layer with the sum over neighbors of pine.nn, which has the same bits in every run, also on a GPU.

    PyG asks for the product with a sparse matrix here; torch's own gives other bits from run to run on a GPU, and its
    gradient sorts the matrix anew in every step.
    """

    def __init__(self, width: int, num_outputs: int, neighbors: Neighbors) -> None:
        super().__init__(width, num_outputs, normalize=False)
        self.neighbors = neighbors

    def message_and_aggregate(self, adj_t: Tensor, x: Tensor) -> Tensor:
        return neighbor_sum(x, self.neighbors)


def normalized(graph: Graph) -> CSR:
    """S by PyG's own normalization; directed edges go both ways."""
    csr = graph.links()
    edges = torch.tensor(np.stack([csr.indices, csr.rows()]).astype(np.int64))
    weights = torch.ones(csr.nnz) if csr.weights is None else torch.tensor(csr.weights)
    (source, target), values = gcn_norm(edges, weights, graph.num_nodes)
    size = (graph.num_nodes, graph.num_nodes)
    return build_csr(target.numpy(), source.numpy(), values.numpy(), size, duplicates="sum")


def as_tensor(csr: CSR, device: torch.device) -> Tensor:
    """A sparse matrix of torch, as PyG's layers take it."""
    assert csr.weights is not None
    indptr, indices, weights = (torch.tensor(array, device=device) for array in (csr.indptr, csr.indices, csr.weights))
    size = (csr.num_rows, csr.num_columns)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse")  # that they are in beta state, and not checked
        return torch.sparse_csr_tensor(indptr, indices.to(indptr.dtype), weights, size, check_invariants=False)
