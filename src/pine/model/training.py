"""The one training loop (train): Adam on everything at once, and what the trainings of one fit share (Trainer)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine._internal.progress import ProgressCounter
from pine.errors import InputError
from pine.graph import Graph, NeighborGroup
from pine.labels import Labels
from pine.model.batches import batch_neighborhoods
from pine.model.checkpoint import Checkpoint, CheckpointWriter
from pine.model.features import FeatureProjection, feature_columns
from pine.model.neighborhoods import NeighborFunction, graph_neighborhoods
from pine.model.objective import Objective, VisibleTargets
from pine.model.settings import Choice, Form, Settings
from pine.nn.targets import Targets
from pine.nn.training import device_of
from pine.propagation import LabelPropagator

WARMUP_EPOCHS = 100  # until the entropy of unlabeled nodes counts in full, where theta is new
CHECK_LOSS_EVERY = 25  # epochs: each look at the loss makes a GPU wait

History = list[dict[str, float]]  # the terms of the loss, epoch by epoch


@dataclass(frozen=True)
class Schedule:
    """How one training runs.

    warmup_epochs: until the entropy, which trusts the model's own predictions, counts in full.
    freeze_epochs: in which x stays where it is: without labels, an f that has not learned yet would only blur it.
    eval_epochs: those after which on_eval is called.
    """

    epochs: int
    learning_rate: float
    embedding_lr: float
    warmup_epochs: int = WARMUP_EPOCHS
    freeze_epochs: int = 0
    eval_epochs: frozenset[int] = frozenset()


def train(
    objective: Objective,
    schedule: Schedule,
    generator: torch.Generator,
    *,
    on_epoch: Callable[[int], None] | None = None,
    on_eval: Callable[[int], None] | None = None,
    writer: CheckpointWriter | None = None,
) -> History:
    """Train for some epochs; the terms of the loss, averaged over the models trained side by side.

    on_epoch is called with the number of epochs that are newly done, on_eval with the epoch, dropout off. A writer
    restores an interrupted training.
    """
    epochs = schedule.epochs
    own = [parameter for name, parameter in objective.named_parameters() if name != "e" and parameter.requires_grad]
    groups = [
        {"params": [objective.e], "lr": schedule.embedding_lr},
        {"params": own, "lr": schedule.learning_rate},
    ]
    optimizer = torch.optim.Adam(groups, betas=(0.9, 0.99), fused=True)
    history = [] if writer is None else writer.restore(objective, optimizer, generator)
    names: list[str] = []
    if on_epoch is not None:
        on_epoch(len(history))
    for epoch in range(len(history) + 1, epochs + 1):
        objective.train()
        optimizer.param_groups[0]["lr"] = schedule.embedding_lr if epoch > schedule.freeze_epochs else 0.0
        optimizer.zero_grad(set_to_none=True)
        names, terms = _backward(objective, generator, min(1.0, epoch / schedule.warmup_epochs))
        optimizer.step()
        history.append(terms)
        if epoch % CHECK_LOSS_EVERY == 0 or epoch in schedule.eval_epochs or epoch == epochs:
            _check_finite(history, names)
        if on_epoch is not None:
            on_epoch(1)
        if on_eval is not None and epoch in schedule.eval_epochs:
            objective.eval()
            on_eval(epoch)
        if writer is not None and epoch < epochs:
            writer.epoch_done(objective, optimizer, generator, history)
    objective.eval()
    return [dict(zip(names, terms, strict=True)) for terms in torch.stack(history).tolist()]


def _backward(objective: Objective, generator: torch.Generator, warmup: float) -> tuple[list[str], Tensor]:
    """Add up the gradients of all batches; the names of the terms of the loss, and their means over the models."""
    lines, names = [], []
    for batch in objective.batches:
        terms = objective.loss(generator, warmup, batch)
        loss = torch.stack(list(terms.values()))
        loss.sum().backward()  # type: ignore[no-untyped-call]
        names = list(terms)
        lines.append(loss.detach().mean(-1))
    return names, lines[0] if len(lines) == 1 else torch.stack(lines).sum(0)


def _check_finite(history: list[Tensor], names: list[str]) -> None:
    """The terms of the loss must be numbers."""
    since = torch.stack(history[-CHECK_LOSS_EVERY:])
    bad = (~since.isfinite().all(-1)).nonzero()[:, 0].tolist()
    if bad:
        epoch = len(history) - len(since) + bad[0] + 1
        terms = ", ".join(f"{name} {value:.3g}" for name, value in zip(names, since[bad[0]].tolist(), strict=True))
        raise InputError(
            f"training diverged in epoch {epoch}: the parts of the loss are {terms}; "
            "lower learning_rate, or scale the edge weights down"
        )


@dataclass(frozen=True, eq=False)
class FitState:
    """What goes along with a fit: its randomness, its checkpoint, and how far it is."""

    rng: np.random.Generator
    checkpoint: Checkpoint
    progress: ProgressCounter


class Trainer:
    """What the trainings of one fit share: the graph on the device, labels, settings, and where they begin.

    start: the state in which all trainings begin, by its names in Objective. groups: the neighbor groups in the order
    that f knows, where it was learned before.
    """

    def __init__(
        self,
        settings: Settings,
        graph: Graph,
        labels: Labels | None,
        state: FitState,
        start: Mapping[str, NDArray[np.float32]],
        groups: Sequence[NeighborGroup] | None = None,
    ) -> None:
        self.settings, self.graph, self.labels, self.state = settings, graph, labels, state
        self.form = Form.of(settings)
        self.device = device_of(settings.device)
        self.start = {name: torch.as_tensor(value, device=self.device) for name, value in start.items()}
        self.groups = list(self.form.neighbor_groups(graph).values()) if groups is None else groups
        self.types = [graph.nodes.slice(type) for type in graph.node_types]
        self.feature_types = tuple(sorted(graph.features)) if settings.features else ()
        self.columns = feature_columns(graph, self.feature_types, self.device, settings.threads)
        self.neighborhoods = graph_neighborhoods(self.form, graph, self.groups, self.device, settings.threads)
        if settings.batch_size is not None:
            self.neighborhoods = batch_neighborhoods(self.neighborhoods, self.types, settings.batch_size)

    @cached_property
    def propagator(self) -> LabelPropagator:
        """Propagates known labels: for the choice of their share, and for the predictions at the end."""
        assert self.labels is not None
        return LabelPropagator(self.graph, self.labels.type, self.device, self.settings.threads)

    def train_on_all_labels(self, choice: Choice, epochs: int) -> tuple[Objective, History]:
        """The last training: one model, by the settings that were chosen."""
        self.state.progress.plan(epochs)
        seen = None if self.labels is None else np.ones((1, len(self.labels.known)), bool)
        return self.train([choice.lam], seen, epochs, self.state.checkpoint.writer("last", self.state.rng, choice, {}))

    def train(
        self,
        lams: Sequence[tuple[float, ...]],
        seen: NDArray[np.bool_] | None,
        epochs: int,
        writer: CheckpointWriter,
        eval_epochs: frozenset[int] = frozenset(),
        on_eval: Callable[[int, Objective], None] | None = None,
    ) -> tuple[Objective, History]:
        """Train models side by side, each with its lambdas and the labels it sees: (models, num_known)."""
        seeds = self.state.rng.integers(2**62, size=2)
        objective = self._objective(lams, seen, torch.Generator().manual_seed(int(seeds[0])))
        objective.begin_at(self.start)
        settings = self.settings.training
        schedule = Schedule(
            epochs,
            settings.learning_rate,
            settings.embedding_lr,
            warmup_epochs=1 if "w" in self.start else WARMUP_EPOCHS,
            freeze_epochs=self._freeze_epochs(epochs),
            eval_epochs=eval_epochs,
        )
        history = train(
            objective,
            schedule,
            torch.Generator(self.device).manual_seed(int(seeds[1])),
            on_epoch=lambda epochs: self.state.progress.advance(len(lams) * epochs),
            on_eval=None if on_eval is None else lambda epoch: on_eval(epoch, objective),
            writer=writer,
        )
        return objective, history

    def _freeze_epochs(self, epochs: int) -> int:
        """How long f learns alone: without labels, and where x begins with structure but f with nothing."""
        new = set(self.start) == {"e"}
        return epochs // 2 if self.labels is None and self.settings.training.start == "structural" and new else 0

    def _objective(
        self, lams: Sequence[tuple[float, ...]], seen: NDArray[np.bool_] | None, generator: torch.Generator
    ) -> Objective:
        settings, batch = self.settings.training, len(lams)
        rates = {"dropout": settings.dropout, "node_dropout": settings.node_dropout}
        f = NeighborFunction(self.form, self.neighborhoods, generator, batch=batch, **rates)
        visible = features = None
        if self.labels is not None and seen is not None:
            targets = Targets.of(self.graph, self.labels, self.device)
            visible = VisibleTargets(targets, torch.tensor(seen, device=self.device).float())
        if self.columns:
            size, dropout = (self.graph.num_nodes, self.form.dim), settings.feature_dropout
            features = FeatureProjection(self.columns, *size, self.device, batch=batch, dropout=dropout)
        lambdas = torch.tensor(lams, device=self.device)
        batched = self.settings.batch_size is not None
        return Objective(f.to(self.device), self.types, lambdas, settings, visible, features, batched=batched)
