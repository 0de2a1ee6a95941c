"""One fit: the trainings that choose settings on held-out labels, and the last one on all labels, with one loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor

from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.model.learned import Learned
from pine.model.objective import Neighborhoods, Objective, Targets
from pine.model.selection import Choice, Scores, candidates, folds, held_out_score
from pine.model.start import structural_start
from pine.model.training import train
from pine.nn import SetFunction
from pine.progress import progress_bar

if TYPE_CHECKING:
    from pine.model.pine import PINE

CHECK = 100  # epochs between two looks at the held-out labels
ONE_IN = 5  # the held-out share where there is one part only
LARGE = 20_000  # nodes above which settings are chosen on one held-out part, and with fewer epochs
LARGE_EPOCHS = 100
ENOUGH = 10  # labels without which nothing can be held out


def learn(model: PINE, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Learned:
    """Start, choose, train on all labels; torch's number of threads is left as it was."""
    threads = torch.get_num_threads()
    try:
        if model.threads is not None:
            torch.set_num_threads(model.threads)
        return _learn(model, graph, labels, rng)
    finally:
        torch.set_num_threads(threads)


def _learn(model: PINE, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Learned:
    center, scale, scaled = _scaled_numbers(labels)
    epochs = model.epochs if graph.num_nodes <= LARGE else min(model.epochs, LARGE_EPOCHS)
    options = candidates(model.lam, model.scaling, epochs)
    parts = model.folds if graph.num_nodes <= LARGE else min(model.folds, 1)
    choosing = len(options) > 1 and parts > 0 and labels is not None and len(labels.known) >= ENOUGH
    with progress_bar(Console(stderr=True), disable=not model.progress) as bar:
        task = bar.add_task("PINE", total=epochs * (1 + (len(options) * parts if choosing else 0)))
        fitting = Fitting(model, graph, scaled, rng, lambda count: bar.advance(task, count))
        choice = fitting.choose(options, parts) if choosing else options[0]
        seen = None if labels is None else np.ones((1, len(labels.known)), bool)
        objective, history = fitting.train(choice, seen)
    with torch.no_grad():
        f = objective.reconstruction()[0].cpu().numpy()
    state = objective.state_dict()
    taken = {name: tensor[0].cpu().numpy() for name, tensor in state.items()}
    learned = Learned(
        x=taken.pop("x"),
        f=f,
        scores=None,
        w=taken.pop("w"),
        b=taken.pop("b"),
        parameters={name.removeprefix("f."): array for name, array in taken.items()},
        group_names=tuple(group.name for group in fitting.groups),
        directed=graph.directed,
        center=center,
        scale=scale,
        choice=choice,
        history=history,
    )
    if labels is None:
        return learned
    place = graph.nodes.slice(labels.type)
    return replace(learned, scores=learned.predictions(labels.task, learned.x[place], learned.f[place]))


def _device(wanted: str) -> torch.device:
    """The device that is asked for; "auto": a GPU where there is one."""
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=wanted).device
    except (RuntimeError, AssertionError, TypeError) as problem:
        said = str(problem).splitlines()[0]
        raise InputError(f"device {wanted!r} cannot be used here ({said}); use 'auto', 'cpu' or 'cuda'") from None


def _scaled_numbers(labels: Labels | None) -> tuple[float, float, Labels | None]:
    """Center and scale of numbers, and labels at zero mean and unit variance; other labels as they are."""
    if labels is None or labels.task != "numbers":
        return 0.0, 1.0, labels
    center, scale = float(labels.values.mean()), float(labels.values.std()) or 1.0
    return center, scale, replace(labels, values=(labels.values - center) / scale)


def new_function(model: PINE, scaling: str, groups: int, generator: torch.Generator, batch: int | None) -> SetFunction:
    """f with the sizes of a model; batch: several of them side by side."""
    return SetFunction(
        [model.dim] * groups,
        model.dim,
        L=model.hidden,
        T=model.projections,
        Q=model.scales,
        sigma=model.activation,
        heads=model.heads,
        scaling=scaling,
        conditioned=model.conditioned,
        centered=model.conditioned,
        dropout=model.dropout,
        batch=batch,
        generator=generator,
    )


def start_of(model: PINE, graph: Graph, rng: np.random.Generator) -> NDArray[np.float32]:
    """x before training: (num_nodes, dim)."""
    if model.start == "random":
        return (0.1 * rng.standard_normal((graph.num_nodes, model.dim))).astype(np.float32)
    return structural_start(graph.adjacency("both" if graph.directed else None), model.dim, rng, threads=model.threads)


class Fitting:
    """One fit: everything that its trainings share."""

    def __init__(
        self,
        model: PINE,
        graph: Graph,
        labels: Labels | None,
        rng: np.random.Generator,
        tick: Callable[[int], None],
    ) -> None:
        self.model, self.graph, self.labels, self.rng, self.tick = model, graph, labels, rng, tick
        self.device = _device(model.device)
        self.groups = model.neighbor_groups(graph)
        self._around: dict[str, Neighborhoods] = {}
        self.types = [graph.nodes.slice(type) for type in graph.node_types]
        self.start: Tensor = torch.tensor(start_of(model, graph, rng), device=self.device)

    def around(self, scaling: str) -> Neighborhoods:
        """The neighborhoods with a scaling, made once."""
        if scaling not in self._around:
            made = Neighborhoods.of(self.graph, self.groups, scaling, self.device, self.model.threads)
            self._around[scaling] = made
        return self._around[scaling]

    def train(
        self,
        choice: Choice,
        seen: NDArray[np.bool_] | None,
        at: Iterable[int] = (),
        visit: Callable[[int, Objective], bool] | None = None,
    ) -> tuple[Objective, list[dict[str, float]]]:
        """Train models side by side, one for each row of seen labels; visit says whether to go on."""
        model = self.model
        batch = 1 if seen is None else len(seen)
        seeds = self.rng.integers(2**62, size=2)
        weights = torch.Generator().manual_seed(int(seeds[0]))
        targets = None
        if self.labels is not None and seen is not None:
            targets = Targets.of(self.graph, self.labels, seen, self.device)
        objective = Objective(
            self.start,
            new_function(model, choice.scaling, len(self.groups), weights, batch).to(self.device),
            self.around(choice.scaling),
            self.types,
            torch.tensor(choice.lam, device=self.device).expand(batch, -1),
            targets,
            weight_decay=model.weight_decay,
            entropy=model.entropy,
            smoothing=model.smoothing,
            on_f=model.supervise_f,
            guard=model.guard if self.labels is None else 0.0,
        )
        history = train(
            objective,
            choice.epochs,
            model.learning_rate,
            model.vector_rate,
            torch.Generator(self.device).manual_seed(int(seeds[1])),
            at=at,
            visit=None if visit is None else lambda epoch: visit(epoch, objective),
            tick=lambda: self.tick(batch),
        )
        return objective, history

    def choose(self, options: list[Choice], parts: int) -> Choice:
        """Train every candidate on all folds but one and score it on that one, all folds side by side."""
        labels = self.labels
        assert labels is not None
        fold = folds(labels, ONE_IN if parts == 1 else parts, self.rng)
        seen = np.array([fold != part for part in range(parts)])
        positions = torch.tensor(self.graph.nodes.slice(labels.type).start + labels.known, device=self.device)
        scores = Scores()
        for candidate in options:

            def visit(epoch: int, objective: Objective, candidate: Choice = candidate) -> bool:
                predicted = objective.predictions().index_select(1, positions).cpu().numpy()
                held = [held_out_score(labels, ~seen[part], predicted[part]) for part in range(parts)]
                return scores.add(candidate, epoch, float(np.mean(held)))

            last = candidate.epochs
            self.train(candidate, seen, {*range(CHECK, last + 1, CHECK), last}, visit)
        return scores.best()
