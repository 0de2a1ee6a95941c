"""Training learns what is planted, and reads no label that it should not."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score
from support.inductive import labels_of, planted

from pine.metrics import f1
from pine.reproduce.inductive.run import learn
from pine.reproduce.inductive.settings import SampledSettings, WholeSettings
from pine.reproduce.inductive.training import label_counts

SMALL: dict[str, Any] = {"width": 16, "pool": 32, "hidden": 48, "projections": 8, "scales": 2, "learning_rate": 0.01}
FEW: dict[str, Any] = {"samples_1": 8, "samples_2": 8, "batch": 50, "epochs": 15}
AGGREGATORS: tuple[Any, ...] = ("pool", "mean", "pine")
SAMPLED: list[Any] = [SampledSettings(**FEW, **SMALL, aggregator=name) for name in AGGREGATORS]
LAYERS: tuple[Any, ...] = ("gat", "graphsage", "pine", "pine-attention", "gat+pine")
WHOLE: list[Any] = [WholeSettings(epochs=25, last_heads=2, **SMALL, layer=name) for name in LAYERS]


def named(setting):
    return setting.aggregator if isinstance(setting, SampledSettings) else setting.layer


def found(setting, data, seed=0, on_epoch=None):
    return learn(setting, data, labels_of(data), seed, "cpu", 1, on_epoch)


@pytest.mark.parametrize("setting", SAMPLED + WHOLE, ids=named)
def test_what_neighbors_have_is_learned_and_holds_on_graphs_never_seen(setting):
    data = planted()
    everything = f1_score(data.labels[data.splits["test"]], np.ones((50, 4)), average="micro")
    assert found(setting, data).test > everything + 0.05


def test_classes_of_a_single_graph_are_learned():
    data = planted(single=True)
    assert found(SAMPLED[2], data).test > 0.5  # by chance a quarter


@pytest.mark.parametrize("setting", [SAMPLED[2], WHOLE[4]], ids=named)
def test_the_same_seed_gives_the_same_bits_and_torch_is_left_as_it_was(setting):
    data, few = planted(), dataclasses.replace(setting, epochs=3)
    before = torch.get_rng_state()
    one = found(few, data)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(7)
    assert dataclasses.replace(found(few, data), seconds=0) == dataclasses.replace(one, seconds=0)
    assert found(few, data, seed=1).validation != one.validation


@pytest.mark.parametrize("setting", [SAMPLED[2], WHOLE[4]], ids=named)
def test_labels_of_other_graphs_do_not_enter_training(setting):
    """Wrong test labels change the test score alone; wrong validation labels leave every training loss as it was."""
    data, few = planted(), dataclasses.replace(setting, epochs=4)

    def learned(part):
        labels = data.labels.copy()
        if part is not None:
            labels[data.splits[part]] = 1 - labels[data.splits[part]]
        losses = []
        result = found(few, dataclasses.replace(data, labels=labels), on_epoch=lambda _, loss, __: losses.append(loss))
        return losses, result

    losses, honest = learned(None)
    assert len(losses) == 4
    poisoned_losses, poisoned = learned("test")
    assert poisoned_losses == losses
    assert (poisoned.validation, poisoned.kept) == (honest.validation, honest.kept)
    assert poisoned.test != honest.test
    assert learned("val")[0] == losses


def test_the_epoch_of_the_best_validation_score_is_kept_and_patience_ends_training():
    scores = []
    setting = dataclasses.replace(WHOLE[0], epochs=200, patience=3, learning_rate=0.1)
    result = found(setting, planted(), on_epoch=lambda _, __, score: scores.append(score))
    assert result.validation == max(scores)
    assert result.kept == 1 + scores.index(max(scores))
    assert result.epochs == len(scores) < 200


def test_micro_f1_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=(30, 5)), rng.integers(0, 2, (30, 5))
    counts = label_counts("label-sets", torch.tensor(scores), torch.tensor(truth)).tolist()
    assert f1(*counts) == pytest.approx(f1_score(truth, scores >= 0, average="micro"))
    classes = rng.integers(0, 5, 30)
    counts = label_counts("classes", torch.tensor(scores), torch.tensor(classes)).tolist()
    assert f1(*counts) == pytest.approx(f1_score(classes, scores.argmax(1), average="micro"))
