"""A run as the page shows it: its nodes on a map, what they are and are predicted as, what is near, what is linked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from pine.embedder import Embedder
from pine.explore.answers import Answers, answers_of
from pine.explore.colorings import Coloring, colorings_of
from pine.explore.layout import LAYOUT_NAMES
from pine.explore.links import Links, links_between
from pine.explore.rankings import Ranking, rankings_of
from pine.graph import Graph
from pine.graph.csr import CSR
from pine.graph.nodes import Nodes
from pine.io.kept_map import KeptMap
from pine.labels import Labels
from pine.similarity import ExactNeighbors, nearest_without, unit_rows

NEAREST = 10
MOST_NEIGHBORS = 100  # of a node in the graph, that are listed; their number is always said


@dataclass(frozen=True, eq=False)
class Explored:
    """Everything that the page asks for; nodes are named by their numbers among all."""

    title: str
    method: str
    nodes: Nodes
    vectors: NDArray[np.float32]
    map: KeptMap
    answers: Answers | None
    links: Links | None

    @property
    def matrix(self) -> CSR | None:
        """Who is linked to whom."""
        return None if self.links is None else self.links.matrix

    @cached_property
    def colorings(self) -> list[Coloring]:
        return colorings_of(self.nodes, self.answers, self.matrix)

    @cached_property
    def rankings(self) -> list[Ranking]:
        return rankings_of(self.answers, self.matrix)

    @cached_property
    def _comparisons(self) -> list[tuple[slice, ExactNeighbors]]:
        places = [self.nodes.slice(type) for type in self.nodes.types]
        return [(place, ExactNeighbors(unit_rows(self.vectors[place]), torch.device("cpu"))) for place in places]

    def nearest(self, number: int) -> list[tuple[int, float]]:
        """The nodes of the same type that are nearest in cosine, and the cosines."""
        place, comparison = next(each for each in self._comparisons if each[0].start <= number < each[0].stop)
        own = np.array([number - place.start])
        ((found, cosines),) = nearest_without(comparison, comparison.unit[own].numpy(), NEAREST, own)
        return [(place.start + int(at), float(cosine)) for at, cosine in zip(found, cosines, strict=True)]

    def all_nearest(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The same for every node: (num_nodes, NEAREST) each, -1 where there are fewer."""
        numbers = np.full((len(self.nodes), NEAREST), -1, np.int64)
        cosines = np.zeros((len(self.nodes), NEAREST), np.float32)
        for place, comparison in self._comparisons:
            own = np.arange(len(comparison))
            found = nearest_without(comparison, comparison.unit.numpy(), NEAREST, own)
            for at, (near, values) in enumerate(found, place.start):
                numbers[at, : len(near)], cosines[at, : len(near)] = near + place.start, values
        return numbers, cosines

    def neighbors(self, number: int) -> tuple[list[int], int]:
        """Neighbors in the graph, at most MOST_NEIGHBORS of them, and how many there are; without a graph none."""
        if self.matrix is None:
            return [], 0
        row = self.matrix.row(number)
        return row[:MOST_NEIGHBORS].tolist(), len(row)

    def notes(self) -> list[str]:
        """What is not known, and what would tell."""
        made = []
        answers, links = self.answers, self.links
        if answers is None:
            made.append("No labels: the run was trained without, and none were given (--labels FILE).")
        elif answers.scores is None:
            made.append("No predictions: the run was trained without labels.")
        elif bool((answers.known == answers.trained).all()):
            made.append("The labels are those that the run was trained with; --labels FILE adds others.")
        if links is None:
            made.append("No graph: a run does not hold it. For neighbors and degrees: pine explore RUN EDGES.")
        else:
            if links.missing:
                made.append(f"{links.missing:,} nodes of the run are not in the given graph.")
            if links.unseen:
                made.append(f"{links.unseen:,} nodes of the given graph are not in the run, and are not shown.")
        made.append(f"The map: {LAYOUT_NAMES.get(self.map.layout, self.map.layout)} of the vectors' directions.")
        return made


def explore_run(
    title: str, model: Embedder, map: KeptMap, graph: Graph | None = None, labels: Labels | None = None
) -> Explored:
    """Put together what is known of a run; graph and labels as far as they are given."""
    links = None if graph is None else links_between(model.nodes_, graph)
    answers = answers_of(model, labels)
    return Explored(title, model.name, model.nodes_, model.fitted_.vectors, map, answers, links)
