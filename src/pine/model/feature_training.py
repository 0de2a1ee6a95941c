"""The trainings of one fit in which features are learned from."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.graph import Graph
from pine.labels import Labels
from pine.model.feature_objective import FeatureObjective
from pine.model.features import HOPS, FeatureVectors, feature_columns
from pine.model.learned_features import LearnedFeatures
from pine.model.node_terms import VisibleTargets
from pine.model.settings import MOST_EPOCHS, Choice, Settings
from pine.model.training import FitState, History, Schedule, train
from pine.nn.targets import Targets
from pine.nn.training import device_of
from pine.propagation import FeaturePropagator

Array = NDArray[np.float32]

# Adam's rate for everything that is learned from features. The fewer epochs, the higher: what is half learned would be
# underrated where features are weighed against structure.
FEATURE_RATE, MOST_FASTER = 0.02, 3.0
POWER_ITERATIONS = 8
# The chance that a column of features is left out for an epoch: with more labels there is less to be cautious about.
FEATURE_DROPOUT, FEW_LABELS = 0.2, 300


class FeatureTrainer:
    """labels, learn: as Trainer has them. Each training draws from its own stage's seed, in whatever order they run."""

    def __init__(
        self, settings: Settings, graph: Graph, labels: Labels | None, learn: NDArray[np.bool_], state: FitState
    ) -> None:
        self.settings, self.graph, self.labels, self.learn, self.state = settings, graph, labels, learn, state
        # Of a copy: where features turn out to be of no use, the rest of the fit is as it would be without them.
        self.seed = int(deepcopy(state.rng).integers(2**62))
        self.device = device_of(settings.device)
        self.types = settings.feature_types(graph)
        self.columns = feature_columns(graph, self.types, self.device, settings.threads)
        self.propagator = FeaturePropagator(graph, HOPS, self.device, settings.threads)
        self.history: History = []  # of the last training

    @property
    def epochs(self) -> int:
        return self.settings.num_epochs(self.graph.num_nodes)

    def train(
        self,
        stage: str,
        seen: NDArray[np.bool_],
        epochs: int,
        *,
        agreement: bool,
        choice: Choice | None = None,
        start: Mapping[str, Array] | None = None,
    ) -> FeatureObjective:
        """Learn from the labels that are seen (num_known,); start: parameters by their names in FeatureObjective."""
        assert self.labels is not None
        rng = np.random.default_rng([self.seed, *stage.encode()])
        writer = self.state.checkpoint.writer(stage, self.state.rng, choice)
        targets = Targets.of(self.graph, self.labels, self.device)
        visible = VisibleTargets(targets, torch.tensor(seen, device=self.device).float())
        place = self.graph.nodes.slice(self.labels.type)
        begin = torch.Generator().manual_seed(int(rng.integers(2**62)))
        dropout = FEATURE_DROPOUT * min(1.0, FEW_LABELS / max(1, int(seen.sum())))
        vectors = self._vectors(begin, dropout)
        objective = FeatureObjective(vectors, place, visible, begin, agreement=agreement).to(self.device)
        own = objective.state_dict()
        for name, value in (start or {}).items():
            own[name].copy_(torch.as_tensor(value))
        faster = min(max(MOST_EPOCHS / max(1, epochs), 1.0), MOST_FASTER) if start is None else 1.0
        rate = FEATURE_RATE * faster
        schedule = Schedule(epochs, rate, rate, theta_is_new=start is None)
        generator = torch.Generator(self.device).manual_seed(int(rng.integers(2**62)))
        self.history = train(objective, schedule, generator, on_epoch=self.state.progress.advance, writer=writer)
        return objective

    def principal_vectors(self) -> FeatureVectors:
        """Without labels: c and o are the principal components of what they are made of."""
        vectors = self._vectors(torch.Generator().manual_seed(self.seed)).to(self.device)
        half = vectors.middle
        for _ in range(POWER_ITERATIONS):
            # Of L(A), linear in A, the gradient of ||L(A)||^2 / 2 is L' L A: a step of the power iteration.
            spread = sum((each - each.mean(0)).square().sum() for each in vectors())
            for A, slope in zip(vectors.A, torch.autograd.grad(spread / 2, list(vectors.A)), strict=True):
                for part in (slice(0, half), slice(half, None)):
                    basis = torch.linalg.qr(slope[:, part])[0]
                    A.data[:, part] = 0.0
                    A.data[:, part][:, : basis.shape[1]] = basis
        return vectors

    def learned(self, vectors: FeatureVectors, theta: tuple[Tensor, Tensor] | None) -> LearnedFeatures:
        """What is kept of a training, or of principal components."""
        with torch.no_grad():
            made = torch.cat(vectors(), dim=1)
        w, b = theta if theta is not None else (made.new_zeros(0, made.shape[1]), made.new_zeros(2, 0))
        return LearnedFeatures(
            self.types,
            made.cpu().numpy(),
            tuple(A.detach().cpu().numpy() for A in vectors.A),
            tuple(each.standardization for each in self.columns),
            w.detach().cpu().numpy(),
            b.detach().cpu().numpy(),
        )

    def _vectors(self, generator: torch.Generator, dropout: float = 0.0) -> FeatureVectors:
        size = self.graph.num_nodes, self.settings.dim
        return FeatureVectors(self.columns, self.propagator, *size, generator, dropout=dropout)
