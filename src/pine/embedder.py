"""The one interface that PINE and every baseline share: fit a graph, then ask for vectors and predictions."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pine._internal.progress import Progress
from pine._internal.progress_bar import progress_callback
from pine._internal.settings import (
    SeedNumber,
    change_settings,
    changed_settings,
    check_settings,
    deep_settings,
    find_setting,
    own_settings,
    plain_settings,
)
from pine.errors import InputError, listed, quoted
from pine.graph import Graph, check_graph
from pine.graph.nodes import Nodes
from pine.io.runs import UNREADABLE_RUN, Run, read_run, write_run
from pine.labels import TASKS, Labels, Task, read_labels, split_validation
from pine.nn.training import own_torch_modes
from pine.node_links import NodeLinks
from pine.propagation import check_spread, smooth_scores

Seed = SeedNumber | np.random.Generator | None

logger = logging.getLogger("pine")


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a method hands back: vectors (num_nodes, dim) over all types; scores of the nodes of the labeled type.

    scores: probabilities (count, num_classes) for classes and label sets, predicted numbers (count, 1), or None.
    """

    vectors: NDArray[np.float32]
    scores: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class FitOptions:
    """How a fit runs; none of it is a setting of the method.

    start_from: a fitted method, or the folder of a saved one. checkpoint: the file of a fit under way, written every so
    many seconds; keep_checkpoint: whether it stays when the fit is done. validation: labels to choose on, and not to
    learn from. mmap_dir: a folder for arrays that are more than memory holds.
    """

    start_from: Any = None
    checkpoint: Path | None = None
    checkpoint_every: float = 60.0
    progress: Progress | None = None
    validation: Labels | None = None
    keep_checkpoint: bool = False
    mmap_dir: Path | None = None


class Embedder(NodeLinks):
    """A method is a dataclass of its settings; what fit learned ends in an underscore."""

    name: ClassVar[str]
    former_names: ClassVar[tuple[str, ...]] = ()  # under which runs were saved
    revision: ClassVar[int]  # raised by hand when what the method computes changes: kept results go by it
    supervised: ClassVar[bool]  # has a classifier of its own
    keeps_checkpoints: ClassVar[bool] = False
    needs_labels: ClassVar[bool] = True  # of supervised methods: whether they can do without
    needs_features: ClassVar[bool] = False  # of the nodes that have labels
    tasks: ClassVar[tuple[Task, ...]] = TASKS

    @abstractmethod
    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        """Learn from a graph without hidden labels and from checked labels."""

    def _fit_with(self, graph: Graph, labels: Labels | None, rng: np.random.Generator, options: FitOptions) -> Fitted:
        """Learn as _fit does, with options; a method that has a use for them overrides this."""
        self._check_cold_start(options)
        return self._fit(graph, labels, rng)

    def _check_cold_start(self, options: FitOptions) -> None:
        """Of a method that always begins anew."""
        if options.start_from is not None:
            raise InputError(f"{self.name} cannot start from an earlier run; leave start_from out")
        if options.checkpoint is not None:
            raise InputError(f"{self.name} keeps no checkpoints; leave checkpoint out")
        if options.mmap_dir is not None:
            raise InputError(f"{self.name} keeps all its arrays in memory; leave mmap_dir out")

    def fit(
        self,
        graph: Graph,
        labels: Any = None,
        task: str = "auto",
        start_from: Any = None,
        checkpoint: str | Path | None = None,
        progress: Progress | bool | None = None,
        checkpoint_every: float = 60.0,
        validation: Any = None,
        keep_checkpoint: bool = False,
        mmap_dir: str | Path | None = None,
    ) -> Self:
        """Learn vectors of all nodes of a graph, and with labels a classifier; returns self.

        graph: a pine.Graph.
        labels: an array in node order, {id: label}, or {type: either} for a typed graph; None: without.
        task: "classes", "label-sets" or "numbers", or "auto", by what labels are.
        start_from: a fitted model, or the folder of a saved one, on an earlier state of the graph; nodes that it knows
            begin where they were.
        checkpoint: a file for the state of this fit, from which an interrupted one goes on.
        progress: True shows a bar, also in notebooks; a function is called with what is done, what is planned and what
            is being done.
        checkpoint_every: seconds between two writes of the checkpoint.
        validation: nodes whose labels are not learned from, but used to choose settings or when to stop, by methods
            that do so: their ids, or a mask in node order. Without it, such methods hold out some of the labels.
        keep_checkpoint: the file stays when the fit is done, for who wants to save the result before removing it.
        mmap_dir: a folder on a disk, for vectors that are more than memory holds: they, their gradients and moments
            lie in files there, which are gone when the model is. Slower; PINE on a CPU, without features.
        """
        check_graph("fit", graph)
        # A search over np.arange(...) gives NumPy's numbers, which JSON and other libraries do not take.
        self.set_params(
            **{key: each.item() for key, each in own_settings(self).items() if isinstance(each, np.generic)}
        )
        check_settings(type(self), own_settings(self))
        read = None if labels is None else read_labels(graph, labels, task)
        if self.supervised and self.needs_labels and read is None:
            raise InputError(f"{self.name} learns from labels and needs some: fit(graph, labels)")
        if self.supervised and read is not None and read.task not in self.tasks:
            raise InputError(f"{self.name} learns {listed(self.tasks)}, these labels are {read.task!r}")
        if self.needs_features and read is not None and graph.features.get(read.type) is None:
            raise InputError(
                f"{self.name} learns from node features, and nodes of type {read.type!r} have none: "
                "fit(graph.with_features({type: array}), labels)"
            )
        seed = getattr(self, "seed", None)
        file = None if checkpoint is None else Path(checkpoint)
        visible, held = read if self.supervised else None, None
        if validation is not None:
            if read is None:
                raise InputError("validation nodes need labels: fit(graph, labels, validation=ids)")
            learned_from, held = split_validation(graph, read, validation)
            visible = learned_from if self.supervised else None
        began = time.monotonic()
        logger.info("%s: fitting %r", self.name, graph)
        with progress_callback(progress, self.name) as callback, own_torch_modes():
            folder = None if mmap_dir is None else Path(mmap_dir)
            options = FitOptions(start_from, file, checkpoint_every, callback, held, keep_checkpoint, folder)
            fitted = self._fit_with(graph.bare(), visible, np.random.default_rng(seed), options)
        self._remember(graph.nodes, fitted, visible)
        logger.info("%s: fitted in %.1f s", self.name, time.monotonic() - began)
        return self

    def fit_transform(self, graph: Graph, labels: Any = None, **options: Any) -> Any:
        """Fit, then the vectors of the graph's nodes, as embedding_ has them; graph, labels and options as in fit."""
        return self.fit(graph, labels, **options).embedding_

    def fit_predict(self, graph: Graph, labels: Any, **options: Any) -> Any:
        """Fit, then the predictions for all nodes of the labeled type; graph, labels and options as in fit."""
        return self.fit(graph, labels, **options).predict()

    def _remember(self, nodes: Nodes, fitted: Fitted, labels: Labels | None) -> None:
        self._forget_nearest()
        self.nodes_ = nodes
        self.fitted_ = fitted
        self.labels_ = labels
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if labels is not None and labels.classes is not None:
            self.classes_ = labels.classes

    # ---- what fit saw ----

    @property
    def choice_(self) -> dict[str, Any]:
        """The settings that fit chose on held-out labels, by name; empty for a method that chooses none."""
        self._check_fitted()
        return {}

    @property
    def score_(self) -> float | None:
        """How good the choice was on held-out labels: accuracy, micro F1 or R2; None where nothing was held out."""
        self._check_fitted()
        return None

    @property
    def history_(self) -> list[dict[str, Any]]:
        """The terms of the loss, a row an epoch, as pandas.DataFrame takes them; empty for a method that keeps none."""
        self._check_fitted()
        return []

    # ---- vectors ----

    @property
    def _vectors(self) -> NDArray[np.float32]:
        self._check_fitted()
        return self.fitted_.vectors

    def _refitted(self, graph: Graph) -> Self:
        fresh = type(self)(**own_settings(self))
        with own_torch_modes():
            rng = np.random.default_rng(getattr(self, "seed", None))
            fitted = fresh._fit_with(graph.bare(), self.labels_, rng, FitOptions())
        fresh._remember(graph.nodes, fitted, self.labels_)
        return fresh

    def transform(self, graph: Graph) -> Any:
        """Vectors for all nodes of a graph that holds unseen ones, in its node order."""
        raise self._not_inductive()

    def _not_inductive(self) -> InputError:
        return InputError(
            f"{self.name} is not inductive: it has no vectors for nodes that it was not fitted on; fit again"
        )

    # ---- predictions ----

    def predict_proba(
        self, ids: Any = None, graph: Graph | None = None, type: str | None = None, spread: float = 0.0
    ) -> NDArray[np.float32]:
        """Probabilities of the classes, in the order of classes_: (num_nodes, num_classes).

        ids: of the nodes, a list or array; None: all nodes of the labeled type, in node order.
        graph: a graph that may hold nodes that were not there in fit; None: the graph of fit.
        type: the type that has labels; it need not be said.
        spread: the share of a node's score that comes from its neighbors' in the given graph (see pine.propagation).
        """
        labels = self._check_predicts()
        if labels.task == "numbers":
            raise InputError("the labels are numbers: there are no probabilities, use predict")
        return self._smoothed_scores(ids, graph, type, spread)

    def predict(self, ids: Any = None, graph: Graph | None = None, type: str | None = None, spread: float = 0.0) -> Any:
        """Labels as the user gave them: classes or numbers (num_nodes,), label sets as rows or as sets of names.

        ids: of the nodes, a list or array; None: all nodes of the labeled type, in node order.
        graph: a graph that may hold nodes that were not there in fit; None: the graph of fit.
        type: the type that has labels; it need not be said.
        spread: the share of a node's score that comes from its neighbors' in the given graph (see pine.propagation).
        """
        labels = self._check_predicts()
        scores = self._smoothed_scores(ids, graph, type, spread)
        if labels.classes is None:
            return scores[:, 0]
        if labels.task == "classes":
            return labels.classes[scores.argmax(axis=1)]
        given = scores >= 0.5
        return [set(labels.classes[row].tolist()) for row in given] if labels.named_sets else given.astype(np.uint8)

    def _smoothed_scores(self, ids: Any, graph: Graph | None, type: str | None, spread: float) -> NDArray[np.float32]:
        alpha = check_spread(spread)
        if graph is not None:
            check_graph("predict", graph)
        if alpha == 0:
            return self._scores(ids, graph, type)
        if graph is None:
            raise InputError(
                "scores spread along the edges of a graph: pass it, as in predict(graph=graph, spread=0.5)"
            )
        assert self.labels_ is not None
        own = self._scores(None, graph, type)
        type = self.labels_.type
        scores = smooth_scores(graph, type, own, *self._known_in(graph), alpha)
        return scores if ids is None else scores[graph.nodes.find(ids, type)[1]]

    def _known_in(self, graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Where in a graph the nodes with training labels are, as far as they are, and what their scores should be."""
        assert self.labels_ is not None
        type = self.labels_.type
        here = graph.nodes.of(type).find(self.nodes_.of(type).as_column())[self.labels_.known]
        return here[here >= 0], self.labels_.targets()[here >= 0]

    def _scores(self, ids: Any, graph: Graph | None, type: str | None) -> NDArray[np.float32]:
        """Scores of the given nodes of the labeled type, or of all: (num_nodes, num_outputs)."""
        assert self.labels_ is not None
        if type is not None and not (isinstance(type, str) and type == self.labels_.type):
            raise InputError(f"the labels are on nodes of type {self.labels_.type!r}, not {quoted(type)}")
        scores = self.fitted_.scores if graph is None else self._scores_in(graph)
        assert scores is not None
        nodes = self.nodes_ if graph is None else graph.nodes
        return scores if ids is None else scores[nodes.find(ids, self.labels_.type)[1]]

    def _scores_in(self, graph: Graph) -> NDArray[np.float32]:
        """Scores of a graph's nodes of the labeled type; an inductive method has them for unseen nodes too."""
        if not graph.nodes.equals(self.nodes_):
            raise self._not_inductive()
        assert self.fitted_.scores is not None
        return self.fitted_.scores

    # ---- saving ----

    def save(self, folder: str | Path) -> None:
        """Write everything into a folder, whole or not at all; it holds numbers and JSON, nothing that can run.

        folder: a new one, or that of an earlier run, which is replaced.
        """
        self._check_fitted()
        arrays = {"vectors": self.fitted_.vectors}
        if self.fitted_.scores is not None:
            arrays["scores"] = self.fitted_.scores
        arrays |= self._state()
        settings = plain_settings(self)
        write_run(Path(folder), Run(self.name, settings, self.nodes_, arrays, self.labels_, self._about()))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what save wrote; nothing in the folder is executed. folder: that of a saved run of this method."""
        run = read_run(Path(folder))
        if run.method not in (cls.name, *cls.former_names):
            raise InputError(f"{folder} was saved by {run.method!r}, not by {cls.name!r}")
        method = cls()
        known = plain_settings(method)
        saved = {name: _as_tuple(value) for name, value in run.params.items() if name in known}
        try:
            method.set_params(**saved)
            check_settings(cls, own_settings(method))
            fitted = Fitted(run.arrays.pop("vectors"), run.arrays.pop("scores", None))
            method._remember(run.nodes, fitted, run.labels)
            method._restore(run.arrays, run.about)
        except InputError:
            raise
        except UNREADABLE_RUN as problem:
            raise InputError(f"{folder} is damaged and cannot be read: {problem}") from None
        return method

    def _state(self) -> dict[str, NDArray[Any]]:
        """Arrays that a method keeps beside its vectors and scores."""
        return {}

    def _about(self) -> dict[str, Any]:
        """What else a method keeps, as JSON has it."""
        return {}

    def _restore(self, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
        """Take back what _state and _about gave."""

    # ---- settings, as scikit-learn has them ----

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings; deep: those inside settings objects too, as outer__inner."""
        return deep_settings(self) if deep else own_settings(self)

    def set_params(self, **params: Any) -> Self:
        """Change settings; params: by name, those inside settings objects as outer__inner, or by their own names."""
        for name in params:
            find_setting(self, name, self.name)  # so that nothing is changed where one is unknown
        change_settings(self, params, self.name)
        return self

    # ---- as text ----

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = Embedder.__repr__  # type: ignore[method-assign]  # before a dataclass makes one of all settings

    def __repr__(self) -> str:
        own = own_settings(self)
        shown = {name: own[name] for name in ("dim", "seed") if name in own} | changed_settings(self)
        settings = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({'; '.join(filter(None, (settings, *self._fitted_words())))})"

    def _fitted_words(self) -> Iterator[str]:
        if hasattr(self, "fitted_"):
            task = "no labels" if self.labels_ is None else self.labels_.task
            score = "" if self.score_ is None else f", held-out score {self.score_:.3f}"
            yield f"fitted: {len(self.nodes_):,} nodes, {task}{score}"

    # ---- checks ----

    def _check_fitted(self) -> None:
        if not hasattr(self, "fitted_"):
            raise InputError(f"this {type(self).__name__} is not fitted yet; call fit(graph, labels) first")

    def _check_predicts(self) -> Labels:
        self._check_fitted()
        if not self.supervised or self.labels_ is None:
            raise InputError(
                f"{self.name} was fitted without labels and cannot predict; train a classifier on embedding_, "
                "as pine.evaluation does"
            )
        return self.labels_


def _as_tuple(value: Any) -> Any:
    """JSON has lists where settings have tuples."""
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value
