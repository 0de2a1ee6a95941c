"""Scores of methods over ratios and repeats of a data set; a method sees the labels of training nodes alone."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pine.datasets import Dataset
from pine.embedder import Embedder
from pine.errors import InputError, listed
from pine.evaluation.batched_regression import classify_all
from pine.evaluation.label_share import predict_with_share
from pine.evaluation.logistic_regression import classify
from pine.evaluation.protocol import Part, Ratio, Split, hide
from pine.evaluation.results import Key, Result
from pine.evaluation.variants import Variant, sharing_fits, variants_of
from pine.graph import EDGE, NODE, Graph
from pine.graph.ids.node_ids import ids_from
from pine.graph.nodes import Nodes
from pine.labels import Labels, read_labels
from pine.methods import method_class
from pine.metrics import scores_of
from pine.nn.training import device_of


def evaluate(
    data: Dataset,
    methods: Mapping[str, type[Embedder]] | Sequence[str | Variant],
    ratios: Sequence[Ratio],
    repeats: int,
    done: Container[Key] = (),
    features: bool = False,
    task: str = "auto",
) -> Iterator[Result]:
    """Fit and score every method at every ratio and repeat, but for those done; the repeat is the method's seed too.

    methods: {name: class}, or specs such as "pine:lam=inf" (pine.evaluation.variants). A method with a classifier of
    its own is scored by its predictions; of any other the vectors, made once a repeat, are scored by logistic
    regression. Variants that differ in their predictions only share a fit, and its seconds. ratios: shares of the
    labeled nodes, or "public", the split that the data set comes with. features: whether methods get the node features
    of the data set too; the paper mutes them. task: what the labels are, as fit takes it.
    """
    if data.labels is None:
        raise InputError(f"{data.name} has no labels to score on")
    labels = read_labels(data.graph, data.labels, task)
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, got {repeats}")
    if features:
        data = replace(data, graph=data.with_features())
    variants = variants_of(methods)
    for variant in variants:
        check_fits(variant, data, labels)
    for ratio in ratios:
        Part(ratio, 0).split(data.name, labels.known, data.splits)  # refused now rather than half-way
    return _runs(data, labels, variants, ratios, repeats, done)


def check_fits(variant: Variant, data: Dataset, labels: Labels) -> None:
    """Raise unless a method can learn the labels of a data set."""
    tasks = variant.method.tasks
    if not variant.predicts and labels.task == "numbers":
        raise InputError(f"{variant.name} gives vectors alone, and logistic regression on them predicts no numbers")
    if variant.predicts and labels.task not in tasks:
        raise InputError(f"{variant.name} learns {listed(tasks)}; the labels of {data.name} are {labels.task!r}")
    if variant.method.needs_features and labels.type not in data.graph.features:
        raise InputError(
            f"{variant.name} learns from node features, and gets none here; add --features, or features=True in Python"
        )
    if not variant.types and len(data.graph.node_types) == 1:
        raise InputError(f"{variant.name}: {data.name} has one node type already; leave types=off out")
    if not variant.types and data.graph.features:
        raise InputError(f"{variant.name}: features differ from type to type; leave types=off or features out")


def _runs(
    data: Dataset,
    labels: Labels,
    variants: Sequence[Variant],
    ratios: Sequence[Ratio],
    repeats: int,
    done: Container[Key],
) -> Iterator[Result]:
    features = bool(data.graph.features)
    for group in sharing_fits(variants):
        for repeat in range(repeats):
            left = {ratio: [v for v in group if (v.name, ratio, repeat, features) not in done] for ratio in ratios}
            wanted = {Part(ratio, repeat): variants for ratio, variants in left.items() if variants}
            for part, variant, scores, seconds in scored(data, labels, wanted, seed=repeat):
                yield Result(data.name, variant.name, part.ratio, repeat, scores, seconds, features)


Wanted = Mapping[Part, Sequence[Variant]]  # the variants to score on each part; one fit serves all of them


def scored(
    data: Dataset, labels: Labels, wanted: Wanted, seed: int, device: str = "cpu"
) -> Iterator[tuple[Part, Variant, dict[str, float], float]]:
    """Parts, variants, their scores and seconds; vectors that no label enters are made once for all parts.

    device: where logistic regressions are solved; on a GPU those of all parts at once.
    """
    some = next((variant for variants in wanted.values() for variant in variants), None)
    if some is None:
        return
    graph, truth, splits = seen_by(some, data, labels, list(wanted))
    start = time.perf_counter()
    graph = with_inputs(some, graph, seed)
    inputs = time.perf_counter() - start
    if some.predicts:
        predicted = _by_predictions(graph, truth, wanted, splits, seed)
    else:
        predicted = _by_regression(graph, truth, wanted, splits, seed, device_of(device))
    for part, variant, scores, seconds in predicted:
        yield part, variant, scores_of(truth, splits[part].test, scores), inputs + seconds


def seen_by(
    variant: Variant, data: Dataset, labels: Labels, parts: Sequence[Part]
) -> tuple[Graph, Labels, dict[Part, Split]]:
    """The graph, labels and splits of a data set, with its types or without, as a variant has it."""
    splits = {part: part.split(data.name, labels.known, data.splits) for part in parts}
    if variant.types:
        return data.graph, labels, splits
    start = data.graph.nodes.slice(labels.type).start
    return *untyped(data.graph, labels), {part: each.shifted(start) for part, each in splits.items()}


def with_inputs(variant: Variant, graph: Graph, seed: int) -> Graph:
    """With the vectors of another method as features, where a variant has one."""
    if not variant.on:
        return graph
    return graph.with_features(method_class(variant.on)().set_params(seed=seed).fit(graph).embedding_)


_Predicted = Iterator[tuple[Part, Variant, NDArray[Any], float]]  # with scores of all classes


def _by_predictions(
    graph: Graph, labels: Labels, wanted: Wanted, splits: Mapping[Part, Split], seed: int
) -> _Predicted:
    for part, variants in wanted.items():
        nodes = splits[part]

        def fitted(shown: Labels, some: Variant = variants[0], nodes: Split = nodes) -> Embedder:
            chosen = np.intersect1d(nodes.validation, shown.known)
            validation = np.isin(np.arange(graph.count(labels.type)), chosen) if len(chosen) else None
            visible = _shown(graph, labels, shown.known)
            return some.new(seed).fit(graph, visible, task=labels.task, validation=validation)

        start = time.perf_counter()
        visible = only(labels, nodes.visible)
        model = fitted(visible)
        fitting = time.perf_counter() - start
        for variant in variants:
            start = time.perf_counter()
            scores = _predicted(model, graph, labels, variant.spread)
            if variant.share:

                def predict(shown: Labels, known: Labels = visible, whole: NDArray[Any] = scores) -> NDArray[Any]:
                    return whole if shown is known else _predicted(fitted(shown), graph, labels, 0.0)

                scores, _ = predict_with_share(graph, visible, predict, seed)
            yield part, variant, scores, fitting + time.perf_counter() - start


def _by_regression(
    graph: Graph, labels: Labels, wanted: Wanted, splits: Mapping[Part, Split], seed: int, device: torch.device
) -> _Predicted:
    start = time.perf_counter()
    some = next(variant for variants in wanted.values() for variant in variants)
    embedding = some.new(seed).fit(graph).embedding_
    vectors = embedding[labels.type] if isinstance(embedding, dict) else embedding
    embedding_seconds = time.perf_counter() - start

    known = {part: only(labels, splits[part].train) for part in wanted}
    start = time.perf_counter()
    on_gpu = device.type == "cuda"
    repeats = [part.repeat for part in wanted]
    at_once = classify_all(vectors, list(known.values()), repeats, device) if on_gpu else []
    seconds = embedding_seconds + (time.perf_counter() - start) / len(wanted)
    for i, (part, variants) in enumerate(wanted.items()):

        def predict(shown: Labels, i: int = i, part: Part = part) -> NDArray[Any]:
            if on_gpu:
                return at_once[i] if shown is known[part] else classify_all(vectors, [shown], [part.repeat], device)[0]
            visible = read_labels(graph, _shown(graph, labels, shown.known), labels.task)
            return _aligned(labels, visible, classify(vectors, visible, seed=part.repeat))

        for variant in variants:
            start = time.perf_counter()
            shown = known[part]
            scores = predict_with_share(graph, shown, predict, seed)[0] if variant.share else predict(shown)
            yield part, variant, scores, seconds + time.perf_counter() - start


def only(labels: Labels, nodes: NDArray[np.int64]) -> Labels:
    """The labels of some nodes; classes stay what they are."""
    return labels.some(np.isin(labels.known, nodes))


def _shown(graph: Graph, labels: Labels, nodes: NDArray[np.int64]) -> Any:
    """The labels of some nodes alone, as fit takes them."""
    shown = hide(labels, nodes, graph.count(labels.type))
    return shown if len(graph.node_types) == 1 else {labels.type: shown}


def _predicted(model: Embedder, graph: Graph, labels: Labels, spread: float) -> NDArray[Any]:
    over = graph if spread > 0 else None
    if labels.task == "numbers":
        return np.asarray(model.predict(graph=over, spread=spread))[:, None]
    assert model.labels_ is not None
    return _aligned(labels, model.labels_, model.predict_proba(graph=over, spread=spread))


def _aligned(labels: Labels, visible: Labels, scores: NDArray[Any]) -> NDArray[Any]:
    """Columns for all classes, also those of which no training node was seen."""
    if labels.task != "classes":
        return scores
    assert visible.classes is not None
    wide = np.zeros((len(scores), labels.num_outputs))
    wide[:, visible.classes.astype(np.int64)] = scores
    return wide


def untyped(graph: Graph, labels: Labels) -> tuple[Graph, Labels]:
    """A typed graph as a graph of one node type: ids are positions over all types; labels stay on their nodes.

    Its scores beside those of the typed graph show what types are worth. PINE's groups="all"
    sums over one group too, but it still gives every type its own share of the agreement.
    """
    nodes = Nodes({NODE: ids_from(np.arange(graph.num_nodes))})
    plain = Graph.assemble(nodes, {EDGE: graph.adjacency()}, directed=graph.directed)
    return plain, replace(labels, type=NODE, known=labels.known + graph.nodes.slice(labels.type).start)
