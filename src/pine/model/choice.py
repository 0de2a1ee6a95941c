"""What a fit chooses on labels that it does not learn from: the share of propagated labels, whether to train at all,
and with features, how much they count against structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pine.metrics import held_out_score, node_scores
from pine.model.blend import CARRIED_FEATURES, STRUCTURE, Array, Weights, node_weights
from pine.model.feature_training import FeatureTrainer
from pine.model.held_out import HeldOutParts, clearly_better
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


class PartPredictions(NamedTuple):
    """What structure predicts at the known nodes of labels that are held out, before training and after."""

    before: Array
    after: Array


def _choose_training(
    held: HeldOutParts,
    propagated: Sequence[PropagatedLabels],
    parts: Sequence[PartPredictions],
    choice: Choice,
    shares: Sequence[float],
    may_rest: bool,
) -> Choice:
    """See what is best on the labels that are held out."""
    its_share, untrained = held.best_share(propagated, [part.before for part in parts], shares)
    share, trained = held.best_share(propagated, [part.after for part in parts], shares)
    before, after = (node_scores(held.held_out, each) for each in (untrained, trained))
    if may_rest and clearly_better(before, after):
        return replace(choice, epochs=0, label_share=its_share, score=held_out_score(held.held_out, untrained))
    return replace(choice, label_share=share, score=held_out_score(held.held_out, trained))


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
        alone = _choose_training(held.first(count), propagated[:count], parts, choice, shares, may_rest)
        weighing = weigh(count, [part.before if alone.epochs == 0 else part.after for part in parts])
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
    writer = trainer.state.checkpoint.writer(f"choice {part}", trainer.state.rng, None)
    objective = trainer.objective(choice.lam, trainer.learn & ~held.parts[part])
    # By x and f, as after training: x alone is better before it, and than a fifth of it, but not than all of it.
    before = trainer.predictions_at_known(objective)
    trainer.train(objective, _fewer_epochs(held, choice), writer)
    return PartPredictions(before, trainer.predictions_at_known(objective))


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
