"""PINE: vectors x, the function f of their neighbors, and a classifier theta, learned together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import number_of_threads
from pine._version import __version__
from pine.embedder import Embedder, FitOptions, Fitted, Seed
from pine.errors import InputError, listed
from pine.graph import Graph
from pine.graph.groups import By
from pine.labels import Labels
from pine.model.learned import Learned

# What needs torch is imported where it is used, so that `import pine` stays quick.


@dataclass
class PINE(Embedder):
    """Learn a vector for every node from its neighbors, with labels or without.

    lam: the paper's lambda: agreement of x with f, a mean over all nodes, weighs 1 / lam, infinity turns it off. With
        one for each node type, the means of the types are weighed one by one. None: it, the number of epochs, up to
        the given one, and label_share are chosen by cross-validation on the training labels.
    label_share: how much of a prediction is the known labels carried along edges (see pine.propagation_share); the rest
        is theta on x and on f. None: it is chosen with lam, and 0 where lam is given.
    scaling: what a sum over neighbors is divided by: "sum" 1, "sqrt" the root of their number, "mean" their number.
    The other defaults were chosen on held-out training labels of cora, citeseer, wikipedia, email-eu; vector_rate of
    pubmed and dblp too.
    """

    name: ClassVar[str] = "pine"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = False
    keeps_checkpoints: ClassVar[bool] = True

    dim: int = 64
    seed: Seed = 0
    device: str = "auto"
    threads: int | None = None
    lam: float | tuple[float, ...] | None = None
    label_share: float | None = None
    scaling: Literal["sum", "sqrt", "mean"] = "sqrt"
    epochs: int = 300
    folds: int = 3
    hidden: int = 128  # the paper's L
    projections: int = 32  # T
    scales: int = 8  # Q
    activation: Literal["tanh", "sigmoid"] = "tanh"
    heads: Literal["shared", "separate"] = "shared"
    conditioned: bool = True  # scaled and centered sums, see pine.nn.SetFunction; groups of neighbors begin alike
    dropout: float = 0.4  # of coordinates of neighbors' vectors
    node_dropout: float = 0.25  # of whole neighbors
    entropy: float = 0.3  # how much unlabelled nodes are asked to be sure of their class
    supervise_f: bool = True
    weight_decay: float = 0.02  # lambda_w
    learning_rate: float = 0.02
    vector_rate: float = 0.003  # the learning rate of x
    start: Literal["structural", "random"] = "structural"
    groups: By = "type"
    functions: Literal["shared", "per-type"] = "shared"  # one f for all nodes, as in the paper, or one for each type
    attributes: bool = False  # whether to learn from graph.features too: see pine.model.attributes
    attribute_dropout: float = 0.6  # of columns
    batch_size: int | None = None  # nodes at a time, where a graph's activations do not fit: see pine.model.batches
    samples: int | None = None  # with batch_size: neighbors of a node in each group, drawn anew each epoch; None: all
    guard: float = 1.0  # without labels: weight of the decorrelation that keeps vectors from collapsing

    @classmethod
    def paper(cls, typed: bool = False, **changes: Any) -> Self:
        """The method as printed (Section 4.1; for typed graphs 4.2, lambdas in the order of the node types)."""
        one = {"lam": 0.005, "weight_decay": 1e-3, "hidden": 16, "projections": 32, "scales": 16}
        two = {"lam": (0.2, 200.0), "weight_decay": 1e-4, "hidden": 8, "projections": 16, "scales": 8}
        printed: dict[str, Any] = {
            "label_share": 0.0,
            "scaling": "sum",
            "heads": "separate",
            "activation": "sigmoid",
            "conditioned": False,
            "dropout": 0.0,
            "node_dropout": 0.0,
            "entropy": 0.0,
            "supervise_f": False,
            "learning_rate": 0.01,  # not printed: Adam, no more
            "vector_rate": 0.01,
            "start": "random",
        }
        return cls(**(printed | (two if typed else one) | changes))

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        return self._fit_with(graph, labels, rng, FitOptions())

    def _fit_with(self, graph: Graph, labels: Labels | None, rng: np.random.Generator, options: FitOptions) -> Fitted:
        """Nodes known from an earlier run, f, theta and the settings chosen there begin where they were."""
        run = options.start_from
        if run is None:
            return self._learn(graph, labels, rng, None, options)
        if not isinstance(run, PINE | str | Path):
            raise InputError(f"start_from takes a fitted PINE or the folder of a saved one, got {type(run).__name__}")
        earlier = run if isinstance(run, PINE) else PINE.load(run)
        earlier._check_fitted()
        return self._learn(graph, labels, rng, earlier, options)

    def _learn(
        self, graph: Graph, labels: Labels | None, rng: np.random.Generator, earlier: PINE | None, options: FitOptions
    ) -> Fitted:
        from pine.model.fitting import learn

        self._check_settings(graph)
        self.learned_ = learn(self, graph, labels, rng, options, earlier)
        return Fitted(self.learned_.x, self.learned_.scores)

    def _check_settings(self, graph: Graph) -> None:
        if self.attributes and not graph.features:
            raise InputError(
                "attributes=True needs node features: Graph.from_edges(..., features=...) or with_features"
            )
        number_of_threads(self.threads)
        for field, least in (("dim", 1), ("epochs", 1), ("hidden", 1), ("projections", 1), ("scales", 1), ("folds", 0)):
            value = getattr(self, field)
            if value < least:
                raise InputError(f"{field} must be a whole number of at least {least}, got {value!r}")
        for field in ("batch_size", "samples"):
            value = getattr(self, field)
            if value is not None and value < 1:
                raise InputError(f"{field} must be a positive whole number or None, got {value!r}")
        if self.samples is not None and self.batch_size is None:
            raise InputError("samples are drawn for batches: set batch_size too")
        for field in ("learning_rate", "vector_rate"):
            if not getattr(self, field) > 0:
                raise InputError(f"{field} must be positive, got {getattr(self, field)!r}")
        for field in ("entropy", "weight_decay", "guard"):
            if not getattr(self, field) >= 0:
                raise InputError(f"{field} must not be negative, got {getattr(self, field)!r}")
        if not 0 <= self.attribute_dropout < 1:
            raise InputError(f"attribute_dropout must be in [0, 1), got {self.attribute_dropout!r}")
        if self.label_share is not None and not 0 <= self.label_share < 1:
            raise InputError(f"label_share must be in [0, 1), or None, got {self.label_share!r}")
        if self.lam is not None:
            given = np.atleast_1d(np.asarray(self.lam, np.float64))
            if not (given > 0).all():  # infinity turns the agreement off
                raise InputError(f"lam must be positive, got {self.lam!r}")
            if len(given) not in (1, len(graph.node_types)):
                raise InputError(
                    f"lam must be one number or one for each of {listed(graph.node_types)}, got {self.lam!r}"
                )

    # ---- after fit ----

    def reconstruct(self) -> Any:
        """f of every node's neighbors, in the form of embedding_."""
        self._check_fitted()
        return self.nodes_.split_by_type(self.learned_.f)

    def transform(self, graph: Graph) -> Any:
        """Vectors for all nodes of a graph that holds unseen ones, without training; known nodes keep theirs."""
        from pine.model.transform import vectors_of

        self._check_fitted()
        return graph.nodes.split_by_type(vectors_of(self, graph)[0])

    def _scores_in(self, graph: Graph) -> NDArray[np.float32]:
        from pine.model.transform import vectors_of
        from pine.propagation import LabelPropagator

        assert self.labels_ is not None
        place = graph.nodes.slice(self.labels_.type)
        x, f = vectors_of(self, graph)
        scores = self.learned_.predictions(self.labels_.task, x[place], f[place])
        share = self.learned_.choice.label_share
        if share > 0:
            propagator = LabelPropagator(graph, self.labels_.type, "cpu", self.threads)
            scores = propagator.propagate(*self._known_in(graph)).blend(scores, share)
        return scores

    # ---- saving ----

    def _state(self) -> dict[str, NDArray[Any]]:
        return self.learned_.arrays()

    def _about(self) -> dict[str, Any]:
        return self.learned_.about()

    def _restore(self, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
        try:
            self.learned_ = Learned.restored(self.fitted_.vectors, self.fitted_.scores, arrays, about)
        except (KeyError, TypeError, ValueError) as problem:
            raise InputError(f"this run cannot be read by pine {__version__}, train it again: {problem}") from None
        self.lam = tuple(self.lam) if isinstance(self.lam, list) else self.lam
