"""The one training loop (train): Adam on everything at once, and what the trainings of one fit share (Trainer)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine._internal.progress import ProgressCounter
from pine.distributed.part import Whole
from pine.distributed.ranks import ALONE
from pine.errors import InputError
from pine.graph import Graph, NeighborGroup
from pine.labels import Labels
from pine.model.batches import batch_neighborhoods
from pine.model.block_objective import BlockObjective
from pine.model.block_part import BlockPart
from pine.model.checkpoint import Checkpoint, CheckpointWriter
from pine.model.neighborhoods import NeighborFunction, Neighborhoods
from pine.model.node_terms import VisibleTargets
from pine.model.objective import Objective
from pine.model.settings import Choice, Form, Settings
from pine.model.theta import regression, scores
from pine.model.trainable import Trainable
from pine.nn.adam import Adam
from pine.nn.captured import captured
from pine.nn.functional import probabilities
from pine.nn.targets import Targets
from pine.nn.training import device_of
from pine.propagation import LabelPropagator

WARMUP_EPOCHS = 5  # at most, of the learning rates
# From so many epochs on theta begins at zero: one that explains all labels it knows leaves x and f little to learn
# (email-eu 1 point at 10 %). With fewer it has to begin where it will be (planted classes .4 points with 20 epochs).
LONG_TRAINING = 50
# How far x may go: the highest embedding_lr times epochs, with a limit to the first. On facebook-pages 20 epochs at .03
# gain 1 to 2 points over .01, on planted classes they lose .05 to .015 (both seen at hidden nodes, not held-out ones).
# Numbers lie farther apart than classes: on held-out labels of chameleon R2 rises by .03 to .14 from .01 to .05.
DISTANCE, HIGHEST_EMBEDDING_LR = 1.5, 0.03
NUMBERS_DISTANCE, NUMBERS_EMBEDDING_LR = 7.5, 0.05
ENTROPY_WARMUP = 2 / 3  # of all epochs, until the entropy, which trusts the model's own predictions, counts in full
GPU_CHECK_EVERY = 25  # epochs: each look at the loss makes a GPU wait; on a CPU it is looked at in every epoch
CHECKED_ROWS = 1 << 18  # at a time
IF_DIVERGED = "lower learning_rate, or scale the edge weights down"

History = list[dict[str, float]]  # the terms of the loss, epoch by epoch


@dataclass(frozen=True)
class Schedule:
    """How one training runs: learning rates rise to their highest, then fall along a cosine.

    theta_is_new: whether the entropy has to wait until predictions are worth trusting.
    """

    epochs: int
    learning_rate: float
    embedding_lr: float
    theta_is_new: bool = True

    def rate(self, epoch: int) -> float:
        """The share of the highest learning rate, in epoch 1, 2, ..."""
        warmup = min(WARMUP_EPOCHS, self.epochs // 4)
        if epoch <= warmup:
            return epoch / (warmup + 1)
        return 0.5 + 0.5 * math.cos(math.pi * (epoch - warmup - 1) / (self.epochs - warmup))

    def trust(self, epoch: int) -> float:
        """The share of the entropy that counts."""
        return min(1.0, epoch / (ENTROPY_WARMUP * self.epochs)) if self.theta_is_new else 1.0


def train(
    objective: Trainable,
    schedule: Schedule,
    generator: torch.Generator,
    *,
    on_epoch: Callable[[int], None] | None = None,
    writer: CheckpointWriter | None = None,
) -> History:
    """Train for some epochs; the terms of the loss.

    on_epoch is called with the number of epochs that are newly done. A writer restores an interrupted training.
    """
    optimizer = adam_of(objective)
    done = None if writer is None else writer.restore(objective, optimizer, generator)
    first = 1 if done is None else len(done) + 1
    # One array for all epochs: a small tensor an epoch would lie between large ones, and memory would grow.
    history = torch.empty(0) if done is None else done.new_empty(max(schedule.epochs, len(done)), done.shape[1])
    if done is not None:
        history[: len(done)] = done
    trust = torch.zeros((), dtype=torch.float32, device=objective.device)
    names = [] if writer is None or done is None else writer.names

    def step() -> Tensor:
        optimizer.zero_grad()
        names[:], terms = objective.backward(generator, trust)
        terms = objective.ranks.share_gradients(objective.shared_parameters(), terms)
        optimizer.step()
        return terms

    check_every = 1 if objective.device.type == "cpu" else GPU_CHECK_EVERY

    def write(epoch: int) -> None:
        """A state that is no good must not take the place of one that is."""
        if writer is not None:
            _check_loss(history[:epoch], names, check_every)
            _check_parameters(objective, epoch)
            writer.write(objective, optimizer, generator, history[:epoch], names)

    do = (
        step
        if objective.is_batched or objective.ranks is not ALONE
        else captured(step, trust.device, objective.num_nodes, generator)
    )
    if on_epoch is not None:
        on_epoch(first - 1)
    objective.train()
    for epoch in range(first, schedule.epochs + 1):
        for group, highest in enumerate((schedule.embedding_lr, schedule.learning_rate)):
            optimizer.set_rate(group, highest * schedule.rate(epoch))
        trust.fill_(schedule.trust(epoch))
        terms = do()
        if not len(history):
            history = terms.new_empty(schedule.epochs, len(terms))
        history[epoch - 1] = terms
        is_last = epoch == schedule.epochs
        if epoch % check_every == 0 or is_last:
            _check_loss(history[:epoch], names, check_every)
        if is_last:
            _check_parameters(objective, epoch)
        try:
            if on_epoch is not None:
                on_epoch(1)
        except BaseException:  # whoever watches wants to stop: between two epochs there is a state to go on from
            write(epoch)
            raise
        if writer is not None and writer.is_due(is_last=is_last):
            write(epoch)
    objective.eval()
    return [dict(zip(names, row, strict=True)) for row in history.tolist()]


def adam_of(objective: Trainable) -> Adam:
    """A group for vectors, one for all else."""
    groups = objective.vectors_of_nodes(), objective.shared_parameters()
    return Adam([{"params": each} for each in groups], betas=(0.9, 0.99), zeros_like=objective.zeros_like)


def _check_loss(history: Tensor, names: list[str], count: int) -> None:
    """The terms of the loss (epochs, terms) of the last epochs, so many, must be numbers."""
    since = history[-count:]
    bad = (~since.isfinite().all(-1)).nonzero()[:, 0].tolist()
    if bad:
        epoch = len(history) - len(since) + bad[0] + 1
        terms = ", ".join(f"{name} {value:.3g}" for name, value in zip(names, since[bad[0]].tolist(), strict=True))
        raise InputError(f"training diverged in epoch {epoch}: the parts of the loss are {terms}; {IF_DIVERGED}")


def _check_parameters(objective: Trainable, epoch: int) -> None:
    """After the step that a loss led to; once a training, and once a checkpoint."""
    with torch.no_grad():
        if not all(_is_finite(each) for each in objective.parameters()):
            raise InputError(
                f"training diverged in epoch {epoch}: its step led to values that are no numbers; {IF_DIVERGED}"
            )


def _is_finite(parameter: Tensor) -> bool:
    """Block by block: a sum in double is made of a copy in double."""
    return all(bool(block.sum(dtype=torch.float64).isfinite()) for block in torch.split(parameter, CHECKED_ROWS))


@dataclass(frozen=True, eq=False)
class FitState:
    """What goes along with a fit: its randomness, its checkpoint, how far it is, and which nodes are here."""

    rng: np.random.Generator
    checkpoint: Checkpoint
    progress: ProgressCounter
    part: Whole


class Trainer:
    """What the trainings of one fit share: the graph on the device, labels, settings, and where they begin.

    learn: which of the known labels are learned from, (num_known,); the others are for choosing. start: the state in
    which all trainings begin, by its names in Objective; x of the nodes here. groups: the neighbor groups in the order
    that f knows, where it was learned before.
    """

    def __init__(
        self,
        settings: Settings,
        graph: Graph,
        labels: Labels | None,
        learn: NDArray[np.bool_],
        state: FitState,
        start: Mapping[str, NDArray[np.float32]],
        groups: Sequence[NeighborGroup] | None = None,
    ) -> None:
        self.settings, self.graph, self.labels, self.learn, self.state = settings, graph, labels, learn, state
        self.form = Form.of(settings)
        self.device = device_of(settings.device)
        # In blocks there is room for one x, that of an objective.
        place = "cpu" if isinstance(state.part, BlockPart) else self.device
        self.start = {name: torch.as_tensor(value, device=place) for name, value in start.items()}
        self.groups = list(self.form.neighbor_groups(graph).values()) if groups is None else groups
        self.f_is_new, self.theta_is_new = set(start) == {"x"}, "w" not in start
        self.part, self.types = state.part, [state.part.place(type) for type in graph.node_types]
        scaling, threads = self.form.function.scaling, settings.threads
        whole = Neighborhoods.of(graph, self.groups, scaling, self.device, threads, self.part)
        size = settings.batch_size
        self.neighborhoods = [whole] if size is None else batch_neighborhoods(whole, self.types, size)

    @cached_property
    def propagator(self) -> LabelPropagator:
        """Propagates known labels: for the choice of their share, and for the predictions at the end."""
        assert self.labels is not None
        return LabelPropagator(self.graph, self.labels.type, self.device, self.settings.threads, self.part)

    def train_on_all_labels(self, choice: Choice, epochs: int) -> tuple[Objective, History]:
        """The last training, by the settings that were chosen."""
        self.state.progress.plan(epochs)
        writer = self.state.checkpoint.writer("last", self.state.rng, choice)
        seen = None if self.labels is None else self.learn
        objective = self.objective(choice.lam, seen, theta=choice.uses_structure, rests=epochs == 0)
        return objective, self.train(objective, epochs, writer)

    def objective(
        self, lam: tuple[float, ...], seen: NDArray[np.bool_] | None, *, theta: bool = True, rests: bool = False
    ) -> Objective:
        """The objective of the labels that are seen (num_known,), before training.

        theta: whether that is needed. rests: whether there will be no training.
        """
        settings = self.settings.training
        generator = torch.Generator().manual_seed(int(self.state.rng.integers(2**62)))
        f = NeighborFunction(self.form, self.neighborhoods, generator, dropout=settings.dropout)
        visible = None
        if self.labels is not None and seen is not None:
            visible = VisibleTargets(*self._targets(seen))
        lambdas = torch.tensor(lam, dtype=torch.float32, device=self.device)
        batched = self.settings.batch_size is not None
        ranks = self.part.ranks
        shared = f.to(self.device), self.types, lambdas, settings, visible
        made = (
            BlockObjective(*shared, part=self.part)
            if isinstance(self.part, BlockPart)
            else Objective(*shared, batched=batched, ranks=ranks)
        )
        made.eval().begin_at(self.start)
        if settings.start == "structural":
            made.begin_near(self.start["x"], f=self.f_is_new, theta=theta and self.theta_is_new, rests=rests)
        return made

    def train(self, objective: Objective, epochs: int, writer: CheckpointWriter) -> History:
        """Train for some epochs."""
        settings = self.settings.training
        # What was learned before should stay near.
        whole = epochs if self.theta_is_new else self.settings.num_epochs(self.graph.num_nodes)
        rate = settings.embedding_lr or self._embedding_lr(whole)
        schedule = Schedule(epochs, settings.learning_rate, rate, self.theta_is_new)
        if self.theta_is_new and epochs >= LONG_TRAINING:
            objective.forget_theta()
        seed = int(self.state.rng.integers(2**62))
        # On a CPU nodes draw by their number, elsewhere in their order: each rank by a seed of its own.
        seed += 0 if self.device.type == "cpu" else self.part.ranks.rank
        generator = torch.Generator(self.device).manual_seed(seed)
        return train(objective, schedule, generator, on_epoch=self.state.progress.advance, writer=writer)

    def _embedding_lr(self, epochs: int) -> float:
        if self.labels is not None and self.labels.task == "numbers":
            return min(NUMBERS_EMBEDDING_LR, NUMBERS_DISTANCE / max(1, epochs))
        return min(HIGHEST_EMBEDDING_LR, DISTANCE / max(1, epochs))

    def predictions_by_start(self, seen: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.float32]]:
        """Of logistic regressions on the start x, each by the labels that it sees: (num_known, num_outputs)."""
        assert self.labels is not None
        assert self.part.ranks is ALONE
        w, b = regression(self.start["x"], *self._targets(np.stack(seen)))
        at_known = scores(self.start["x"][torch.as_tensor(self._known, device=self.device)], w, b)
        return list(probabilities(self.labels.task, at_known).cpu().numpy())

    def predictions_at_rest(self, objective: Objective) -> NDArray[np.float32]:
        """Of an objective that has not been trained, as a fit predicts that ends so: (num_known, num_outputs)."""
        if not self.theta_is_new:
            return self._at_known(objective, trained=False)
        with objective.at_rest(self.start["x"]):
            return self._at_known(objective, trained=False)

    def predictions_at_known(self, objective: Objective) -> NDArray[np.float32]:
        """(num_known, num_outputs), with dropout off."""
        return self._at_known(objective, trained=True)

    def _at_known(self, objective: Objective, *, trained: bool) -> NDArray[np.float32]:
        predicted: NDArray[np.float32] = objective.predictions_at(self._known, self.part, trained=trained).cpu().numpy()
        return predicted

    @property
    def _known(self) -> NDArray[np.int64]:
        """Where the known nodes stand among all."""
        assert self.labels is not None
        known: NDArray[np.int64] = self.graph.nodes.slice(self.labels.type).start + self.labels.known
        return known

    def _targets(self, seen: NDArray[np.bool_]) -> tuple[Targets, Tensor]:
        """The labels of the nodes here, and which of them are seen, of all (..., num_known)."""
        assert self.labels is not None
        here, positions = self.part.here(self._known)
        targets = Targets.of(self.graph, self.labels.some(here), self.device)
        found = replace(targets, positions=torch.as_tensor(positions, device=self.device))
        return found, torch.as_tensor(seen[..., here], device=self.device).float()
