"""Choose lambda, the number of epochs and the share of propagated labels on held-out training labels alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from pine.labels import Labels
from pine.metrics import held_out_score
from pine.model.checkpoint import Scores
from pine.model.objective import Objective
from pine.model.settings import Choice
from pine.model.training import Trainer

# lambda / the part of the nodes that is labeled, as found on held-out training labels of cora, citeseer, wikipedia and
# email-eu: with few labels, agreement with the neighbors has to weigh more. The first is the best single one, and is
# used where there is nothing to choose with.
LAMBDAS = (15.0, 60.0)
LEAST_LABELLED = 0.05  # below it no setting was tried: lambda stays where it is
# Shares of propagated labels, found there and on pubmed. The first is used where there is nothing to choose with.
LABEL_SHARES = (0.0, 0.35, 0.65)
EVAL_EVERY = 50  # epochs between two evaluations on the held-out labels
HELD_OUT_ONE_IN = 5  # the held-out share where there is one part only
ONE_PART_ABOVE = 20_000  # nodes above which settings are chosen on one held-out part
FEWEST_LABELS = 10  # the minimum number of labels for cross-validation


def choose_settings(trainer: Trainer) -> Choice:
    """The settings that are best on held-out labels, where lambda is to be chosen and there are labels for it."""
    if trainer.state.checkpoint.choice is not None:
        return trainer.state.checkpoint.choice
    settings, graph, labels = trainer.settings, trainer.graph, trainer.labels
    labeled = 0.0 if labels is None else len(labels.known) / graph.count(labels.type)
    if trainer.columns:
        labeled = 1.0  # features speak where labels are few, and strong agreement holds A back
    lams = lambdas(settings.lam, labeled)
    shares = LABEL_SHARES if settings.label_share is None else (settings.label_share,)
    epochs = settings.most_epochs(graph.num_nodes)
    parts = settings.training.folds if graph.num_nodes <= ONE_PART_ABOVE else min(settings.training.folds, 1)
    if len(lams) == 1 or parts < 1 or labels is None or len(labels.known) < FEWEST_LABELS:
        return Choice(lams[0], epochs, label_share=shares[0])
    # A number of epochs that is given is not shortened.
    evals = {*range(EVAL_EVERY, epochs + 1, EVAL_EVERY), epochs} if settings.epochs is None else {epochs}
    return best(lams, shares, held_out_scores(trainer, labels, lams, shares, parts, frozenset(evals)))


def held_out_scores(
    trainer: Trainer,
    labels: Labels,
    lams: Sequence[tuple[float, ...]],
    shares: Sequence[float],
    parts: int,
    eval_epochs: frozenset[int],
) -> Scores:
    """Train every lambda on all folds but one and score it on that one: all of them side by side."""
    rng, epochs = trainer.state.rng, max(eval_epochs)
    fold = folds(labels, HELD_OUT_ONE_IN if parts == 1 else parts, rng)
    seen = np.array([fold != part for part in range(parts)] * len(lams))
    positions = torch.tensor(trainer.graph.nodes.slice(labels.type).start + labels.known, device=trainer.device)
    targets = labels.targets()
    # What reaches the known nodes from the labels of each mask alone: the same for every lambda.
    propagated = [
        trainer.propagator.propagate(labels.known[mask], targets[mask]).at(labels.known) for mask in seen[:parts]
    ] * len(lams)
    scores: Scores = {}

    def on_eval(epoch: int, objective: Objective) -> None:
        predicted = objective.predictions().index_select(1, positions).cpu().numpy()
        held = [
            held_out_score(labels, ~mask, propagated[k].blend(predicted[k], share))
            for k, mask in enumerate(seen)
            for share in shares
        ]
        scores[epoch] = np.reshape(held, (len(lams), parts, len(shares))).mean(axis=1).tolist()

    trainer.state.progress.plan(len(seen) * epochs)
    writer = trainer.state.checkpoint.writer("choice", rng, None, scores)
    trainer.train([lam for lam in lams for _ in range(parts)], seen, epochs, writer, eval_epochs, on_eval)
    return scores


def lambdas(lam: float | Sequence[float] | None, labeled: float = 1.0) -> list[tuple[float, ...]]:
    """The lambdas to choose from, by the part of the nodes that is labeled; what the user has fixed stays fixed."""
    if lam is None:
        return [(each * max(labeled, LEAST_LABELLED),) for each in LAMBDAS]
    return [(float(lam),) if isinstance(lam, int | float) else tuple(map(float, lam))]


def folds(labels: Labels, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of every known node: (num_known,), sizes equal up to one."""
    return rng.permutation(np.arange(len(labels.known)) % count)


def best(lams: Sequence[tuple[float, ...]], shares: Sequence[float], scores: Scores) -> Choice:
    """The lambda and number of epochs that are best with the first share, and the share that is best with these.

    An epoch's score is averaged with its neighbors', to still the noise. Of shares that are level, the first is taken.
    """
    line = sorted(scores)
    smooth = {
        epoch: np.mean([scores[near] for near in line[max(0, at - 1) : at + 2]], axis=0)
        for at, epoch in enumerate(line)
    }
    places = [(k, epoch) for k in range(len(lams)) for epoch in line]
    k, epoch = max(places, key=lambda place: smooth[place[1]][place[0], 0])
    share = int(smooth[epoch][k].argmax())
    return Choice(lams[k], epoch, float(smooth[epoch][k, share]), shares[share])
