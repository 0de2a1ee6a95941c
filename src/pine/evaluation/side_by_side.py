"""Scores of a method on many splits, whose fits run side by side on a GPU: graph networks (pine.baselines.gnn.replicas)
and Planetoid.

The reference is `pine.evaluation.run.scored`: the same splits, labels, seeds, shares and metrics, one fit at a time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.baselines.gnn import replicas as gnn
from pine.baselines.gnn.method import GNN
from pine.baselines.planetoid import Planetoid
from pine.baselines.planetoid import replicas as planetoid
from pine.baselines.replica import Replica, ReplicaFit
from pine.datasets import Dataset
from pine.embedder import Embedder
from pine.errors import InputError
from pine.evaluation.label_share import labels_to_predict_from, predict_with_share
from pine.evaluation.protocol import Part, Split
from pine.evaluation.run import only, scored, seen_by, with_inputs
from pine.evaluation.variants import Variant
from pine.graph import Graph
from pine.labels import Labels
from pine.metrics import scores_of
from pine.nn.training import device_of
from pine.propagation import smooth_scores

DEVICES = ("cuda",)  # those that one fit leaves idle


def runs_side_by_side(variant: Variant) -> bool:
    """Whether fits of a variant, with its device, are made together; on a CPU single fits are as fast."""
    known = variant.method is Planetoid or gnn.has_replicas(variant.method)
    return known and device_of(variant.settings.get("device", "auto")).type in DEVICES


def scored_side_by_side(
    data: Dataset, labels: Labels, variant: Variant, wanted: Sequence[tuple[Part, int]]
) -> Iterator[tuple[dict[str, float] | None, float]]:
    """The scores (None: training diverged) and seconds of a variant on parts with seeds, in order, batch by batch.

    Seconds are a fit's share of those of its batch. Vectors that are a variant's features serve one seed: parts then
    have it in common. Fits that cannot run side by side are made one at a time.
    """
    if variant.on and len({seed for _, seed in wanted}) > 1:
        raise InputError(f"{variant.name}: its features are made for one seed, got parts with several")
    graph, truth, splits = seen_by(variant, data, labels, [part for part, _ in wanted])
    start = time.perf_counter()
    graph = with_inputs(variant, graph, wanted[0][1])
    inputs = time.perf_counter() - start
    if not _can_replicate(variant.method, graph, truth):
        for part, seed in wanted:
            for _, _, scores, seconds in scored(data, labels, {part: [variant]}, seed):
                yield scores, seconds
        return
    asked = [_replicas(variant, truth, splits[part], seed) for part, seed in wanted]
    fits = _fits(variant.new(0), graph, [each for some in asked for each in some])
    for (part, seed), some in zip(wanted, asked, strict=True):
        own = [next(fits) for _ in some]
        if any(fit.diverged for fit in own):
            yield None, sum(fit.seconds for fit in own)
            continue
        start = time.perf_counter()
        predicted = _predicted(variant, graph, truth, splits[part], seed, some[-1], own)
        scores = scores_of(truth, splits[part].test, predicted)
        yield scores, inputs + sum(fit.seconds for fit in own) + time.perf_counter() - start


def _can_replicate(method: type[Embedder], graph: Graph, labels: Labels) -> bool:
    return labels.task in Planetoid.tasks if method is Planetoid else gnn.can_replicate(method, graph, labels)


def _fits(method: Embedder, graph: Graph, replicas: Sequence[Replica]) -> Iterator[ReplicaFit]:
    if isinstance(method, Planetoid):
        return planetoid.fit_replicas(method, graph, replicas)
    assert isinstance(method, GNN)
    return gnn.fit_replicas(method, graph, replicas)


def _replicas(variant: Variant, labels: Labels, nodes: Split, seed: int) -> list[Replica]:
    """The fits that a part needs: without each of the held-out parts, if a share is chosen, and with all labels."""
    visible = only(labels, nodes.visible)
    made = []
    for shown in labels_to_predict_from(visible, seed) if variant.share else [visible]:
        held = np.isin(shown.known, nodes.validation)
        validation = shown.some(held) if held.any() else None
        made.append(Replica(shown.some(~held), seed, validation))
    return made


def _predicted(
    variant: Variant,
    graph: Graph,
    labels: Labels,
    nodes: Split,
    seed: int,
    whole: Replica,
    fits: Sequence[ReplicaFit],
) -> NDArray[Any]:
    """The scores of all classes, with what the variant does beside its fits; whole: the fit with all labels."""
    if variant.share:
        made = iter(fits)
        visible = only(labels, nodes.visible)
        return predict_with_share(graph, visible, lambda shown: next(made).scores, seed)[0]
    scores = fits[-1].scores
    if variant.spread > 0:
        known = whole.labels
        scores = smooth_scores(graph, labels.type, scores, known.known, known.targets(), variant.spread)
    return scores
