"""One fit: where x begins, the choice of settings on held-out labels, and the last training, on all labels."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from pine._internal.mapped import MappedArrays
from pine._internal.progress import ProgressCounter
from pine.distributed.part import RankPart, Whole, part_of
from pine.distributed.ranks import ALONE, current_ranks
from pine.distributed.traffic import Traffic
from pine.embedder import FitOptions
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.model.blend import STRUCTURE
from pine.model.block_part import BlockPart, DevicePart
from pine.model.checkpoint import Checkpoint, fingerprint
from pine.model.choice import choose
from pine.model.feature_training import FeatureTrainer
from pine.model.init.start import structural_start
from pine.model.learned import Array, Learned
from pine.model.learned_features import LearnedFeatures
from pine.model.mapped_part import MappedPart
from pine.model.needs import require_memory_for_fit, require_memory_for_mapped_fit
from pine.model.objective import Objective
from pine.model.projection import Projection
from pine.model.rank_checkpoint import RankCheckpoint
from pine.model.settings import Choice, Settings
from pine.model.training import FitState, Trainer
from pine.model.warm_start import Earlier, Warm, warm_start
from pine.nn.training import device_of, torch_threads
from pine.propagation import PropagatedLabels, normalize

SCORES_AT_A_TIME = 1 << 14  # nodes, of a fit in blocks

logger = logging.getLogger("pine")


def fit(
    settings: Settings,
    graph: Graph,
    labels: Labels | None,
    rng: np.random.Generator,
    options: FitOptions,
    earlier: Earlier | None = None,
) -> Learned:
    """Fit, from an earlier fit where there is one; torch's number of threads is left as it was.

    Where ranks share the fit (pine.distributed), the first has all of what is learned, the others no vectors.
    """
    ranks = current_ranks()
    settings.check_graph(graph)
    if ranks is not ALONE:
        _check_on_ranks(settings, graph, earlier)
    if labels is None:
        _check_without_labels(settings)
    outputs = None if labels is None else labels.num_outputs
    part: Whole
    if options.mmap_dir is None:
        may_be_in_blocks = ranks is ALONE and earlier is None
        in_blocks = require_memory_for_fit(settings, graph, outputs, ranks.size, may_be_in_blocks=may_be_in_blocks)
        part = DevicePart(graph, device_of(settings.device)) if in_blocks else part_of(graph, ranks)
    else:
        _check_mapped(settings, graph, options, earlier)
        columns = require_memory_for_mapped_fit(settings, graph, labels)
        part = MappedPart(graph, MappedArrays(options.mmap_dir), columns)
    task = LearningTask.of(labels, options.validation)
    checkpoint = _checkpoint(settings, graph, task, options, earlier, part)
    state = FitState(rng, checkpoint, ProgressCounter(options.progress, "PINE"), part)
    with torch_threads(settings.threads):
        learned = _fit(settings, graph, task, state, earlier)
    if not options.keep_checkpoint:
        checkpoint.remove()
    return learned


@dataclass(frozen=True, eq=False)
class LearningTask:
    """The labels to learn from as they were given, and all that are known, numbers standardized.

    learn: which of the latter are learned from, (num_known,); the others are for choosing.
    """

    labels: Labels | None
    known: Labels | None
    learn: NDArray[np.bool_]
    center: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, labels: Labels | None, validation: Labels | None) -> Self:
        if labels is None:
            return cls(None, None, np.ones(0, bool))
        scaled, center, scale = labels.standardized()
        if validation is None:
            return cls(labels, scaled, np.ones(len(labels.known), bool), center, scale)
        validation = validation.rescaled(center, scale)
        known = np.concatenate([scaled.known, validation.known])
        order = np.argsort(known)
        values = np.concatenate([scaled.values, validation.values])[order]
        learn = order < len(scaled.known)
        return cls(labels, replace(scaled, known=known[order], values=values), learn, center, scale)


def _fit(settings: Settings, graph: Graph, task: LearningTask, state: FitState, earlier: Earlier | None) -> Learned:
    part = state.part
    x = initial_vectors(settings, graph, state.rng, part)
    shared = settings, graph, task.known, task.learn, state
    # With no epochs nothing can be learned from features, but what an earlier fit has learned stays.
    learns = task.labels is None or settings.epochs != 0 or earlier is not None
    uses_features = settings.feature_types(graph) and learns
    features = FeatureTrainer(*shared) if uses_features else None
    if earlier is None:
        warm = None
        trainer = Trainer(*shared, {"x": x})
        choice = choose(trainer, features)
        epochs = choice.epochs
    else:
        warm = warm_start(settings, earlier, graph, task.labels, x, (task.center, task.scale))
        trainer = Trainer(*shared, warm.state, warm.groups)
        choice, epochs = warm.choice, warm.epochs
    logger.info("chosen: %s", choice.by_name())
    learned_features = None if features is None else _learn_features(features, choice, warm)
    objective, history = trainer.train_on_all_labels(choice, 0 if task.labels is None else epochs)
    if isinstance(part, RankPart):
        part.ranks.traffic = traffic_of(graph, part, objective)
    x_learned, f, parameters = _arrays(objective, part)
    learned = Learned(
        nodes=graph.nodes,
        x=x_learned,
        f=f,
        scores=None,
        start=_gathered(x, part) if settings.training.start == "structural" else None,
        w=parameters.pop("w"),
        b=parameters.pop("b"),
        parameters=parameters,
        form=trainer.form,
        group_names=tuple(group.name for group in trainer.groups),
        directed=graph.directed,
        center=task.center,
        scale=task.scale,
        choice=choice,
        features=learned_features,
        projection=_projection(x_learned, learned_features, choice),
        history=history,
        feature_history=[] if features is None or learned_features is None else features.history,
    )
    if task.labels is None:
        return learned
    made = _scores_in_blocks if isinstance(part, BlockPart) else _scores
    return replace(learned, scores=made(learned, trainer, task.labels))


def _check_on_ranks(settings: Settings, graph: Graph, earlier: Earlier | None) -> None:
    """What one process alone can do."""
    if settings.feature_types(graph):
        raise InputError("features are learned by one process: set features=False, or start no ranks")
    if settings.batch_size is not None:
        raise InputError("each rank takes all its nodes at once: leave batch_size out, and start more ranks")
    if earlier is not None:
        raise InputError("a start from an earlier run is for one process: leave start_from out, or start no ranks")
    if settings.training.moments != "float32":
        raise InputError("moments='bfloat16' is for one process: leave it out, or start no ranks")


def _check_mapped(settings: Settings, graph: Graph, options: FitOptions, earlier: Earlier | None) -> None:
    """What needs all arrays in memory."""
    if current_ranks() is not ALONE:
        raise InputError("mmap_dir is for one process: leave it out, or start no ranks")
    if settings.feature_types(graph):
        raise InputError("features are learned in memory: set features=False, or leave mmap_dir out")
    if settings.batch_size is not None:
        raise InputError("with mmap_dir nodes come in blocks already: leave batch_size out")
    if settings.training.moments != "float32":
        raise InputError("in files moments are of 4 bytes: leave moments='bfloat16' or mmap_dir out")
    if settings.function.heads == "separate":
        raise InputError("heads='separate' learns in memory: set heads='shared', or leave mmap_dir out")
    if device_of(settings.device).type != "cpu":
        raise InputError("mmap_dir is for a CPU: set device='cpu', or leave mmap_dir out")
    if earlier is not None:
        raise InputError("a start from an earlier run is made in memory: leave start_from or mmap_dir out")
    if options.checkpoint is not None:
        raise InputError("a fit in files keeps no checkpoint: leave checkpoint or mmap_dir out")


def traffic_of(graph: Graph, part: RankPart, objective: Objective) -> Traffic:
    """What travels in a step of a training."""
    f = objective.f.of_sets
    width = f.L * (f.d if f.heads == "separate" else 1)
    shared = sum(each.numel() for each in objective.shared_parameters())
    return Traffic.of(graph, part, objective.f.neighborhoods[0].neighbors, width, shared)


def _gathered(x: Array, part: Whole) -> Array:
    made: Array = part.gathered(torch.from_numpy(x)).numpy()
    return made


def _check_without_labels(settings: Settings) -> None:
    """Without labels nothing is trained: the start is what there is."""
    if settings.training.start == "random":
        raise InputError("without labels PINE gives its structural start; start='random' needs labels to learn from")
    logger.info("no labels: the vectors are the start, and f reproduces them")


def _learn_features(features: FeatureTrainer, choice: Choice, warm: Warm | None) -> LearnedFeatures | None:
    """By the weights that were chosen; none where features are of no use."""
    weights = choice.weights if choice.weights != STRUCTURE else choice.stand_in
    if weights is None:
        return None
    if features.labels is None:
        return features.learned(features.principal_vectors(), None)
    start, epochs = (None, features.epochs) if warm is None else (warm.features, warm.feature_epochs)
    features.state.progress.plan(epochs)
    # Own features that say more than the neighbors' do not learn from these.
    _, carried, own = weights
    trained = features.train("features", features.learn, epochs, agreement=carried >= own, choice=choice, start=start)
    return features.learned(trained.vectors, (trained.w, trained.b))


def _projection(x: Array, features: LearnedFeatures | None, choice: Choice) -> Projection | None:
    if features is None or choice.weights[0] in (0, 1):  # vectors are of one of them alone
        return None
    return Projection.of(x, features.vectors, choice.weights)


def initial_vectors(settings: Settings, graph: Graph, rng: np.random.Generator, part: Whole | None = None) -> Array:
    """x before training: (num_nodes, dim), or of a part of the nodes."""
    if settings.training.start == "random":
        part = part or Whole(graph.num_nodes)
        return part.drawn(lambda count: (0.1 * rng.standard_normal((count, settings.dim))).astype(np.float32))
    return structural_start(
        graph.links(), settings.dim, rng, threads=settings.threads, device=settings.device, part=part
    )


def _scores(learned: Learned, trainer: Trainer, labels: Labels) -> Array:
    """The predictions for all nodes of the labeled type, on the first rank: (count, num_outputs)."""
    share = learned.choice.label_share
    propagated = None if share == 0 else trainer.propagator.propagate(labels.known, labels.targets())
    if trainer.part.ranks.rank > 0:
        return np.empty((0, labels.num_outputs), np.float32)
    vectors = learned.x, learned.f, learned.feature_vectors
    scores = learned.predictions(labels.task, trainer.graph, labels.type, *vectors)
    return scores if propagated is None else propagated.blend(scores, share)


def _scores_in_blocks(learned: Learned, trainer: Trainer, labels: Labels) -> Array:
    """The same, some nodes at a time."""
    share, place = learned.choice.label_share, trainer.graph.nodes.slice(labels.type)
    arrived = None if share == 0 else trainer.propagator.arrivals(labels.known, labels.targets())
    scores = trainer.part.array(place.stop - place.start, labels.num_outputs)
    for lo in range(0, len(scores), SCORES_AT_A_TIME):
        rows = slice(lo, min(lo + SCORES_AT_A_TIME, len(scores)))
        among_all = slice(place.start + rows.start, place.start + rows.stop)
        made = learned.structure_predictions(labels.task, learned.x[among_all], learned.f[among_all])
        scores[rows] = made if arrived is None else PropagatedLabels(*normalize(arrived[rows])).blend(made, share)
    return scores


def _checkpoint(
    settings: Settings, graph: Graph, task: LearningTask, options: FitOptions, earlier: Earlier | None, part: Whole
) -> Checkpoint:
    if options.checkpoint is None:
        return Checkpoint(None, "")
    start = None if earlier is None else earlier.learned.x
    made = fingerprint(settings, graph, task.known, task.learn, start)
    if isinstance(part, RankPart):
        return RankCheckpoint(options.checkpoint, made, part, options.checkpoint_every, options.keep_checkpoint)
    return Checkpoint(options.checkpoint, made, options.checkpoint_every, options.keep_checkpoint)


@torch.no_grad()
def _arrays(objective: Objective, part: Whole) -> tuple[Array, Array, dict[str, NDArray[np.float32]]]:
    """x, f and the parameters of an objective."""
    x, f = (part.gathered(vectors.detach()).cpu().numpy() for vectors in objective.vectors())
    parameters = {name: tensor.cpu().numpy() for name, tensor in objective.state_dict().items() if name != "x"}
    return x, f, parameters
