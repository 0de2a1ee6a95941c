"""What a fit chooses on labels that it does not learn from: the share of propagated labels, whether to train at all,
and with features, how much they count against structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pine.labels import Labels
from pine.metrics import held_out_score, node_scores
from pine.model.blend import GRID, STRUCTURE, Array, Weights, blend, log_likelihoods, node_weights
from pine.model.feature_training import FeatureTrainer
from pine.model.settings import Choice
from pine.model.training import Trainer
from pine.propagation import PropagatedLabels

# lambda / the part of the nodes that is labeled: with few labels, agreement with the neighbors has to weigh more. On
# held-out training labels of nine graphs 30 to 240 are nearly level, and a choice between several gains nothing.
LAMBDA = 60.0
LEAST_LABELED = 0.05  # below it lambda stays where it is
# Shares of propagated labels. The first is used where there is nothing to choose with.
LABEL_SHARES = (0.0, 0.35, 0.65)
# A fifth of the labels is held out, then another, each for a fifth of the epochs: with one, chance chooses on small
# graphs (.4 points on average).
FIFTHS, HELD_OUT_PARTS = 5, 2
FEATURE_HALVES = 2  # what is learned from features needs half of its epochs to be known by
FEWEST_LABELS = 10  # below it nothing is chosen
# Where there is nothing to choose with: too few labels, or none.
CARRIED_FEATURES: Weights = (0.0, 1.0, 0.0)
UNLABELED: Weights = (0.5, 0.25, 0.25)


@dataclass(frozen=True, eq=False)
class HeldOutParts:
    """parts: which known labels are held out, each time (num_known,)."""

    labels: Labels
    parts: Sequence[NDArray[np.bool_]]

    @classmethod
    def of(cls, trainer: Trainer, labels: Labels) -> HeldOutParts:
        """The validation nodes where there are some, else a fifth of the labels, and another."""
        if not trainer.learn.all():
            return cls(labels, [~trainer.learn])
        fifths = trainer.state.rng.permutation(len(labels.known)) % FIFTHS
        return cls(labels, [fifths == k for k in range(HELD_OUT_PARTS)])

    @property
    def any(self) -> NDArray[np.bool_]:
        """Those that are held out at some time."""
        return np.asarray(np.logical_or.reduce(self.parts), bool)

    def joined(self, predictions: Iterable[Array]) -> Array:
        """Of predictions at the known nodes, one for each part, those that were made without the node's label."""
        made = [np.asarray(each) for each in predictions]
        whole = made[0].copy()
        for held, each in zip(self.parts, made, strict=True):
            whole[held] = each[held]
        return whole


def choose(trainer: Trainer, features: FeatureTrainer | None) -> Choice:
    """The share, the weights of features, and the number of epochs, 0 where training does harm."""
    if trainer.state.checkpoint.choice is not None:
        return trainer.state.checkpoint.choice
    settings, labels = trainer.settings, trainer.labels
    shares = LABEL_SHARES if settings.label_share is None else (settings.label_share,)
    epochs = 0 if labels is None else settings.num_epochs(trainer.graph.num_nodes)
    choice = Choice(lambdas(trainer), epochs, label_share=shares[0])
    # Vectors that begin at random say nothing untrained.
    may_rest = settings.epochs is None and settings.training.start == "structural"
    too_few = labels is None or (trainer.learn.all() and len(labels.known) < FEWEST_LABELS)
    if too_few and features is not None:
        return replace(choice, weights=UNLABELED if labels is None else CARRIED_FEATURES)
    if labels is None or too_few or not (may_rest or len(shares) > 1 or features is not None):
        return choice
    held = HeldOutParts.of(trainer, labels)
    if features is None:
        return _choose_training(trainer, held, choice, shares, may_rest)
    weighted = _choose_weights(trainer, features, held, choice, shares)
    if weighted.weights[0] == 0:
        return replace(weighted, epochs=0)
    alone = _choose_training(trainer, held, choice, shares, may_rest)
    mixed = weighted.weights != STRUCTURE
    return replace(alone, weights=weighted.weights, label_share=weighted.label_share) if mixed else alone


def _choose_training(
    trainer: Trainer, held: HeldOutParts, choice: Choice, shares: Sequence[float], may_rest: bool
) -> Choice:
    """Learn from the other labels, in a fifth of the epochs, and see what is best on those that are held out."""
    labels, epochs = held.labels, -(-choice.epochs // FIFTHS)
    trainer.state.progress.plan(len(held.parts) * epochs)
    parts = [_predictions(trainer, held, choice.lam, epochs, f"choice {k}", k) for k in range(len(held.parts))]

    def best(when: int) -> tuple[float, float, NDArray[np.float64]]:
        """The highest score, its share, and the scores of the nodes."""

        def blended(share: float) -> Array:
            return held.joined(propagated.blend(predicted[when], share) for propagated, *predicted in parts)

        scores = [held_out_score(labels, held.any, blended(share)) for share in shares]
        share = shares[int(np.argmax(scores))]
        return max(scores), share, node_scores(labels, held.any, blended(share))

    (untrained, its_share, before), (score, share, after) = best(0), best(1)
    if may_rest and clearly_better(before, after):
        return replace(choice, epochs=0, label_share=its_share, score=untrained)
    return replace(choice, label_share=share, score=score)


def _choose_weights(
    trainer: Trainer, features: FeatureTrainer, held: HeldOutParts, choice: Choice, shares: Sequence[float]
) -> Choice:
    """Structure alone, as far as it goes untrained, features alone, or both where that is clearly better."""
    labels, graph = held.labels, trainer.graph
    epochs = -(-features.epochs // FEATURE_HALVES)
    trainer.state.progress.plan(len(held.parts) * epochs)
    parts: list[tuple[PropagatedLabels, list[Array]]] = []
    for k, part in enumerate(held.parts):
        seen = trainer.learn & ~part
        propagated, structural, _ = _predictions(trainer, held, choice.lam, 0, f"structure {k}", k)
        # Own features learn from labels alone, so that it can be seen what they are worth by themselves.
        trained = features.train(f"features choice {k}", seen, epochs, agreement=0.0)
        by_features = [each.cpu().numpy()[labels.known] for each in trained.predictions()]
        parts.append((propagated, [structural, *by_features]))

    def best(grid: Sequence[Weights], shares: Sequence[float]) -> Tried:
        """The weights and the share that make the held-out labels most likely."""
        tried = []
        for weights in grid:
            at_known = node_weights(weights, graph, labels.type)[labels.known]
            blended = [(propagated, blend(predictions, at_known)) for propagated, predictions in parts]
            for share in shares:
                joined = held.joined(propagated.blend(mixed, share) for propagated, mixed in blended)
                tried.append(Tried(joined, weights, share))
        return max(tried, key=lambda each: float(log_likelihoods(labels, held.any, each.predicted).mean()))

    features_alone = [weights for weights in GRID if weights[0] == 0]
    with_structure = [weights for weights in GRID if 0 < weights[0] < 1]
    chosen = best([STRUCTURE], shares)
    # Likelihood alone is no reason for more: half-trained features are not sure enough, and the others are.
    for other in (best(features_alone, shares[:1]), best(features_alone, shares), best(with_structure, shares)):
        if clearly_better(*(node_scores(labels, held.any, each.predicted) for each in (other, chosen))):
            chosen = other
    score = held_out_score(labels, held.any, chosen.predicted)
    return replace(choice, weights=chosen.weights, label_share=chosen.share, score=score)


class Tried(NamedTuple):
    """Weights and a share, and what they predict at the known nodes: (num_known, num_outputs)."""

    predicted: Array
    weights: Weights
    share: float


def _predictions(
    trainer: Trainer, held: HeldOutParts, lam: tuple[float, ...], epochs: int, stage: str, part: int
) -> tuple[PropagatedLabels, Array, Array]:
    """What reaches the known nodes of labels that are not held out, and what is predicted before and after training."""
    writer = trainer.state.checkpoint.writer(stage, trainer.state.rng, None)
    # What is held out reaches neither the model nor the labels that are propagated.
    labels, seen = held.labels, trainer.learn & ~held.parts[part]
    propagated = trainer.propagator.propagate(labels.known[seen], labels.targets()[seen]).at(labels.known)
    objective = trainer.objective(lam, seen)
    before = trainer.predictions_at_known(objective)
    trainer.train(objective, epochs, writer)
    return propagated, before, trainer.predictions_at_known(objective) if epochs else before


def clearly_better(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> bool:
    """Whether the mean of paired scores is higher by more than its standard error, which noise alone seldom makes."""
    difference = ours - theirs
    return bool(difference.mean() > difference.std() / np.sqrt(len(difference)))


def lambdas(trainer: Trainer) -> tuple[float, ...]:
    """The user's, or ours by the part of the nodes that is labeled."""
    if trainer.settings.lam is not None:
        return given_lambdas(trainer.settings.lam)
    labels = trainer.labels
    labeled = 1.0 if labels is None else float(trainer.learn.sum()) / trainer.graph.count(labels.type)
    return (LAMBDA * max(labeled, LEAST_LABELED),)


def given_lambdas(lam: float | Sequence[float]) -> tuple[float, ...]:
    """One for all node types, or one for each."""
    return (float(lam),) if isinstance(lam, int | float) else tuple(map(float, lam))
