"""The trainings of one fit: those that choose settings on held-out labels, and the last one, with one loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from pine._internal.progress import ProgressCounter
from pine.graph import Graph, NeighborGroup
from pine.labels import Labels
from pine.metrics import held_out_score
from pine.model.attributes import Attributes, attribute_columns
from pine.model.batches import batches_of
from pine.model.checkpoint import Checkpoint, Keeper
from pine.model.form import Form
from pine.model.neighborhoods import NeighborFunction, neighborhoods
from pine.model.objective import Objective, Targets
from pine.model.selection import Choice, Scores, best, folds, lambdas
from pine.model.training import RAMP, train
from pine.nn.training import device_of
from pine.propagation import LabelPropagator, PropagatedLabels

if TYPE_CHECKING:
    from pine.model.pine import PINE

# Shares of propagated labels to choose from. The first is used where there is nothing to choose with.
SHARES = (0.0, 0.35, 0.65)
CHECK = 50  # epochs between two looks at the held-out labels
ONE_IN = 5  # the held-out share where there is one part only
LARGE = 20_000  # nodes above which settings are chosen on one held-out part
# Epochs times nodes of one training, so that large graphs are done in minutes, and the fewest epochs even so.
EFFORT, FEWEST_EPOCHS = 15_000_000, 100
ENOUGH = 10  # labels without which nothing can be held out

Trained = tuple[Objective, list[dict[str, float]]]


class Trainings:
    """What the trainings of one fit share; start: the state in which all of them begin, by its names in Objective."""

    def __init__(
        self,
        model: PINE,
        graph: Graph,
        labels: Labels | None,
        rng: np.random.Generator,
        work: ProgressCounter,
        start: Mapping[str, NDArray[np.float32]],
        checkpoint: Checkpoint,
        groups: Sequence[NeighborGroup] | None = None,
    ) -> None:
        self.model, self.graph, self.labels, self.rng, self.work = model, graph, labels, rng, work
        self.checkpoint = checkpoint
        self.form = Form.of(model)
        self.device = device_of(model.device)
        self.start = {name: torch.as_tensor(value, device=self.device) for name, value in start.items()}
        self.epochs = min(model.epochs, max(FEWEST_EPOCHS, EFFORT // max(1, graph.num_nodes)))
        self.groups = list(self.form.neighbor_groups(graph).values()) if groups is None else groups
        self.types = [graph.nodes.slice(type) for type in graph.node_types]
        self.attribute_types = tuple(sorted(graph.features)) if model.attributes else ()
        self.columns = attribute_columns(graph, self.attribute_types, self.device, model.threads)
        self.around = neighborhoods(self.form, graph, self.groups, self.device, model.threads)
        if model.batch_size is not None:
            self.around = batches_of(self.around, self.types, model.batch_size)

    def last(self, choice: Choice, epochs: int) -> Trained:
        """Train one model on all labels."""
        self.work.plan(epochs)
        seen = None if self.labels is None else np.ones((1, len(self.labels.known)), bool)
        return self._train([choice.lam], epochs, seen, self.checkpoint.of("last", self.rng, choice, {}))

    def choose(self) -> Choice:
        """The settings that are best on held-out labels, where lambda is to be chosen and there are labels for it."""
        if self.checkpoint.choice is not None:
            return self.checkpoint.choice
        labelled = 0.0 if self.labels is None else len(self.labels.known) / self.graph.count(self.labels.type)
        if self.columns:
            labelled = 1.0  # attributes speak where labels are few, and strong agreement holds A back
        options = lambdas(self.model.lam, labelled)
        parts = self.model.folds if self.graph.num_nodes <= LARGE else min(self.model.folds, 1)
        if len(options) == 1 or parts < 1 or self.labels is None or len(self.labels.known) < ENOUGH:
            return Choice(options[0], self.epochs, label_share=self._shares()[0])
        return self._cross_validated(self.labels, options, parts)

    def _shares(self) -> Sequence[float]:
        """The shares to choose from; what the user has fixed stays fixed."""
        return SHARES if self.model.label_share is None else (self.model.label_share,)

    def _cross_validated(self, labels: Labels, options: list[tuple[float, ...]], parts: int) -> Choice:
        """Train every option on all folds but one and score it on that one: all of them side by side."""
        fold = folds(labels, ONE_IN if parts == 1 else parts, self.rng)
        seen = np.array([fold != part for part in range(parts)] * len(options))
        positions = torch.tensor(self.graph.nodes.slice(labels.type).start + labels.known, device=self.device)
        shares = self._shares()
        propagated = self._propagated(labels, seen[:parts]) * len(options)
        scores: Scores = {}

        def visit(epoch: int, objective: Objective) -> None:
            predicted = objective.predictions().index_select(1, positions).cpu().numpy()
            held = [
                held_out_score(labels, ~mask, propagated[k].blend(predicted[k], share))
                for k, mask in enumerate(seen)
                for share in shares
            ]
            scores[epoch] = np.reshape(held, (len(options), parts, len(shares))).mean(axis=1).tolist()

        self.work.plan(len(seen) * self.epochs)
        looks = {*range(CHECK, self.epochs + 1, CHECK), self.epochs}
        keeper = self.checkpoint.of("choice", self.rng, None, scores)
        self._train([lam for lam in options for _ in range(parts)], self.epochs, seen, keeper, looks, visit)
        return best(options, shares, scores)

    def _propagated(self, labels: Labels, seen: NDArray[np.bool_]) -> list[PropagatedLabels]:
        """What the known nodes hear where only the labels of a mask are known, for every mask (num_known,)."""
        targets = labels.targets()
        return [self.propagator.propagate(labels.known[mask], targets[mask]).at(labels.known) for mask in seen]

    @cached_property
    def propagator(self) -> LabelPropagator:
        """How nodes of the labelled type hear labels: for the choice, and for the predictions at the end."""
        assert self.labels is not None
        return LabelPropagator(self.graph, self.labels.type, self.device, self.model.threads)

    def _train(
        self,
        lams: Sequence[tuple[float, ...]],
        epochs: int,
        seen: NDArray[np.bool_] | None,
        keeper: Keeper,
        at: Iterable[int] = (),
        visit: Callable[[int, Objective], None] | None = None,
    ) -> Trained:
        """Train models side by side, each with its lambdas and the labels it sees: (models, num_known)."""
        model = self.model
        seeds = self.rng.integers(2**62, size=2)
        objective = self._objective(lams, seen, torch.Generator().manual_seed(int(seeds[0])))
        objective.begin_at(self.start)
        history = train(
            objective,
            epochs,
            model.learning_rate,
            model.vector_rate,
            torch.Generator(self.device).manual_seed(int(seeds[1])),
            at=at,
            visit=None if visit is None else lambda epoch: visit(epoch, objective),
            tick=lambda epochs: self.work.advance(len(lams) * epochs),
            ramp=1 if "w" in self.start else RAMP,
            still=self._still(epochs),
            keeper=keeper,
        )
        return objective, history

    def _still(self, epochs: int) -> int:
        """How long f learns alone: without labels, and where x begins with structure but f with nothing."""
        new = set(self.start) == {"e"}
        return epochs // 2 if self.labels is None and self.model.start == "structural" and new else 0

    def _objective(
        self, lams: Sequence[tuple[float, ...]], seen: NDArray[np.bool_] | None, generator: torch.Generator
    ) -> Objective:
        model, size, batch = self.model, (self.graph.num_nodes, self.model.dim), len(lams)
        f = NeighborFunction(
            self.form,
            self.around,
            generator,
            dropout=model.dropout,
            node_dropout=model.node_dropout,
            batch=batch,
        )
        targets = attributes = None
        if self.labels is not None and seen is not None:
            targets = Targets.of(self.graph, self.labels, seen, self.device)
        if self.columns:
            attributes = Attributes(self.columns, *size, self.device, batch=batch, dropout=model.attribute_dropout)
        return Objective(
            size,
            f.to(self.device),
            self.types,
            torch.tensor(lams, device=self.device),
            targets,
            attributes,
            weight_decay=model.weight_decay,
            entropy=model.entropy,
            on_f=model.supervise_f,
            guard=model.guard if self.labels is None else 0.0,
            batched=model.batch_size is not None,
            samples=model.samples,
        )
