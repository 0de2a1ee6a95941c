"""Steps of Planetoid follow the gradients that torch finds, and held-out labels choose how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from pine.baselines.planetoid.contexts import ContextBatch, Labeled, endless_batches, label_contexts, within_window
from pine.baselines.planetoid.network import PlanetoidNetwork

NODES = 41
ALL = np.arange(3)


def network_of(
    num_classes: int, dim: int, seeds: Sequence[int] = (0,), outputs: Sequence[Any] = (), **settings: Any
) -> PlanetoidNetwork:
    """A network of 41 nodes, for a fit of each seed; outputs: the classes that each knows, if not all."""
    rates = {"learning_rate": 0.01, "context_rate": 0.01, "batch": 200}
    rngs, device = [np.random.default_rng(seed) for seed in seeds], torch.device("cpu")
    known = outputs or [np.arange(num_classes)] * len(seeds)
    return PlanetoidNetwork(NODES, num_classes, dim, known, rngs, **rates | settings, device=device)


def parts_of(network: PlanetoidNetwork) -> dict[str, Tensor]:
    names = ("e", "context_w", "context_b", "class_w", "class_b")
    return {name: getattr(network, name).clone() for name in names}


def check_same(network: PlanetoidNetwork, others: Sequence[PlanetoidNetwork]) -> None:
    """A network is that of several fits side by side."""
    for name, part in parts_of(network).items():
        torch.testing.assert_close(part, torch.cat([getattr(other, name) for other in others]), msg=name)


def descend(free: Sequence[Tensor], loss: Tensor, rate: float) -> list[Tensor]:
    """After a step of gradient descent."""
    gradients = torch.autograd.grad(loss, free)
    return [(each - rate * gradient).detach() for each, gradient in zip(free, gradients, strict=True)]


def walks_of(fits: int) -> ContextBatch:
    """Of three walks of five nodes for each fit; nodes come up more than once."""
    columns, contexts = within_window(3, 5, 2)
    centers = np.random.default_rng(1).integers(0, 9, (fits, 15))
    return ContextBatch(centers, columns[None], centers[:, contexts])


def labels_of(fits: int, size: int) -> ContextBatch:
    """So many label contexts for each fit, of different numbers of labels."""
    labeled = [Labeled(np.arange(i, 2 * i + 6), np.arange(i + 6) % 2) for i in range(fits)]
    return next(label_contexts(labeled, size, [np.random.default_rng(i) for i in range(fits)]))


BATCHES = {
    "walks": walks_of,
    "labels": lambda fits: labels_of(fits, 4),
    "labels, each once": lambda fits: labels_of(fits, 60),
}


@pytest.mark.parametrize("block", [None, 4])  # centers at a time
@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("fits", [1, 3])
def test_a_context_step_follows_torchs_own_gradient(fits, kind, block):
    most = None if block is None else fits * NODES * block
    network = network_of(2, 5, range(fits), context_rate=0.1, max_scores=most)
    batch = BATCHES[kind](fits)
    network.context_b.copy_(torch.linspace(-1, 1, NODES))
    before = parts_of(network)
    network.context_step(batch)
    for i, contexts in enumerate(batch.contexts):
        centers = batch.centers[i][batch.columns[i if len(batch.columns) > 1 else 0]]
        free = [before[name][i].requires_grad_() for name in ("e", "context_w", "context_b")]
        e, w, b = free
        loss = functional.cross_entropy(e[torch.tensor(centers)] @ w.T + b, torch.tensor(contexts), reduction="sum")
        made = network.e[i], network.context_w[i], network.context_b[i]
        for ours, theirs in zip(made, descend(free, loss, 0.1), strict=True):
            torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("fits", [1, 3])
def test_a_step_of_the_classifier_follows_torchs_own_gradient(fits):
    outputs = [ALL, np.array([0, 2]), np.array([2])][:fits]
    network = network_of(3, 5, range(fits), outputs, learning_rate=0.1)
    nodes = torch.tensor([[3, 7, 40, 3], [3, 8, 9, 0], [1, 2, 3, 4]])[:fits]
    values = torch.tensor([[2, 0, 0, 1], [2, 0, 0, 0], [2, 2, 2, 2]])[:fits]
    weights = torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])[:fits]
    before = parts_of(network)
    network.class_step(nodes + NODES * torch.arange(fits)[:, None], values, weights)
    for i in range(fits):
        free = [before[name][i].requires_grad_() for name in ("e", "class_w", "class_b")]
        e, w, b = free
        losses = functional.cross_entropy(e[nodes[i]] @ w.T + b, values[i], reduction="none")
        made = network.e[i], network.class_w[i], network.class_b[i]
        for ours, theirs in zip(made, descend(free, weights[i] @ losses, 0.1), strict=True):
            torch.testing.assert_close(ours, theirs)


SEVERAL = [
    Labeled(np.arange(3, 10), np.array([0, 1, 2, 0, 1, 2, 2])),
    Labeled(np.array([40, 0]), np.array([2, 1])),
    Labeled(np.arange(20, 24), np.array([1, 0, 1, 1])),
]


@pytest.mark.parametrize("batch", [3, 100])
def test_a_step_learns_from_the_mean_over_what_is_left_of_a_batch_for_as_many_steps_as_a_fit_has(batch):
    network = network_of(3, 5, range(3), learning_rate=0.5, batch=batch)
    before, rngs, steps = parts_of(network), deepcopy(network.rngs), np.array([8, 3, 0])
    network.learn_classes(SEVERAL, steps)
    for i, (nodes, values) in enumerate(SEVERAL):
        free = [before[name][i].requires_grad_() for name in ("e", "class_w", "class_b")]
        for drawn in islice(endless_batches(len(nodes), batch, rngs[i]), int(steps[i])):
            e, w, b = free
            some = drawn[drawn >= 0]
            logits = e[torch.tensor(nodes[some])] @ w.T + b
            free = descend(free, functional.cross_entropy(logits, torch.tensor(values[some])), 0.5)
            free = [each.requires_grad_() for each in free]
        for ours, theirs in zip((network.e[i], network.class_w[i], network.class_b[i]), free, strict=True):
            torch.testing.assert_close(ours, theirs.detach())


def test_fits_in_one_network_share_nothing():
    outputs = [ALL, np.array([1, 2]), np.array([0, 1])]
    together = network_of(3, 5, range(3), outputs, learning_rate=0.5, context_rate=0.1)
    ones = [network_of(3, 5, [i], [outputs[i]], learning_rate=0.5, context_rate=0.1) for i in range(3)]
    check_same(together, ones)
    rngs = [np.random.default_rng(i) for i in range(3)]
    alone = [label_contexts([labeled], 9, [rng]) for labeled, rng in zip(SEVERAL, deepcopy(rngs), strict=True)]
    for pairs, *each in zip(islice(label_contexts(SEVERAL, 9, rngs), 5), *alone, strict=False):
        together.context_step(pairs)
        for one, own in zip(ones, each, strict=True):
            one.context_step(own)
    together.learn_classes(SEVERAL, np.array([5, 20, 10]))
    for one, labeled, steps in zip(ones, SEVERAL, (5, 20, 10), strict=True):
        one.learn_classes([labeled], np.array([steps]))
    check_same(together, ones)
    torch.testing.assert_close(together.scores(), torch.cat([one.scores() for one in ones]))


def test_a_fit_that_diverges_leaves_the_others_as_they_are():
    whole, broken = (network_of(3, 5, range(3), learning_rate=0.5, context_rate=0.1) for _ in range(2))
    broken.e[1] = torch.nan
    for network in (whole, broken):
        network.context_step(labels_of(3, 60))
        network.learn_classes(SEVERAL, np.array([5, 5, 5]))
    assert whole.scores().isfinite().all()
    assert not broken.scores()[1].isfinite().any()
    torch.testing.assert_close(broken.scores()[[0, 2]], whole.scores()[[0, 2]])


def test_classes_that_a_fit_does_not_know_are_never_predicted_nor_learned():
    outputs = [ALL, np.array([0, 2]), np.array([1])]
    network = network_of(3, 5, range(3), outputs, learning_rate=1.0)
    known = torch.tensor([[True, True, True], [True, False, True], [False, True, False]])
    labeled = [SEVERAL[0], Labeled(np.arange(5), np.array([0, 2, 0, 2, 2])), Labeled(np.arange(3), np.ones(3, int))]
    for steps in (0, 50):
        network.learn_classes(labeled, np.full(3, steps))
        assert (network.class_b[~known] == -torch.inf).all()
        assert (network.class_w[~known] == 0).all()
        assert network.class_b[known].isfinite().all()
        assert (network.class_w[known] != 0).all()
        chances = network.scores().softmax(2)
        assert (chances.mT[~known] == 0).all()
        assert (chances.mT[known] > 0).all()
        torch.testing.assert_close(chances.sum(2), torch.ones(3, NODES))


EIGHT = Labeled(np.arange(8), np.zeros(8, np.int64))
AGREES, OPPOSES = Labeled(np.arange(4), np.zeros(4, np.int64)), Labeled(np.arange(3), np.ones(3, np.int64))


def test_the_choice_is_the_step_of_the_least_held_out_loss_of_each_fit():
    # Held-out labels that training speaks against: the loss is least at the first look.
    def chosen(*held: Labeled) -> list[int]:
        network = network_of(2, 16, range(len(held)), learning_rate=1.0)
        found: list[int] = network.best_steps([EIGHT] * len(held), held, 2000, 100).tolist()
        return found

    assert chosen(OPPOSES) == [10]
    assert chosen(AGREES) == [2000]
    assert chosen(AGREES, OPPOSES) == [2000, 10]


@pytest.mark.parametrize(("most", "found"), [(1, 1), (9, 9), (10, 10), (29, 20)])
def test_no_more_steps_are_chosen_than_there_are(most, found):
    network = network_of(2, 16, range(2), learning_rate=1.0)
    assert network.best_steps([EIGHT, EIGHT], [AGREES, OPPOSES], most, 100).tolist() == [found, min(10, most)]


def rising_and_falling() -> tuple[Labeled, Labeled]:
    """Labels of a node apart from seven others: first the bias speaks against it, and then its own vector for it."""
    return Labeled(np.arange(8), np.array([1, *[0] * 7])), Labeled(np.array([0]), np.array([1]))


def test_a_fit_that_has_ended_does_not_go_on_because_others_do():
    labeled, held = rising_and_falling()

    def chosen(patience: int, *beside: tuple[Labeled, Labeled]) -> int:
        learned, judges = zip((labeled, held), *beside, strict=True)
        network = network_of(2, 16, range(len(learned)), learning_rate=0.02)
        return int(network.best_steps(learned, judges, 2000, patience)[0])

    assert chosen(2000) == 2000
    assert chosen(50) == 10
    assert chosen(50, (EIGHT, AGREES)) == 10


def test_looking_ends_where_the_loss_of_no_fit_falls_any_more(monkeypatch):
    network, steps, step = network_of(2, 16, range(2), learning_rate=1.0), [], PlanetoidNetwork.class_step

    def counted(self, *given):
        steps.append(1)
        step(self, *given)

    monkeypatch.setattr(PlanetoidNetwork, "class_step", counted)
    assert network.best_steps([EIGHT, EIGHT], [OPPOSES, OPPOSES], 2000, 50).tolist() == [10, 10]
    assert len(steps) == 60
