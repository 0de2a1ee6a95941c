"""One fit: from where to begin, the choice of settings, and the last training, on all labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from pine._internal.progress import ProgressCounter
from pine.embedder import FitOptions
from pine.graph import Graph
from pine.labels import Labels
from pine.model.checkpoint import Checkpoint, key_of
from pine.model.cross_validation import Trainings
from pine.model.init.start import structural_start
from pine.model.learned import Learned
from pine.model.objective import Objective
from pine.model.warm_start import warm_start
from pine.nn.training import torch_threads

if TYPE_CHECKING:
    from pine.model.pine import PINE


def learn(
    model: PINE,
    graph: Graph,
    labels: Labels | None,
    rng: np.random.Generator,
    options: FitOptions,
    earlier: PINE | None = None,
) -> Learned:
    """Fit a model, from an earlier fit where there is one; torch's number of threads is left as it was."""
    with torch_threads(model.threads):
        return _learn(model, graph, labels, rng, options, earlier)


def _learn(
    model: PINE,
    graph: Graph,
    labels: Labels | None,
    rng: np.random.Generator,
    options: FitOptions,
    earlier: PINE | None,
) -> Learned:
    scaled, center, scale = (None, 0.0, 1.0) if labels is None else labels.standardized()
    file, work = options.checkpoint, ProgressCounter(options.progress, "PINE")
    checkpoint = Checkpoint(file, "" if file is None else key_of(model, graph, labels, earlier))
    start = start_of(model, graph, rng)
    if earlier is None:
        trainings = Trainings(model, graph, scaled, rng, work, {"e": start}, checkpoint)
        choice = trainings.choose()
        objective, history = trainings.last(choice, choice.epochs)
    else:
        warm = warm_start(model, earlier, graph, labels, start, center, scale)
        trainings = Trainings(model, graph, scaled, rng, work, warm.state, checkpoint, warm.groups)
        choice = warm.choice
        objective, history = trainings.last(choice, min(trainings.epochs, warm.epochs))
    checkpoint.remove()
    x, f, parameters = _taken(objective)
    learned = Learned(
        x=x,
        f=f,
        scores=None,
        start=start if model.start == "structural" else None,
        w=parameters.pop("w"),
        b=parameters.pop("b"),
        parameters=parameters,
        form=trainings.form,
        attribute_types=trainings.attribute_types,
        group_names=tuple(group.name for group in trainings.groups),
        directed=graph.directed,
        center=center,
        scale=scale,
        choice=choice,
        history=history,
    )
    if labels is None:
        return learned
    place = graph.nodes.slice(labels.type)
    scores = learned.predictions(labels.task, learned.x[place], learned.f[place])
    if choice.label_share > 0:
        propagated = trainings.propagator.propagate(labels.known, labels.targets())
        scores = propagated.blend(scores, choice.label_share)
    return replace(learned, scores=scores)


def start_of(model: PINE, graph: Graph, rng: np.random.Generator) -> NDArray[np.float32]:
    """x before training: (num_nodes, dim)."""
    if model.start == "random":
        return (0.1 * rng.standard_normal((graph.num_nodes, model.dim))).astype(np.float32)
    return structural_start(graph.links(), model.dim, rng, threads=model.threads)


@torch.no_grad()
def _taken(objective: Objective) -> tuple[NDArray[np.float32], NDArray[np.float32], dict[str, NDArray[np.float32]]]:
    """x, f and the parameters of the only model in an objective, as arrays."""
    x, f = (vectors[0].cpu().numpy() for vectors in objective.vectors())
    state = {name: tensor[0].cpu().numpy() for name, tensor in objective.state_dict().items() if name != "e"}
    return x, f, state
