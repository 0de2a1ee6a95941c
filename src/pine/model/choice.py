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
from pine.model.blend import CARRIED_FEATURES, GRID, STRUCTURE, Array, Weights, blend, log_likelihoods, node_weights
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
# What features are worth, and structure where it predicts numbers, shows after half of the epochs: features have no
# start to begin with, and vectors that predict numbers go far from theirs.
HALVES = 2
FEWEST_LABELS = 10  # below it nothing is chosen
UNLABELED: Weights = (0.5, 0.25, 0.25)  # where there are no labels to choose with


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
    def numbers(self) -> range:
        return range(len(self.parts))

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
        return replace(choice, weights=UNLABELED) if labels is None else _weighted(trainer, choice, CARRIED_FEATURES)
    if labels is None or too_few or not (may_rest or len(shares) > 1 or features is not None):
        return choice
    held = HeldOutParts.of(trainer, labels)
    alone, structural = _choose_training(trainer, held, choice, shares, may_rest)
    if features is None:
        return alone
    weighted = _choose_weights(trainer, held, alone, shares, _feature_predictions(features, held), structural)
    return alone if weighted.weights == STRUCTURE else weighted


class PartPredictions(NamedTuple):
    """What reaches the known nodes of labels that are not held out, and what structure predicts there."""

    propagated: PropagatedLabels
    before: Array  # training
    after: Array


def _choose_training(
    trainer: Trainer,
    held: HeldOutParts,
    choice: Choice,
    shares: Sequence[float],
    may_rest: bool,
) -> tuple[Choice, list[PartPredictions]]:
    """Learn from the other labels, in fewer epochs, and see what is best on those that are held out."""
    labels = held.labels
    epochs = -(-choice.epochs // (HALVES if labels.task == "numbers" else FIFTHS))
    trainer.state.progress.plan(len(held.parts) * epochs)
    parts = [_structural_predictions(trainer, held, k, choice.lam, epochs) for k in held.numbers]

    def best(trained: bool) -> tuple[float, float, NDArray[np.float64]]:
        """The highest score, its share, and the scores of the nodes."""

        def blended(share: float) -> Array:
            return held.joined(part.propagated.blend(part.after if trained else part.before, share) for part in parts)

        scores = [held_out_score(labels, held.any, blended(share)) for share in shares]
        share = shares[int(np.argmax(scores))]
        return max(scores), share, node_scores(labels, held.any, blended(share))

    (untrained, its_share, before), (score, share, after) = best(False), best(True)
    if may_rest and clearly_better(before, after):
        resting = [part._replace(after=part.before) for part in parts]
        return replace(choice, epochs=0, label_share=its_share, score=untrained), resting
    return replace(choice, label_share=share, score=score), parts


def _feature_predictions(features: FeatureTrainer, held: HeldOutParts) -> list[list[Array]]:
    """By carried and by own features, at the known nodes, for each part."""
    epochs = -(-features.epochs // HALVES)
    features.state.progress.plan(len(held.parts) * epochs)
    made = []
    for k, part in enumerate(held.parts):
        # Own features learn from labels alone, so that it can be seen what they are worth by themselves.
        trained = features.train(f"features choice {k}", features.learn & ~part, epochs, agreement=False)
        made.append([each.cpu().numpy()[held.labels.known] for each in trained.predictions()])
    return made


def _choose_weights(
    trainer: Trainer,
    held: HeldOutParts,
    choice: Choice,
    shares: Sequence[float],
    by_features: Sequence[list[Array]],
    structural: Sequence[PartPredictions],
) -> Choice:
    """Structure alone, features alone where they are no worse, or both where that is clearly better again."""
    labels, graph = held.labels, trainer.graph
    parts = [(part.propagated, [part.after, *of_part]) for part, of_part in zip(structural, by_features, strict=True)]

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

    def scores(tried: Tried) -> NDArray[np.float64]:
        return node_scores(labels, held.any, tried.predicted)

    features_alone = [weights for weights in GRID if weights[0] == 0]
    with_structure = [weights for weights in GRID if 0 < weights[0] < 1]
    chosen, features = best([STRUCTURE], shares), best(features_alone, shares[:1])
    # Half-trained features say less than they will: they need not be clearly better.
    if scores(features).mean() >= scores(chosen).mean():
        chosen = features
    # Likelihood alone is no reason for more: half-trained features are not sure enough, and the others are.
    for other in (best(features_alone, shares), best(with_structure, shares)):
        if clearly_better(scores(other), scores(chosen)):
            chosen = other
    if labels.task == "numbers":
        chosen = best(GRID, shares)  # their likelihood is their score
    score = held_out_score(labels, held.any, chosen.predicted)
    return _weighted(trainer, replace(choice, label_share=chosen.share, score=score), chosen.weights)


def _weighted(trainer: Trainer, choice: Choice, weights: Weights) -> Choice:
    """With weights of features; structure is trained where it has a say at some node."""
    assert trainer.labels is not None
    has_say = bool(node_weights(weights, trainer.graph, trainer.labels.type)[:, 0].any())
    return replace(choice, weights=weights, uses_structure=has_say, epochs=choice.epochs if has_say else 0)


class Tried(NamedTuple):
    """Weights and a share, and what they predict at the known nodes: (num_known, num_outputs)."""

    predicted: Array
    weights: Weights
    share: float


def _structural_predictions(
    trainer: Trainer, held: HeldOutParts, part: int, lam: tuple[float, ...], epochs: int
) -> PartPredictions:
    writer = trainer.state.checkpoint.writer(f"choice {part}", trainer.state.rng, None)
    # What is held out reaches neither the model nor the labels that are propagated.
    labels, seen = held.labels, trainer.learn & ~held.parts[part]
    propagated = trainer.propagator.propagate(labels.known[seen], labels.targets()[seen]).at(labels.known)
    objective = trainer.objective(lam, seen)
    before = trainer.predictions_at_known(objective)
    trainer.train(objective, epochs, writer)
    return PartPredictions(propagated, before, trainer.predictions_at_known(objective))


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
