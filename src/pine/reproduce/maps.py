"""A map: the vectors of test nodes in the plane by t-SNE, with their true and their predicted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.datasets import Dataset
from pine.embedder import Embedder
from pine.evaluation.protocol import Part, hide
from pine.labels import Labels
from pine.plots import in_the_plane

NEAR = 10  # neighbors in the map


def map_of(model: Embedder, data: Dataset, labels: Labels, part: Part) -> dict[str, Any]:
    """Fit a method and lay its vectors out: x, y, true and predicted class of every test node, and how pure it is."""
    nodes = part.split(data.name, labels.known)
    seen = hide(labels, nodes.train, data.graph.num_nodes)
    predicted = model.fit(data.graph, seen).predict()[nodes.test]
    truth = labels.values[np.searchsorted(labels.known, nodes.test)]
    places = in_the_plane(model.embedding_[nodes.test])
    return {
        "x": np.round(places[:, 0], 2).tolist(),
        "y": np.round(places[:, 1], 2).tolist(),
        "true": truth.tolist(),
        "predicted": np.asarray(predicted, np.int64).tolist(),
    }


def purity(places: NDArray[np.float64], classes: NDArray[np.int64]) -> float:
    """The share of a node's nearest nodes in the plane that are of its class, averaged over the nodes."""
    from sklearn.neighbors import NearestNeighbors

    count = min(NEAR, len(places) - 1)
    near = NearestNeighbors(n_neighbors=count).fit(places).kneighbors(return_distance=False)
    return float((classes[near] == classes[:, None]).mean())


def by_chance(classes: NDArray[np.int64]) -> float:
    """The purity of a map without order."""
    share = np.bincount(classes) / len(classes)
    return float(np.square(share).sum())
