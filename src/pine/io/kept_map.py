"""The map of a run's vectors, kept in its folder: points, how they were made, and a sum of the vectors they are of.

It is no part of what was trained: a map that is damaged, or of other vectors, counts as none, and is made anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from pine._internal.files import atomic_write, half_written
from pine.io.run_folder import KEPT_MAP, found_run
from pine.io.runs import UNREADABLE_RUN, array_sum

LONGEST_LAYOUT_NAME = 20  # letters


@dataclass(frozen=True, eq=False)
class KeptMap:
    """Points (num_nodes, 2) of float32, and the layout that made them: tsne, pca or umap."""

    points: NDArray[np.float32]
    layout: str


def read_map(folder: Path, vectors: NDArray[np.float32]) -> KeptMap | None:
    """The map that is kept of these vectors, if there is one and it is whole."""
    try:
        with safe_open(found_run(folder) / KEPT_MAP, framework="np") as file:
            about = file.metadata() or {}
            points = np.asarray(file.get_tensor("points"))
        layout = about["layout"][:LONGEST_LAYOUT_NAME]
        whole = about["vectors"] == array_sum(vectors) and about["points"] == array_sum(points)
    except UNREADABLE_RUN:
        return None
    fits = points.shape == (len(vectors), 2) and points.dtype == np.float32
    return KeptMap(points, layout) if whole and fits and bool(np.isfinite(points).all()) else None


def write_map(folder: Path, vectors: NDArray[np.float32], made: KeptMap) -> None:
    """Keep a map in a run's folder, whole or not at all; one that is there is replaced."""
    path = found_run(folder) / KEPT_MAP
    points = np.ascontiguousarray(made.points, np.float32)
    about = {"layout": made.layout, "vectors": array_sum(vectors), "points": array_sum(points)}
    for left in half_written(path):
        left.unlink(missing_ok=True)
    with atomic_write(path) as file:
        file.write(save({"points": points}, about))
