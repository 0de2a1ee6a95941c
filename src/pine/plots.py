"""Pictures of embeddings: vectors laid out in two dimensions by t-SNE, true classes beside predicted ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.files import atomic_write

# Okabe and Ito's colors but for yellow, which is too light for a line; then some of Paul Tol's, those furthest from all
# before them. Color-blind readers tell them apart as well.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")
TOL = ("#332288", "#999933", "#72190E", "#90C987", "#AA3377", "#BBBBBB", "#225555", "#994F00", "#762A83", "#666633")
COLORS = (*OKABE_ITO, *TOL, "#C2A5CF")
CLASS_COLORS = tuple(color for color in COLORS if color != "#000000")  # black outlines what is wrong
SHAPES = "os^DvP*X"
COLORS_PER_SHAPE = 8  # the first eight classes are circles, the next squares
LEGEND_WIDTH = 112  # letters in a line of the legend, where each symbol takes six
LONGEST_NAME = 80  # letters
MAX_COLUMNS = 8
MOST_NAMED = 24  # groups in the legend of a map
RASTERIZED = 3000  # more points than these are one bitmap in an SVG


def in_the_plane(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Vectors (num_nodes, dim) in two dimensions by t-SNE: (num_nodes, 2)."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, max(1.0, (len(vectors) - 1) / 3))
    points = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(np.asarray(vectors, np.float64))
    return np.asarray(points, np.float64)


def principal_plane(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The directions of vectors (num_nodes, dim) on their two principal axes, in no time: (num_nodes, 2)."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    centered = np.asarray(unit - unit.mean(axis=0), np.float64)
    _, axes = np.linalg.eigh(centered.T @ centered)
    return np.asarray(centered @ axes[:, :-3:-1])


def draw_map(
    path: Path, points: NDArray[np.float64], groups: NDArray[np.int64], names: Sequence[str], title: str
) -> None:
    """Draw nodes at their points (num_nodes, 2), colored by group; many groups have no legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6.5), layout="constrained")
    axes = figure.subplots()
    many, listed = len(points) > RASTERIZED, len(names) <= MOST_NAMED
    for number, name in enumerate(names):
        own = points[groups == number]
        style = _class_style(number) | {"label": _plain_text(_shown(name))}
        axes.scatter(own[:, 0], own[:, 1], s=6 if many else 14, linewidths=0, **style)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(_plain_text(title))
    if listed and len(names) > 1:
        figure.legend(loc="outside right upper", markerscale=1.5, frameon=False)
    with atomic_write(path) as file:
        figure.savefig(file, dpi=120, format=path.suffix.removeprefix("."))


def _plain_text(text: str) -> str:
    """A user's own words: matplotlib reads mathematics between dollars, and hides names that begin with _."""
    return text.replace("$", r"\$").lstrip("_")


def draw_classes(
    path: Path,
    points: NDArray[np.float64],
    truth: NDArray[np.int64],
    predicted: NDArray[np.int64],
    names: Sequence[str],
    title: str,
) -> None:
    """Draw nodes at their points (num_nodes, 2) twice: colored by true and by predicted class; wrong are outlined."""
    from matplotlib.figure import Figure

    names = [_shown(name) for name in names]
    columns = min(len(names), MAX_COLUMNS, LEGEND_WIDTH // (max(map(len, names)) + 6))
    figure = Figure(figsize=(11, 5.7 + 0.22 * -(-len(names) // columns)), layout="constrained")
    wrong, many = truth != predicted, len(points) > RASTERIZED
    size = 0.5 if many else 1.0
    middle, reach = (points.max(0) + points.min(0)) / 2, 0.53 * float(np.ptp(points, axis=0).max()) or 1.0
    low, high = middle - reach, middle + reach
    for axes, classes, heading in zip(
        figure.subplots(1, 2),
        (truth, predicted),
        ("true classes", f"predicted classes (outlined: {wrong.sum():,} wrong of {len(truth):,})"),
        strict=True,
    ):
        for number, name in enumerate(names):
            own = classes == number
            style = _class_style(number) | {"rasterized": many}
            axes.scatter(*points[own].T, s=14 * size, linewidths=0, label=name, **style)
            if classes is predicted:
                _outline(axes, points[own & wrong], size, style)
        axes.set_title(heading)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    key = {"ncols": columns, "markerscale": 2 / size**0.5, "frameon": False}
    figure.legend(handles, labels, loc="outside lower center", **key)
    with atomic_write(path) as file:
        figure.savefig(file, dpi=150, format=path.suffix.removeprefix("."))


def _shown(name: str) -> str:
    """A class name in the legend: words apart, numbers with a word before them, cut where it is long."""
    text = f"class {name}" if name.isdigit() else name.replace("_", " ")
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _outline(axes: Any, points: NDArray[np.float64], size: float, style: dict[str, Any]) -> None:
    """A black ring around each point, with white between, so that it is seen around dark colors as well."""
    ring = style | {"color": None, "facecolors": "white", "edgecolors": "black"}
    axes.scatter(*points.T, s=30 * size, linewidths=0.7 * size, zorder=3, **ring)
    axes.scatter(*points.T, s=12 * size, linewidths=0, zorder=4, **style)


def _class_style(number: int) -> dict[str, Any]:
    """Color and shape of a class: no two classes have both in common."""
    shape = SHAPES[number // COLORS_PER_SHAPE % len(SHAPES)]
    return {"marker": shape, "color": CLASS_COLORS[number % len(CLASS_COLORS)]}
