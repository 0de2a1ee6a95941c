"""Pictures of embeddings: vectors laid out in two dimensions by t-SNE, true classes beside predicted ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pine.files import atomic_write

# Okabe and Ito's colors, told apart by color-blind readers as well.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000")


def in_the_plane(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Vectors (num_nodes, dim) laid out by t-SNE: (num_nodes, 2)."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, max(1.0, (len(vectors) - 1) / 3))
    places = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(np.asarray(vectors, np.float64))
    return np.asarray(places, np.float64)


def draw_classes(
    path: Path,
    places: NDArray[np.float64],
    truth: NDArray[np.int64],
    predicted: NDArray[np.int64],
    names: Sequence[str],
    title: str,
) -> None:
    """Draw nodes at their places (num_nodes, 2) twice: colored by true and by predicted class; wrong are crossed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.6), layout="constrained")
    wrong = truth != predicted
    for axes, classes, said in zip(
        figure.subplots(1, 2),
        (truth, predicted),
        ("true classes", f"predicted classes (× {wrong.sum():,} wrong of {len(truth):,})"),
        strict=True,
    ):
        for number, name in enumerate(names):
            own = classes == number
            axes.scatter(*places[own].T, s=9, linewidths=0, color=COLORS[number % len(COLORS)], label=name)
        if classes is predicted:
            axes.scatter(*places[wrong].T, s=14, linewidths=0.7, marker="x", color="black")
        axes.set_title(said)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_aspect("equal", "datalim")
    figure.suptitle(title)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(names), 4), markerscale=2, frameon=False)
    with atomic_write(path) as file:
        figure.savefig(file, dpi=150, format=path.suffix.removeprefix("."))
