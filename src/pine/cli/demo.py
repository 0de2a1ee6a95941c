"""The demo: the embedded Cora, half of its labels hidden, trained, scored and drawn."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console

from pine.baselines import LabelPropagation
from pine.cli.progress import progress_bar
from pine.datasets import load
from pine.evaluation.protocol import hide, split
from pine.labels import read_labels
from pine.model import PINE
from pine.plots import draw_classes, in_the_plane

RATIO = 0.5


def run_demo(folder: Path, seed: int) -> None:
    """Train, print the accuracy, and write a picture of true and predicted classes."""
    console = Console()
    data = load("cora")
    labels = read_labels(data.graph, data.labels)
    assert labels is not None
    parts = split(data.name, labels.known, RATIO, seed)
    console.print(f"Cora: {data.graph}, {labels.num_outputs} classes. {len(parts.train):,} papers keep their label,")
    console.print(f"{len(parts.test):,} are hidden and will be predicted from the citations alone.")
    seen = hide(labels, parts.train, data.graph.num_nodes)
    truth = labels.values[parts.test]
    for model in (LabelPropagation(seed=seed), PINE(seed=seed)):
        start = time.perf_counter()
        with progress_bar(Console(stderr=True), model.name) as progress:
            predicted = model.fit(data.graph, seen, progress=progress).predict()[parts.test]
        seconds = time.perf_counter() - start
        console.print(
            f"{model.name}: accuracy {np.mean(predicted == truth):.3f} on the hidden papers, {seconds:.1f} s."
        )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cora.png"
    with console.status("drawing the papers in two dimensions (t-SNE) ..."):
        places = in_the_plane(model.embedding_[parts.test])
        draw_classes(path, places, truth, predicted, data.label_names, "Cora, hidden papers")
    console.print(f"The picture: {path}")
