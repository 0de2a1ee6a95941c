"""What a fit chooses on labels that it does not learn from: the share of propagated labels, whether to train at all,
and with features, how much they count against structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from pine.metrics import held_out_score, node_scores
from pine.model.blend import CARRIED_FEATURES, STRUCTURE, Array, Weights, node_weights
from pine.model.checkpoint import CheckpointWriter
from pine.model.feature_training import FeatureTrainer
from pine.model.held_out import HeldOutParts, clearly_better
from pine.model.objective import Objective
from pine.model.settings import Choice
from pine.model.training import Trainer
from pine.model.weighing import Weighing
from pine.propagation import PropagatedLabels

# lambda / the part of the nodes that is labeled: with few labels, agreement with the neighbors has to weigh more. On
# held-out training labels of nine graphs 30 to 240 are nearly level, and a choice between several gains nothing.
LAMBDA = 60.0
LEAST_LABELED = 0.05  # below it lambda stays where it is
# Shares of propagated labels. The first is used where there is nothing to choose with.
LABEL_SHARES = (0.0, 0.35, 0.65)
# What structure is worth shows after a fifth of the epochs. What features are worth, and structure where it predicts
# numbers, after half: features have no start to begin with, and vectors that predict numbers go far from theirs.
FEWER, HALVES = 5, 2
FEWEST_LABELS = 10  # below it nothing is chosen
# Structure is not trained to be weighed where features are ahead of its start by so many standard errors. Numbers need
# training, and more held-out labels than so many tell what a little of it adds.
UNTRAINED, MANY_HELD_OUT = 2.0, 2000
UNLABELED: Weights = (0.5, 0.25, 0.25)  # where there are no labels to choose with


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
    trainer.state.progress.plan(len(held.parts) * _fewer_epochs(held, choice))
    if features is not None:
        return _choose_with_features(trainer, features, held, choice, shares, may_rest)
    parts = [_part_predictions(trainer, held, k, choice) for k in range(len(held.parts))]
    return _choose_training(held, held.propagated(trainer.propagator), parts, choice, shares, may_rest)


@dataclass(frozen=True, eq=False)
class PartPredictions:
    """What structure predicts at the known nodes of labels that are held out: at rest, after some training, and after
    all of it, which is made when it is asked for.
    """

    at_rest: Array
    trained: Array
    train_fully: Callable[[], Array]

    @cached_property
    def fully_trained(self) -> Array:
        return self.train_fully()


def _choose_training(
    held: HeldOutParts,
    propagated: Sequence[PropagatedLabels],
    parts: Sequence[PartPredictions],
    choice: Choice,
    shares: Sequence[float],
    may_rest: bool,
) -> Choice:
    """See what is best on the labels that are held out.

    A fifth of the training says what share is best. Where it is behind no training at all, all of it is seen before
    it is left out: some need more than a fifth to get ahead.
    """

    def tried(predicted: Sequence[Array]) -> tuple[Choice, NDArray[np.float64]]:
        share, made = held.best_share(propagated, predicted, shares)
        tried = replace(choice, label_share=share, score=held_out_score(held.held_out, made))
        return tried, node_scores(held.held_out, made)

    trained, its_scores = tried([part.trained for part in parts])
    if not may_rest:
        return trained
    at_rest, rest_scores = tried([part.at_rest for part in parts])
    if not clearly_better(rest_scores, its_scores):
        return trained
    trained, its_scores = tried([part.fully_trained for part in parts])
    return replace(at_rest, epochs=0) if clearly_better(rest_scores, its_scores) else trained


def _choose_with_features(
    trainer: Trainer,
    features: FeatureTrainer,
    held: HeldOutParts,
    choice: Choice,
    shares: Sequence[float],
    may_rest: bool,
) -> Choice:
    """Weights of features, or what is chosen without them where they are of no use.

    Structure is trained for the first part, and for the next, only where it may matter by what is known so far.
    """
    by_features, propagated = _feature_predictions(features, held), held.propagated(trainer.propagator)

    def weigh(count: int, by_structure: Sequence[Array] | None) -> Weighing:
        """By the first parts."""
        return Weighing(held.first(count), trainer.graph, propagated[:count], by_structure, by_features[:count], shares)

    whole, alone, parts = len(held.parts), choice, list[PartPredictions]()
    matters, few = True, len(held.held_out.known) <= MANY_HELD_OUT
    if few and held.labels.task != "numbers" and trainer.settings.training.start == "structural":
        weighing = weigh(whole, trainer.predictions_by_start([trainer.learn & ~part for part in held.parts]))
        matters = weighing.structure_may_matter(UNTRAINED)
    while matters and len(parts) < whole:
        parts.append(_part_predictions(trainer, held, len(parts), choice))
        count = len(parts)
        some = held.first(count), propagated[:count]
        alone = _choose_training(*some, parts, choice, shares, may_rest)
        weighing = weigh(count, [part.at_rest if alone.epochs == 0 else part.trained for part in parts])
        matters = count == whole or weighing.structure_may_matter()
    if not matters:
        trainer.state.progress.plan((len(parts) - whole) * _fewer_epochs(held, choice))
        weighing = weigh(whole, None)
    chosen = weighing.chosen()
    if chosen.weights == STRUCTURE:
        return replace(alone, stand_in=weighing.stand_in())
    return _weighted(trainer, replace(alone, label_share=chosen.share, score=weighing.score(chosen)), chosen.weights)


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


def _part_predictions(trainer: Trainer, held: HeldOutParts, part: int, choice: Choice) -> PartPredictions:
    """Learn from the other labels, in fewer epochs."""
    objective, writer = _begin_part(trainer, held, part, choice, "choice")
    at_rest = trainer.predictions_at_rest(objective)
    trainer.train(objective, _fewer_epochs(held, choice), writer)
    made = trainer.predictions_at_known(objective)
    return PartPredictions(at_rest, made, partial(_fully_trained, trainer, held, part, choice))


def _fully_trained(trainer: Trainer, held: HeldOutParts, part: int, choice: Choice) -> Array:
    """Predictions after all epochs. What is drawn later is what would be drawn without."""
    rng = trainer.state.rng
    drawn = rng.bit_generator.state
    trainer.state.progress.plan(choice.epochs)
    objective, writer = _begin_part(trainer, held, part, choice, "whole choice")
    trainer.train(objective, choice.epochs, writer)
    made = trainer.predictions_at_known(objective)
    rng.bit_generator.state = drawn
    return made


def _begin_part(
    trainer: Trainer, held: HeldOutParts, part: int, choice: Choice, stage: str
) -> tuple[Objective, CheckpointWriter]:
    """What learns from the labels that are not held out, and what writes its checkpoints."""
    writer = trainer.state.checkpoint.writer(f"{stage} {part}", trainer.state.rng, None)
    return trainer.objective(choice.lam, trainer.learn & ~held.parts[part]), writer


def _fewer_epochs(held: HeldOutParts, choice: Choice) -> int:
    return -(-choice.epochs // (HALVES if held.labels.task == "numbers" else FEWER))


def _weighted(trainer: Trainer, choice: Choice, weights: Weights) -> Choice:
    """With weights of features; structure is trained where it has a say at some node."""
    assert trainer.labels is not None
    has_say = bool(node_weights(weights, trainer.graph, trainer.labels.type)[:, 0].any())
    return replace(choice, weights=weights, uses_structure=has_say, epochs=choice.epochs if has_say else 0)


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
