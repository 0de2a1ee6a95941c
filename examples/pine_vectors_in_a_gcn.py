"""PINE's vectors, learned without labels, as the input features of a GCN, beside a GCN that learns its own.

python examples/pine_vectors_in_a_gcn.py [--epochs 200]
"""

import argparse

import numpy as np

import pine

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=200)
epochs = parser.parse_args().epochs

data = pine.datasets.load("cora")
seen = np.where(np.random.default_rng(0).random(len(data.labels)) < 0.1, data.labels, -1)
vectors = pine.PINE(epochs=epochs).fit(data.graph).embedding_  # no labels here
for name, graph in (("a table of its own", data.graph), ("PINE's vectors", data.graph.with_features(vectors))):
    gcn = pine.METHODS["gcn"]().fit(graph, seen)
    right = (gcn.predict() == data.labels)[seen < 0].mean()
    print(f"GCN with {name}: accuracy {right:.3f} on hidden papers")
