"""PINE: vectors x, the function f of their neighbors, and a classifier theta, learned together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pine._internal.settings import own_settings
from pine._version import __version__
from pine.embedder import Embedder, FitOptions, Fitted
from pine.errors import InputError
from pine.graph import Graph, check_graph
from pine.labels import Labels
from pine.links.scorers import PairVectors
from pine.model.blend import STRUCTURE
from pine.model.collapse import warn_if_collapsed
from pine.model.fitting import fit
from pine.model.learned import Learned
from pine.model.settings import FunctionSettings, Settings, TrainingSettings
from pine.model.transform import known_vectors, no_known_node, transform
from pine.model.warm_start import Earlier
from pine.nn.training import own_torch_modes
from pine.propagation import LabelPropagator


@dataclass
class PINE(Settings, Embedder):
    """Learn a vector for every node from its neighbors, with labels or without.

    dim: the length of a vector, at least 1. 64 is the paper's (Section 4.1).
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time. The same number, on the same kind
        of processor with the same libraries, gives the same bits (docs/trust.md).
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU, at least 1; None: all cores. Any number gives the same bits.
    lam: the paper's lambda, above 0: the agreement of x with f, a mean over all nodes, weighs 1 / lam, and infinity
        turns it off; with one number for each node type, the means of the types are weighed one by one. None (default):
        60 times the part of the nodes that is labeled; the paper prints 0.005.
    label_share: how much of a prediction is the known labels propagated along edges (pine.propagation), at least 0 and
        below 1; the rest is the classifier on x and on f. None (default): 0, .35 or .65, as a fifth of the training
        labels, held out for it, says.
    epochs: how long to train, at least 0: with 0, x is the structural start (pine.METHODS["propagation"]), and features
        are not learned from. None (default): 150, and 200 for what is learned from features, fewer on graphs of more
        than 30,000 nodes, and 0 where the held-out labels say that training does harm. Without labels there is nothing
        to train for: x is the start, and f reproduces it.
    features: whether to learn from graph.features too (pine.model.features); how much they count against structure is
        chosen on held-out labels. "auto" (default): where the graph has them; False mutes them, as in the paper.
    groups: the K groups that f sums over: "type" one for each type of neighbor (the paper's), "relation" one for each
        relation and side, "all" one.
    batch_size: nodes at a time, at least 1, where a graph's activations do not fit into memory: the gradients of the
        whole graph, batch by batch. None (default): all nodes at once.
    function: the form of f (pine.model.FunctionSettings): sizes, activation, scaling of the sums.
    training: the objective and its minimization (pine.model.TrainingSettings): start, dropout, learning rates, weights.
    """

    name: ClassVar[str] = "pine"
    revision: ClassVar[int] = 17
    supervised: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = False
    keeps_checkpoints: ClassVar[bool] = True

    @classmethod
    def paper(cls, typed: bool = False, **changes: Any) -> Self:
        """The method as printed (Section 4.1; for typed graphs 4.2, lambdas in the order of the node types).

        typed: for graphs of two node types. changes: settings by their names, those of function and training too.
        """
        lam: float | tuple[float, ...] = (0.2, 200.0) if typed else 0.005
        function = FunctionSettings(
            hidden=8 if typed else 16,
            projections=16 if typed else 32,
            scales=8 if typed else 16,
            activation="sigmoid",
            heads="separate",
            scaling="sum",
            conditioned=False,
        )
        training = TrainingSettings(
            start="random",
            dropout=0.0,
            entropy=0.0,
            supervise_f=False,
            weight_decay=1e-4 if typed else 1e-3,
            balanced_decay=False,
            learning_rate=0.01,  # not printed: Adam, no more
            embedding_lr=0.01,
        )
        return cls(lam=lam, label_share=0.0, features=False, function=function, training=training).set_params(**changes)

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        return self._fit_with(graph, labels, rng, FitOptions())

    def _fit_with(self, graph: Graph, labels: Labels | None, rng: np.random.Generator, options: FitOptions) -> Fitted:
        """Nodes known from an earlier run, f, theta and the settings chosen there begin where they were."""
        self.learned_ = fit(Settings(**own_settings(self)), graph, labels, rng, options, _earlier(options.start_from))
        learned = self.learned_
        vectors = learned.embedding(learned.x, learned.feature_vectors)
        warn_if_collapsed(vectors, learned.scores, labels)
        return Fitted(vectors, learned.scores)

    # ---- after fit ----

    @property
    def choice_(self) -> dict[str, Any]:
        """What fit chose, by name: lam, epochs, label_share, and weights where features have a say."""
        self._check_fitted()
        return self.learned_.choice.by_name()

    @property
    def score_(self) -> float | None:
        """The score of what fit chose, on labels that it held out: accuracy, micro F1 or R2; None if it held out none.

        Roughly: the best of a few settings, each trained more shortly and with fewer labels than the result is.
        """
        self._check_fitted()
        score = self.learned_.choice.score
        if self.labels_ is None or math.isnan(score):
            return None
        return 1 + score if self.labels_.task == "numbers" else score  # numbers: - squared error in units of variance

    @property
    def history_(self) -> list[dict[str, Any]]:
        """The terms of the loss, a row an epoch, as pandas.DataFrame takes them.

        training: "features" for what is learned from these, "structure" for x and f. epoch: from 1 on.
        """
        self._check_fitted()
        trainings = {"features": self.learned_.feature_history, "structure": self.learned_.history}
        return [
            {"training": name, "epoch": epoch, **terms}
            for name, rows in trainings.items()
            for epoch, terms in enumerate(rows, start=1)
        ]

    def reconstruct(self) -> Any:
        """f of every node's neighbors, in the form of embedding_; what features say is that of the node itself."""
        self._check_fitted()
        learned = self.learned_
        return self.nodes_.split_by_type(learned.embedding(learned.f, learned.feature_vectors))

    def pair_vectors(self) -> PairVectors:
        """What pairs of nodes are scored by: x, and f of every node's neighbors."""
        self._check_fitted()
        learned = self.learned_
        return PairVectors(self._vectors, learned.embedding(learned.f, learned.feature_vectors))

    def transform(self, graph: Graph) -> Any:
        """Vectors for all nodes of a graph, without training; nodes known from fit keep theirs, bit by bit.

        graph: one that may hold unseen nodes; their vectors come from their neighbors, and from features.
        """
        self._check_fitted()
        check_graph("transform", graph)
        with own_torch_modes():
            found = transform(self.learned_, graph, self.threads)
        found.warn_if_not_converged()
        made = self.learned_.embedding(found.x, found.features)
        if not found.has_structure and self.learned_.choice.weights == STRUCTURE:
            raise no_known_node()
        kept, unseen = (each.numpy() for each in known_vectors(self.learned_, graph, self.fitted_.vectors))
        made = np.where(unseen[:, None], made, kept)
        return graph.nodes.split_by_type(made)

    def _scores_in(self, graph: Graph) -> NDArray[np.float32]:
        assert self.labels_ is not None
        task, type = self.labels_.task, self.labels_.type
        with own_torch_modes():
            found = transform(self.learned_, graph, self.threads)
        found.warn_if_not_converged()
        vectors = found.x, found.f, found.features
        scores = self.learned_.predictions(task, graph, type, *vectors, has_structure=found.has_structure)
        share = self.learned_.choice.label_share
        if share > 0:
            propagator = LabelPropagator(graph, type, "cpu", self.threads)
            scores = propagator.propagate(*self._known_in(graph)).blend(scores, share)
        return scores

    # ---- saving ----

    def _state(self) -> dict[str, NDArray[Any]]:
        return self.learned_.arrays()

    def _about(self) -> dict[str, Any]:
        return self.learned_.about()

    def _restore(self, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
        fitted = self.fitted_
        try:
            self.learned_ = Learned.restored(self.nodes_, fitted.vectors, fitted.scores, arrays, about)
        except (KeyError, TypeError, ValueError) as problem:
            raise InputError(f"this run cannot be read by pine {__version__}, train it again: {problem}") from None


def _earlier(run: Any) -> Earlier | None:
    """What start_from stands for: a fitted PINE, or the folder of a saved one."""
    if run is None:
        return None
    if not isinstance(run, PINE | str | Path):
        raise InputError(f"start_from takes a fitted PINE or the folder of a saved one, got {type(run).__name__}")
    model = run if isinstance(run, PINE) else PINE.load(run)
    model._check_fitted()
    return Earlier(model.learned_, model.labels_)
