"""The training loop: which epochs count how much, what moves when, and who is told."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pine.model.training as training_module
from pine import PINE, InputError
from pine.datasets import planted_classes
from pine.model import TrainingSettings
from pine.model.trainable import Trainable
from pine.model.training import Schedule, train


class Bowl(Trainable):
    """An objective with a minimum at zero, which notes what it was asked for; one batch, unless more are given."""

    def __init__(self, batches: int = 1, blows_up_in: int | None = None) -> None:
        super().__init__()
        self.x, self.w = nn.Parameter(torch.ones(3, 2)), nn.Parameter(torch.ones(2))
        self.batches = list(range(batches))
        self.blows_up_in = blows_up_in
        self.warmups: list[float] = []
        self.x_before: list[float] = []

    @property
    def num_nodes(self) -> int:
        return 3

    def vectors_of_nodes(self) -> list[nn.Parameter]:
        return [self.x]

    def loss(self, generator: torch.Generator, warmup: Tensor | float, batch: Any) -> dict[str, Tensor]:
        self.warmups.append(float(warmup))
        self.x_before.append(float(self.x.detach()[0, 0]))
        bad = self.blows_up_in is not None and len(self.warmups) >= self.blows_up_in
        return {"bowl": self.x.square().sum() + self.w.square().sum(), "bad": self.w.sum() * (1e38**2 * bad)}


def trained(objective: Bowl, schedule: Schedule, **hooks: Any) -> list[dict[str, float]]:
    return train(objective, schedule, torch.Generator(), **hooks)


def test_what_trusts_own_predictions_grows_to_its_weight_over_two_thirds_of_the_epochs():
    objective, warm = Bowl(), Bowl()
    trained(objective, Schedule(6, 0.1, 0.1))
    assert objective.warmups == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    trained(warm, Schedule(6, 0.1, 0.1, theta_is_new=False))
    assert warm.warmups == [1.0] * 6


def test_rates_rise_in_at_most_five_epochs_and_fall_along_a_cosine():
    schedule = Schedule(105, 0.1, 0.1)
    rates = [schedule.rate(epoch) for epoch in range(1, 106)]
    assert rates[:6] == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])
    assert rates[5 + 50] == pytest.approx(0.5)
    assert 0 < rates[-1] < 1e-3
    assert rates[5:] == sorted(rates[5:], reverse=True)
    assert Schedule(1, 0.1, 0.1).rate(1) == 1


def test_no_epochs_leave_everything_as_it_is():
    objective = Bowl()
    assert trained(objective, Schedule(0, 0.1, 0.1)) == []
    assert not objective.training
    assert float(objective.x.detach()[0, 0]) == 1


def test_x_and_the_rest_have_learning_rates_of_their_own():
    objective = Bowl()
    trained(objective, Schedule(1, 0.5, 0.125))
    assert float(objective.x.detach()[0, 0]) == pytest.approx(1 - 0.125)  # the first step of Adam is its rate
    assert float(objective.w.detach()[0]) == pytest.approx(1 - 0.5)


def test_every_epoch_is_told_of_and_dropout_is_off_in_the_end():
    objective = Bowl()
    epochs: list[int] = []
    trained(objective, Schedule(5, 0.1, 0.1), on_epoch=epochs.append)
    assert epochs == [0, 1, 1, 1, 1, 1]  # none were restored
    assert not objective.training


def test_the_gradients_of_all_batches_make_one_step_and_their_losses_one_line():
    once, thrice = Bowl(), Bowl(batches=3)
    (line,), (lines,) = (trained(each, Schedule(1, 0.5, 0.125)) for each in (once, thrice))
    assert lines["bowl"] == pytest.approx(3 * line["bowl"])
    torch.testing.assert_close(thrice.x, once.x)  # Adam's first step does not depend on the size of the gradient


def test_a_loss_that_is_no_number_is_named_with_its_epoch():
    with pytest.raises(InputError, match=r"training diverged in epoch 7: the parts of the loss are bowl .*, bad inf"):
        trained(Bowl(blows_up_in=7), Schedule(40, 1e-3, 1e-3))


def test_on_a_cpu_training_stops_in_the_epoch_in_which_a_loss_is_no_number():
    told: list[int] = []
    with pytest.raises(InputError, match=r"diverged in epoch 7: .*; lower learning_rate"):
        trained(Bowl(blows_up_in=7), Schedule(40, 1e-3, 1e-3), on_epoch=told.append)
    assert sum(told) == 6


def test_a_last_step_that_leads_to_values_that_are_no_numbers_is_found():
    objective = Bowl()
    objective.w.register_hook(lambda slope: slope * float("inf"))
    with pytest.raises(InputError, match=r"diverged in epoch 1: its step led to values that are no numbers"):
        trained(objective, Schedule(1, 0.1, 0.1))


def test_a_value_that_is_no_number_is_found_wherever_it_stands(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(training_module, "CHECKED_ROWS", 3)
    objective = Bowl()
    objective.x = nn.Parameter(torch.ones(11, 2))
    objective.x.data[10, 1] = float("nan")
    with pytest.raises(InputError, match="values that are no numbers"):
        training_module._check_parameters(objective, 1)


def test_x_goes_as_far_in_few_epochs_as_in_many_but_not_faster_than_is_safe(monkeypatch: pytest.MonkeyPatch):
    schedules: list[Schedule] = []

    def noted(objective: Any, schedule: Schedule, *given: Any, **more: Any) -> Any:
        schedules.append(schedule)
        return train(objective, schedule, *given, **more)

    monkeypatch.setattr(training_module, "train", noted)
    graph, classes = planted_classes(300, classes=3)
    for epochs, rate in ((100, 0.015), (200, 0.0075), (10, 0.03)):
        schedules.clear()
        first = PINE(dim=4, epochs=epochs, label_share=0.0).fit(graph, classes)
        assert [one.epochs for one in schedules] == [epochs]
        assert schedules[0].embedding_lr == pytest.approx(rate)
    schedules.clear()
    PINE(dim=4, epochs=10, label_share=0.0, training=TrainingSettings(embedding_lr=0.2)).fit(graph, classes)
    assert schedules[0].embedding_lr == 0.2
    # What was learned before stays near: it goes on at the rate of a whole training.
    schedules.clear()
    PINE(dim=4, label_share=0.0).fit(graph, classes, start_from=first)
    assert schedules[-1].embedding_lr == pytest.approx(0.01)
