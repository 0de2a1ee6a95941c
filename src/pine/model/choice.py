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

# lambda / the part of the nodes that is labeled: with few labels, agreement with the neighbors has to weigh more. On
# held-out training labels of nine graphs 30 to 240 are nearly level, and a choice between several gains nothing.
LAMBDA = 60.0
LEAST_LABELED = 0.05  # below it lambda stays where it is
# Shares of propagated labels. The first is used where there is nothing to choose with.
LABEL_SHARES = (0.0, 0.35, 0.65)
HELD_OUT_ONE_IN = 5
FEWEST_LABELS = 10  # below it nothing is chosen


def choose(trainer: Trainer) -> Choice:
    """Learn from four fifths of the labels, in half of the epochs, and see what is best on the others."""
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
    state, epochs = trainer.state, -(-choice.epochs // 2)
    writer = state.checkpoint.writer("choice", state.rng, None)
    held = state.rng.permutation(len(labels.known)) % HELD_OUT_ONE_IN == 0
    # What is held out reaches neither the model nor the labels that are propagated.
    propagated = trainer.propagator.propagate(labels.known[~held], labels.targets()[~held]).at(labels.known)
    objective = trainer.objective(choice.lam, ~held)

    def blended() -> list[NDArray[np.float32]]:
        predicted = trainer.predictions_at_known(objective)
        return [propagated.blend(predicted, share) for share in shares]

    before = blended()
    state.progress.plan(epochs)
    trainer.train(objective, epochs, writer)
    after = blended()
    share = int(np.argmax([held_out_score(labels, held, predicted) for predicted in after]))
    chosen = replace(choice, label_share=shares[share], score=held_out_score(labels, held, after[share]))
    if not may_rest:
        return chosen
    untrained = int(np.argmax([held_out_score(labels, held, predicted) for predicted in before]))
    if not clearly_better(node_scores(labels, held, before[untrained]), node_scores(labels, held, after[share])):
        return chosen
    score = held_out_score(labels, held, before[untrained])
    return replace(choice, epochs=0, label_share=shares[untrained], score=score)


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
