"""Vectors in two dimensions: t-SNE while there are few, their principal axes when there are many, or UMAP if asked.

Rows are scaled to length 1 first: what is near on the map is near in cosine, as `pine neighbors` has it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import number_of_threads
from pine.errors import InputError
from pine.plots import in_the_plane, principal_plane
from pine.similarity import unit_rows

MOST_TSNE = 20_000  # nodes
FEWEST_TSNE = 5  # below it there is nothing to embed
TSNE_SECONDS = 8e-3  # a node on one core


def default_layout(num_nodes: int) -> str:
    """The layout for so many nodes."""
    return "tsne" if FEWEST_TSNE <= num_nodes <= MOST_TSNE else "pca"


def seconds_needed(layout: str, num_nodes: int) -> float:
    """A rough estimate, for people who wait."""
    return TSNE_SECONDS * num_nodes / number_of_threads(None) if layout == "tsne" else 1e-6 * num_nodes


def lay_out(vectors: NDArray[np.float32], layout: str) -> NDArray[np.float32]:
    """Points of vectors (num_nodes, dim) between -1 and 1: (num_nodes, 2), the aspect ratio kept."""
    unit = unit_rows(vectors)
    different = len(unit) >= FEWEST_TSNE and bool((unit != unit[:1]).any())
    points = LAYOUTS[layout](unit) if different else _principal(unit)
    finite = np.nan_to_num(np.asarray(points, np.float64), posinf=0, neginf=0)
    low, high = finite.min(axis=0, initial=np.inf), finite.max(axis=0, initial=-np.inf)
    reach = float((high - low).max()) / 2 or 1.0
    return np.asarray((finite - (low + high) / 2) / reach, np.float32)


def check_layout(layout: str) -> None:
    """Raise before anything is computed if a layout needs a package that is not there."""
    if layout == "umap":
        _umap()


def _principal(unit: NDArray[np.float32]) -> NDArray[np.float64]:
    plane = principal_plane(unit)
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))  # vectors of one number have one axis


def _tsne(unit: NDArray[np.float32]) -> NDArray[np.float64]:
    # Vectors of one number have no second axis to begin from.
    return in_the_plane(unit if unit.shape[1] > 1 else np.pad(unit, ((0, 0), (0, 1))))


def _by_umap(unit: NDArray[np.float32]) -> NDArray[np.float64]:
    reducer = _umap()(n_neighbors=min(15, len(unit) - 1), metric="cosine", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed means one thread
        return np.asarray(reducer.fit_transform(unit), np.float64)


def _umap() -> Any:
    try:
        from umap import UMAP
    except ImportError:
        raise InputError("--map umap needs umap-learn: pip install 'pine-embedding[umap]'") from None
    return UMAP


LAYOUTS: dict[str, Callable[[NDArray[np.float32]], NDArray[np.float64]]] = {
    "tsne": _tsne,
    "pca": _principal,
    "umap": _by_umap,
}
LAYOUT_NAMES = {"tsne": "t-SNE", "pca": "principal axes", "umap": "UMAP"}
