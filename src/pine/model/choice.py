"""What a fit chooses on held-out training labels alone: the share of propagated labels, and whether to train at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pine.labels import Labels
from pine.metrics import held_out_score, node_scores
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
FEWEST_LABELS = 10  # below it nothing is chosen


def choose(trainer: Trainer) -> Choice:
    """Learn from four fifths of the labels, in a fifth of the epochs, and see what is best on the others; twice."""
    if trainer.state.checkpoint.choice is not None:
        return trainer.state.checkpoint.choice
    settings, labels = trainer.settings, trainer.labels
    shares = LABEL_SHARES if settings.label_share is None else (settings.label_share,)
    epochs = 0 if labels is None else settings.num_epochs(trainer.graph.num_nodes)
    choice = Choice(lambdas(trainer), epochs, label_share=shares[0])
    # Vectors that begin at random say nothing untrained.
    may_rest = settings.epochs is None and settings.training.start == "structural"
    if labels is None or len(labels.known) < FEWEST_LABELS or not (may_rest or len(shares) > 1):
        return choice
    return _held_out_choice(trainer, labels, choice, shares, may_rest)


def _held_out_choice(
    trainer: Trainer, labels: Labels, choice: Choice, shares: Sequence[float], may_rest: bool
) -> Choice:
    epochs = -(-choice.epochs // FIFTHS)
    fifths = trainer.state.rng.permutation(len(labels.known)) % FIFTHS
    trainer.state.progress.plan(HELD_OUT_PARTS * epochs)
    parts = [_predictions(trainer, labels, choice.lam, epochs, fifths == k, k) for k in range(HELD_OUT_PARTS)]
    held = fifths < HELD_OUT_PARTS

    def blended(when: int, share: float) -> NDArray[np.float32]:
        """Every held-out node as it was predicted without its label."""
        each = [propagated.blend(predicted[when], share) for propagated, *predicted in parts]
        return np.stack(each)[np.minimum(fifths, HELD_OUT_PARTS - 1), np.arange(len(fifths))]

    def best(when: int) -> tuple[float, float, NDArray[np.float64]]:
        """The highest score, its share, and the scores of the nodes."""
        scores = [held_out_score(labels, held, blended(when, share)) for share in shares]
        share = shares[int(np.argmax(scores))]
        return max(scores), share, node_scores(labels, held, blended(when, share))

    (untrained, its_share, before), (score, share, after) = best(0), best(1)
    if may_rest and clearly_better(before, after):
        return replace(choice, epochs=0, label_share=its_share, score=untrained)
    return replace(choice, label_share=share, score=score)


def _predictions(
    trainer: Trainer, labels: Labels, lam: tuple[float, ...], epochs: int, held: NDArray[np.bool_], part: int
) -> tuple[PropagatedLabels, NDArray[np.float32], NDArray[np.float32]]:
    """What reaches the known nodes of labels that are not held out, and what is predicted before and after training."""
    writer = trainer.state.checkpoint.writer(f"choice {part}", trainer.state.rng, None)
    # What is held out reaches neither the model nor the labels that are propagated.
    propagated = trainer.propagator.propagate(labels.known[~held], labels.targets()[~held]).at(labels.known)
    objective = trainer.objective(lam, ~held)
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
    labeled = 1.0 if labels is None else len(labels.known) / trainer.graph.count(labels.type)
    # Features speak where labels are few, and strong agreement holds A back.
    return (LAMBDA * (1.0 if trainer.columns else max(labeled, LEAST_LABELED)),)


def given_lambdas(lam: float | Sequence[float]) -> tuple[float, ...]:
    """One for all node types, or one for each."""
    return (float(lam),) if isinstance(lam, int | float) else tuple(map(float, lam))
