"""HeteroData with three node types: PINE without any metapath, and PINEConv inside HeteroConv.

python examples/three_node_types.py [--epochs 300]
"""

import argparse

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv

import pine
from pine.nn import PINEConv

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=300)
epochs = parser.parse_args().epochs

rng = np.random.default_rng(0)
field = {kind: rng.integers(3, size=count) for kind, count in {"author": 300, "paper": 600, "venue": 30}.items()}


def links(source: str, target: str, count: int) -> torch.Tensor:
    """Edges, four of five within one field."""
    ends = np.stack([rng.integers(len(field[kind]), size=5 * count) for kind in (source, target)])
    same = field[source][ends[0]] == field[target][ends[1]]
    return torch.tensor(ends[:, same | (rng.random(5 * count) < 0.1)][:, :count])


data = HeteroData()
for kind, own in field.items():
    data[kind].num_nodes = len(own)
data["author", "writes", "paper"].edge_index = links("author", "paper", 1500)
data["paper", "cites", "paper"].edge_index = links("paper", "paper", 1500)
data["paper", "appears_in", "venue"].edge_index = links("paper", "venue", 600)

known = rng.random(len(field["author"])) < 0.2
graph = pine.Graph.from_pyg(data)
model = pine.PINE(dim=16, epochs=epochs).fit(graph, {"author": np.where(known, field["author"], -1)})
right = model.predict() == field["author"]
print(f"PINE on {graph}: accuracy {right[~known].mean():.3f} on hidden authors")
print("vectors:", {kind: vectors.shape for kind, vectors in model.embedding_.items()})

# The same vectors inside a network of PyTorch Geometric.
x = {kind: torch.tensor(vectors) for kind, vectors in model.embedding_.items()}
data["paper", "written_by", "author"].edge_index = data["author", "writes", "paper"].edge_index.flip([0])
torch.manual_seed(0)
conv = HeteroConv({kind: PINEConv((16, 16), 3) for kind in data.edge_types})
optimizer = torch.optim.Adam(conv.parameters(), lr=0.01)
y, seen = torch.tensor(field["author"]), torch.tensor(known)
for _ in range(50):
    optimizer.zero_grad()
    cross_entropy(conv(x, data.edge_index_dict)["author"][seen], y[seen]).backward()
    optimizer.step()
right = (conv(x, data.edge_index_dict)["author"].argmax(1) == y)[~seen]
print(f"PINEConv in HeteroConv: accuracy {right.float().mean():.3f}")
