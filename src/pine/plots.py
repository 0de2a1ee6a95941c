"""Pictures of embeddings: vectors laid out in two dimensions by t-SNE, true classes beside predicted ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pine._internal.files import atomic_write

# Okabe and Ito's colors, told apart by color-blind readers as well.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000")
SHAPES = "os^DvP*X"  # the first eight classes are circles, the next squares
LEGEND_WIDTH = 112  # letters in a line of the legend, where each symbol takes six
LONGEST_NAME = 80  # letters
RASTERIZED = 3000  # more points than these are one bitmap in an SVG


def in_the_plane(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Vectors (num_nodes, dim) in two dimensions by t-SNE: (num_nodes, 2)."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, max(1.0, (len(vectors) - 1) / 3))
    points = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(np.asarray(vectors, np.float64))
    return np.asarray(points, np.float64)


def draw_classes(
    path: Path,
    points: NDArray[np.float64],
    truth: NDArray[np.int64],
    predicted: NDArray[np.int64],
    names: Sequence[str],
    title: str,
) -> None:
    """Draw nodes at their points (num_nodes, 2) twice: colored by true and by predicted class; wrong are crossed."""
    from matplotlib.figure import Figure

    names = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in names]
    columns = min(len(names), len(COLORS), LEGEND_WIDTH // (max(map(len, names)) + 6))
    figure = Figure(figsize=(11, 5.7 + 0.22 * -(-len(names) // columns)), layout="constrained")
    wrong, many = truth != predicted, len(points) > RASTERIZED
    middle, reach = (points.max(0) + points.min(0)) / 2, 0.53 * float(np.ptp(points, axis=0).max()) or 1.0
    low, high = middle - reach, middle + reach
    for axes, classes, heading in zip(
        figure.subplots(1, 2),
        (truth, predicted),
        ("true classes", f"predicted classes (× {wrong.sum():,} wrong of {len(truth):,})"),
        strict=True,
    ):
        for number, name in enumerate(names):
            own = classes == number
            shape = SHAPES[number // len(COLORS) % len(SHAPES)]
            color = COLORS[number % len(COLORS)]
            axes.scatter(*points[own].T, s=10, linewidths=0, marker=shape, color=color, label=name, rasterized=many)
        if classes is predicted:
            axes.scatter(*points[wrong].T, s=9, linewidths=0.5, marker="x", color="black", rasterized=many)
        axes.set_title(heading)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    figure.suptitle(title)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, markerscale=2, frameon=False)
    with atomic_write(path) as file:
        figure.savefig(file, dpi=150, format=path.suffix.removeprefix("."))
