"""`pine demo`: label propagation, the start and PINE side by side, on the embedded Cora and on a planted graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import pine
from pine._internal.progress import Progress
from pine.cli.progress import progress_bar

# A graph where neighbors' labels alone do not say much: less than half of the edges stay inside a class.
PLANTED: dict[str, Any] = {"num_nodes": 5_000, "classes": 20, "inside": 0.45}
PLANTED_KNOWN = 0.1


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.", metavar="FOLDER")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Which labels are hidden.")] = 0,
) -> None:
    """Predict hidden labels of the embedded Cora and of a planted graph, in three ways; score, and draw.

    Example: pine demo --out pictures
    """
    console = Console()
    with console.status("compiling, on a first run ..."):
        pine.PINE(epochs=1).fit(*pine.datasets.planted_classes(200, classes=4))
    data = pine.datasets.load("cora")
    parts = pine.evaluation.split(data.name, np.arange(data.graph.num_nodes), 0.5, seed)
    console.print(
        f"Cora, {data.graph}: {len(parts.train):,} papers keep their subject ({len(data.label_names)} of them), "
        f"{len(parts.test):,} are hidden and are predicted from the citations alone."
    )
    vectors, predicted = _compare(console, "Cora", data.graph, data.labels, parts.train, seed)

    graph, classes = pine.datasets.planted_classes(**PLANTED, seed=seed)
    known = pine.evaluation.split("planted", np.arange(graph.num_nodes), PLANTED_KNOWN, seed).train
    console.print(
        f"A planted graph, {graph}: {PLANTED['classes']} classes, {PLANTED['inside']:.0%} of edges inside them, "
        f"{len(known):,} labels known."
    )
    _compare(console, "planted", graph, classes, known, seed)

    out.mkdir(parents=True, exist_ok=True)
    path = out / "cora.png"
    with console.status("drawing the papers in two dimensions (t-SNE) ..."):
        places = pine.plots.in_the_plane(vectors[parts.test])
        truth, predicted = data.labels[parts.test], predicted[parts.test]
        pine.plots.draw_classes(path, places, truth, predicted, data.label_names, "Cora, hidden papers")
    console.print(f"The picture: {path}. Your own graph: pine train EDGES --out RUN, then pine explore RUN")


def _compare(
    console: Console, name: str, graph: pine.Graph, classes: NDArray[np.int64], train: NDArray[np.int64], seed: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Print how well and how fast each way finds the classes that are hidden; PINE's vectors and predictions."""
    seen = pine.evaluation.protocol.hide(pine.labels.read_labels(graph, classes), train, graph.num_nodes)
    start, model = pine.model.Propagation(seed=seed), pine.PINE(seed=seed)
    propagation = pine.baselines.LabelPropagation(seed=seed)

    def regression(progress: Progress) -> NDArray[Any]:
        known = pine.labels.read_labels(graph, seen)
        start.fit(graph, progress=progress)
        scores = pine.evaluation.logistic_regression.classify(start.embedding_, known)
        assert known.classes is not None
        found: NDArray[Any] = known.classes[scores.argmax(axis=1)]
        return found

    ways: dict[str, Callable[[Progress], NDArray[Any]]] = {
        "label propagation": lambda progress: propagation.fit(graph, seen, progress=progress).predict(),
        "logistic regression on PINE's start": regression,
        "PINE": lambda progress: model.fit(graph, seen, progress=progress).predict(),
    }
    table = Table("", "accuracy", "seconds")
    for way, predict in ways.items():
        begin = time.perf_counter()
        with progress_bar(Console(stderr=True), f"{name}: {way}") as progress:
            predicted = predict(progress)
        seconds = time.perf_counter() - begin
        right = (predicted == classes)[seen < 0].mean()
        table.add_row(way, f"{right:.3f}", f"{seconds:.1f}")
    console.print(table)
    return model.embedding_, predicted
