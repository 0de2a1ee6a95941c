"""`pine demo`: the embedded Cora, half of its labels hidden, trained, scored and drawn."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import pine
from pine._internal.progress import Progress
from pine.cli.progress import progress_bar


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.", metavar="FOLDER")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Which half of the labels is hidden.")] = 0,
) -> None:
    """Train on the embedded Cora with half of the labels hidden, score, and draw."""
    console = Console()
    data = pine.datasets.load("cora")
    labels = pine.labels.read_labels(data.graph, data.labels)
    parts = pine.evaluation.split(data.name, labels.known, 0.5, seed)
    console.print(f"Cora: {data.graph}, {labels.num_outputs} classes. {len(parts.train):,} papers keep their label,")
    console.print(f"{len(parts.test):,} are hidden and will be predicted from the citations alone.")
    visible = pine.evaluation.protocol.hide(labels, parts.train, data.graph.num_nodes)
    truth = labels.values[parts.test]
    start, model = pine.model.Propagation(seed=seed), pine.PINE(seed=seed)

    def regression(progress: Progress) -> Any:
        """Logistic regression on the vectors that PINE begins with."""
        start.fit(data.graph, progress=progress)
        scores = pine.evaluation.logistic_regression.classify(start.embedding_, known)
        assert known.classes is not None
        return known.classes[scores.argmax(axis=1)]

    known = pine.labels.read_labels(data.graph, visible)
    propagation = pine.baselines.LabelPropagation(seed=seed)
    ways: dict[str, Callable[[Progress], Any]] = {
        "label propagation": lambda progress: propagation.fit(data.graph, visible, progress=progress).predict(),
        "logistic regression on PINE's start": regression,
        "PINE": lambda progress: model.fit(data.graph, visible, progress=progress).predict(),
    }
    for name, predict in ways.items():
        begin = time.perf_counter()
        with progress_bar(Console(stderr=True), name) as progress:
            predicted = predict(progress)[parts.test]
        seconds = time.perf_counter() - begin
        console.print(f"{name}: accuracy {(predicted == truth).mean():.3f} on the hidden papers, {seconds:.1f} s.")
    out.mkdir(parents=True, exist_ok=True)
    path = out / "cora.png"
    with console.status("drawing the papers in two dimensions (t-SNE) ..."):
        places = pine.plots.in_the_plane(model.embedding_[parts.test])
        pine.plots.draw_classes(path, places, truth, predicted, data.label_names, "Cora, hidden papers")
    console.print(f"The picture: {path}")
