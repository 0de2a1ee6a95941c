"""A warm start: what an earlier run learned, as the state in which the training of a changed graph begins."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError, listed
from pine.graph import Graph, NeighborGroup
from pine.labels import Labels
from pine.model.choice import given_lambdas
from pine.model.learned import Array, Learned
from pine.model.settings import Choice, Form, Settings
from pine.model.transform import known_vectors, matching_groups, transform

# One in so many of the epochs that the earlier run was found to need: with a fifth of Cora's nodes added, all epochs
# hardly gained on a third.
EPOCHS_DIVIDED_BY = 3
RIDGE = 1e-3  # of the map from the structural start, whose entries have unit variance, to vectors


@dataclass(frozen=True, eq=False)
class Earlier:
    """What an earlier fit learned, and the labels that it was given."""

    learned: Learned
    labels: Labels | None


@dataclass(frozen=True, eq=False)
class Warm:
    """Where to begin: state by its names in Objective, neighbor groups in the order f knows, and the settings kept.

    epochs: how long to train. features, feature_epochs: the same for FeatureObjective.
    """

    state: dict[str, Array]
    groups: list[NeighborGroup]
    choice: Choice
    epochs: int
    features: dict[str, Array] | None
    feature_epochs: int


def warm_start(
    settings: Settings,
    earlier: Earlier,
    graph: Graph,
    labels: Labels | None,
    start: Array,
    numbers: tuple[float, float],
) -> Warm:
    """Carry over what an earlier fit learned.

    Known nodes begin with their vectors, moved by what has changed around them (follow), unseen nodes where the
    structure puts them; without structural starts, known nodes begin exactly with theirs and unseen ones with f of
    their neighbors. theta comes along where labels are of the same task and node type.
    start: (num_nodes, dim), before training. numbers: center and scale of numbers as labels now.
    """
    learned = earlier.learned
    _check_alike(settings, learned, graph)
    groups = matching_groups(learned, graph)
    if settings.training.start == "structural" and learned.start is not None:
        x, unseen = known_vectors(learned, graph, learned.x)
        before = known_vectors(learned, graph, learned.start)[0].numpy()
        places = [graph.nodes.slice(type) for type in graph.node_types]
        vectors = x.numpy()
        moved = [follow(vectors[p], ~unseen.numpy()[p], before[p], start[p]) for p in places]
        begin = np.concatenate(moved)
    else:
        begin = transform(learned, graph, settings.threads).x

    def theta(w: Array, b: Array) -> dict[str, Array]:
        return _theta(w, b, learned, earlier.labels, labels, *numbers)

    state = learned.parameters | {"x": begin} | theta(learned.w, learned.b)
    choice = _kept_choice(settings, learned, graph)
    shorter = min(settings.num_epochs(graph.num_nodes), -(-choice.epochs // EPOCHS_DIVIDED_BY))
    own = learned.features
    features = None if own is None else own.parameters() | theta(own.w, own.b)
    given, whole = settings.epochs, settings.num_epochs(graph.num_nodes)
    feature_epochs = -(-whole // EPOCHS_DIVIDED_BY) if given is None else given
    # Where structure has no say, it is not trained either.
    epochs = 0 if not choice.uses_structure else shorter if given is None else given
    # What rested, and is trained now, has been trained.
    return Warm(state, groups, replace(choice, epochs=choice.epochs or epochs), epochs, features, feature_epochs)


def follow(e: Array, known: NDArray[np.bool_], before: Array, after: Array) -> Array:
    """Vectors e of nodes whose structural start was before and is after: all (count, dim), known (count,).

    Both starts predict e linearly. Known nodes move by the difference of the two predictions, none where nothing has
    changed; of the others e is not read, and they begin at the second prediction. To begin with e itself, and with f of
    the neighbors for new nodes, ends lower: training does not make up for it.
    """
    then, now = _predicted(e, known, before), _predicted(e, known, after)
    return np.where(known[:, None], e + (now - then), now).astype(np.float32)


def _predicted(e: Array, known: NDArray[np.bool_], start: Array) -> NDArray[np.float64]:
    """The start times the map that fits e at the known nodes, by ridge regression: (count, dim)."""
    wide = start.astype(np.float64)
    at_known = wide[known]
    gram = at_known.T @ at_known + RIDGE * (len(at_known) + 1) * np.eye(start.shape[1])
    predicted: NDArray[np.float64] = wide @ np.linalg.solve(gram, at_known.T @ e[known])
    return predicted


def _check_alike(settings: Settings, learned: Learned, graph: Graph) -> None:
    here, before = Form.of(settings).flat(), learned.form.flat()
    unlike = [name for name in here if here[name] != before[name]]
    if unlike:
        theirs = ", ".join(f"{name}={before[name]!r}" for name in unlike)
        ours = ", ".join(f"{name}={here[name]!r}" for name in unlike)
        raise InputError(f"the run to start from was trained with {theirs}, this model has {ours}; these must be alike")
    used, there = settings.feature_types(graph), () if learned.features is None else learned.features.types
    if there and used != there:
        raise InputError(
            f"the run to start from learned from features of the types {listed(there)}, this model would learn from "
            f"those of {listed(used) or 'none'}; these must be alike"
        )


def _kept_choice(settings: Settings, learned: Learned, graph: Graph) -> Choice:
    """The settings of the earlier run, but for what the model fixes."""
    choice = learned.choice
    if len(choice.lam) > 1:
        by_type = dict(zip(learned.nodes.types, choice.lam, strict=True))
        choice = replace(choice, lam=tuple(by_type[type] for type in graph.node_types))
    if settings.lam is not None:
        choice = replace(choice, lam=given_lambdas(settings.lam), score=float("nan"))
    return choice if settings.label_share is None else replace(choice, label_share=settings.label_share)


def _theta(
    w: Array, b: Array, learned: Learned, old: Labels | None, new: Labels | None, center: float, scale: float
) -> dict[str, Array]:
    """w and b for the classes of now: by their values, zero for new ones; numbers in the units of now."""
    if old is None or new is None or (old.task, old.type) != (new.task, new.type):
        return {}
    if old.classes is None or new.classes is None:
        moved = (b * learned.scale + learned.center - center) / scale
        return {"w": w * np.float32(learned.scale / scale), "b": moved.astype(np.float32)}
    place = {value: number for number, value in enumerate(old.classes.tolist())}
    # What is not found is -1: the row of zeros that is put last.
    rows = [place.get(value, -1) for value in new.classes.tolist()]
    return {"w": np.pad(w, ((0, 1), (0, 0)))[rows], "b": np.pad(b, ((0, 0), (0, 1)))[:, rows]}
