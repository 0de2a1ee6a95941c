"""Two PINEConv layers in a plain PyTorch Geometric training script: the papers of Cora by their citations alone.

python examples/pine_conv.py [--epochs 100]
"""

import argparse

import torch
from torch import nn
from torch.nn.functional import cross_entropy, dropout

import pine
from pine.nn import PINEConv

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=100)
epochs = parser.parse_args().epochs

torch.manual_seed(0)
dataset = pine.datasets.load("cora")
edge_index = dataset.graph.to_pyg().edge_index
y = torch.tensor(dataset.labels)
known = torch.rand(len(y)) < 0.5


class Net(nn.Module):
    def __init__(self, num_nodes: int, num_classes: int) -> None:
        super().__init__()
        self.table = nn.Embedding(num_nodes, 64)  # the papers have no features here
        self.first = PINEConv(64, 64, root_weight=False)
        self.second = PINEConv(64, num_classes)

    def forward(self, edge_index: torch.Tensor) -> torch.Tensor:
        x = self.first(dropout(self.table.weight, 0.5, self.training), edge_index)
        return self.second(dropout(x, 0.5, self.training), edge_index)


net = Net(len(y), int(y.max()) + 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
for _ in range(epochs):
    net.train()
    optimizer.zero_grad()
    cross_entropy(net(edge_index)[known], y[known]).backward()
    optimizer.step()
net.eval()
right = net(edge_index).argmax(1) == y
print(f"accuracy on {int((~known).sum())} hidden papers: {right[~known].float().mean():.3f}")
