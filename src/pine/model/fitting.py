"""One fit: where x begins, the choice of settings on held-out labels, and the last training, on all labels."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from pine._internal.progress import ProgressCounter
from pine.embedder import FitOptions
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.model.checkpoint import Checkpoint, fingerprint
from pine.model.choice import choose
from pine.model.init.start import structural_start
from pine.model.learned import Array, Learned
from pine.model.objective import Objective
from pine.model.settings import Settings
from pine.model.training import FitState, Trainer
from pine.model.warm_start import Earlier, warm_start
from pine.nn.training import torch_threads

logger = logging.getLogger("pine")


def fit(
    settings: Settings,
    graph: Graph,
    labels: Labels | None,
    rng: np.random.Generator,
    options: FitOptions,
    earlier: Earlier | None = None,
) -> Learned:
    """Fit, from an earlier fit where there is one; torch's number of threads is left as it was."""
    settings.check_graph(graph)
    if labels is None:
        _check_without_labels(settings)
    checkpoint = _checkpoint(settings, graph, labels, options, earlier)
    state = FitState(rng, checkpoint, ProgressCounter(options.progress, "PINE"))
    with torch_threads(settings.threads):
        learned = _fit(settings, graph, labels, state, earlier)
    checkpoint.remove()
    return learned


def _fit(settings: Settings, graph: Graph, labels: Labels | None, state: FitState, earlier: Earlier | None) -> Learned:
    scaled, center, scale = (None, 0.0, 1.0) if labels is None else labels.standardized()
    x = initial_vectors(settings, graph, state.rng)
    if earlier is None:
        trainer = Trainer(settings, graph, scaled, state, {"e": x})
        choice = choose(trainer)
        epochs = choice.epochs
    else:
        warm = warm_start(settings, earlier, graph, labels, x, (center, scale))
        trainer = Trainer(settings, graph, scaled, state, warm.state, warm.groups)
        choice, epochs = warm.choice, warm.epochs
    objective, history = trainer.train_on_all_labels(choice, 0 if labels is None else epochs)
    x_learned, f, parameters = _arrays(objective)
    learned = Learned(
        nodes=graph.nodes,
        x=x_learned,
        f=f,
        scores=None,
        start=x if settings.training.start == "structural" else None,
        w=parameters.pop("w"),
        b=parameters.pop("b"),
        parameters=parameters,
        form=trainer.form,
        feature_types=trainer.feature_types,
        group_names=tuple(group.name for group in trainer.groups),
        directed=graph.directed,
        center=center,
        scale=scale,
        choice=choice,
        history=history,
    )
    return learned if labels is None else replace(learned, scores=_scores(learned, trainer, labels))


def _check_without_labels(settings: Settings) -> None:
    """Without labels nothing is trained: the start is what there is."""
    if settings.training.start == "random":
        raise InputError("without labels PINE gives its structural start; start='random' needs labels to learn from")
    if settings.features:
        raise InputError("features=True learns from features by labels; give labels, or leave features out")
    logger.info("no labels: the vectors are the structural start, and f reproduces them")


def initial_vectors(settings: Settings, graph: Graph, rng: np.random.Generator) -> Array:
    """x before training: (num_nodes, dim)."""
    if settings.training.start == "random":
        return (0.1 * rng.standard_normal((graph.num_nodes, settings.dim))).astype(np.float32)
    return structural_start(graph.links(), settings.dim, rng, threads=settings.threads, device=settings.device)


def _scores(learned: Learned, trainer: Trainer, labels: Labels) -> Array:
    """The predictions for all nodes of the labeled type: (count, num_outputs)."""
    place = trainer.graph.nodes.slice(labels.type)
    scores = learned.predictions(labels.task, learned.x[place], learned.f[place])
    share = learned.choice.label_share
    return scores if share == 0 else trainer.propagator.propagate(labels.known, labels.targets()).blend(scores, share)


def _checkpoint(
    settings: Settings, graph: Graph, labels: Labels | None, options: FitOptions, earlier: Earlier | None
) -> Checkpoint:
    if options.checkpoint is None:
        return Checkpoint(None, "")
    start = None if earlier is None else earlier.learned.x
    return Checkpoint(options.checkpoint, fingerprint(settings, graph, labels, start), options.checkpoint_every)


@torch.no_grad()
def _arrays(objective: Objective) -> tuple[Array, Array, dict[str, NDArray[np.float32]]]:
    """x, f and the parameters of an objective."""
    x, f = (vectors.cpu().numpy() for vectors in objective.vectors())
    parameters = {name: tensor.cpu().numpy() for name, tensor in objective.state_dict().items() if name != "e"}
    return x, f, parameters
