"""Vectors for nodes that come later: x_u = f(neighbors of u).

Where unseen nodes touch each other, by rounds, which are damped where vectors swing.

What was learned from features needs no rounds: it is made of the features of the nodes around u and of its own, so that
even a graph without a known node, and a node without neighbors, has vectors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pine.errors import InputError, listed
from pine.graph import CSR, Graph, NeighborGroup
from pine.model.learned import Array, Learned
from pine.model.neighborhoods import NeighborFunction, Neighborhoods

MOST_ROUNDS = 50
STEP = 1.0  # the share of the way to f that a round goes, at first
SLOWEST = 0.95  # how much of the way may be left from one round to the next, or the step is halved
TOLERANCE = 1e-4  # of the standard deviation of x


@torch.no_grad()
def fixed_point(x: Tensor, unseen: Tensor, adjacent: Tensor, f: Callable[[Tensor], Tensor]) -> tuple[Tensor, bool]:
    """Fill the rows of unseen nodes, and say whether they converged; known rows are not touched.

    x (num_nodes, dim), unseen (num_nodes,) bool, adjacent: unseen nodes that have an unseen neighbor. The others are
    done in one round, since f of known neighbors does not move.
    """
    x = x.clone()
    step, before = STEP, float("inf")
    for round_number in range(MOST_ROUNDS):
        new = f(x)[unseen]
        old = x[unseen]
        x[unseen] = torch.where(adjacent[unseen][:, None] & (round_number > 0), old + step * (new - old), new)
        change = float((new - old).abs().max()) if adjacent.any() else 0.0
        if change <= TOLERANCE * float(x.std()):
            return x, True
        if round_number > 0:
            # What does not come nearer swings around its place.
            step, before = step / 2 if change > SLOWEST * before else step, change
    return x, False


def known_vectors(learned: Learned, graph: Graph, vectors: Array) -> tuple[Tensor, Tensor]:
    """Of vectors of the trained nodes, those of a graph's nodes, zeros for unseen ones, and which these are.

    (num_nodes, dim) and (num_nodes,). Without a known node there must be features.
    """
    nodes, trained = graph.nodes, learned.nodes
    x = torch.zeros(len(nodes), vectors.shape[1], dtype=torch.float32)
    unseen = torch.ones(len(nodes), dtype=torch.bool)
    for type in nodes.types:
        if type in trained.types:
            found = trained.of(type).find(nodes.of(type).as_column())
            here = nodes.slice(type).start + np.flatnonzero(found >= 0)
            x[here] = torch.tensor(vectors[trained.slice(type)][found[found >= 0]])
            unseen[here] = False
    if unseen.all() and learned.features is None:
        raise no_known_node()
    return x, unseen


def no_known_node() -> InputError:
    """What to say of a graph that nothing carries over to."""
    return InputError(
        "this graph shares no node with the one that was trained on; fit a model on it, or train with node features, "
        "which carry over to other graphs where they are of use"
    )


def has_neighbor_in(adjacency: CSR, chosen: Tensor) -> Tensor:
    """Which nodes have a neighbor among the chosen ones: (num_nodes,) bool."""
    result = torch.zeros_like(chosen)
    result[torch.tensor(adjacency.rows()[chosen.numpy()[adjacency.indices]].astype(np.int64))] = True
    return result


@dataclass(frozen=True, eq=False)
class Transformed:
    """The nodes of a graph by a model that was trained on another: each (num_nodes, dim); whether x agrees with f.

    has_structure: whether x and f say anything.
    """

    x: Array
    f: Array
    features: Array | None
    converged: bool
    has_structure: bool = True

    def warn_if_not_converged(self) -> None:
        """For whoever shows these vectors to a user."""
        if not self.converged:
            warnings.warn(
                f"vectors of nodes that are neighbors of each other did not settle within {MOST_ROUNDS} rounds; "
                "fit again to get vectors that agree",
                stacklevel=3,
            )


def transform(learned: Learned, graph: Graph, threads: int | None) -> Transformed:
    """The vectors of all nodes of a graph that shares nodes, or features, with the one a model was trained on."""
    groups = matching_groups(learned, graph)
    x, unseen = known_vectors(learned, graph, learned.x)
    features = _features(learned, graph, unseen, threads)
    if not learned.choice.uses_structure or unseen.all():
        # Nobody asks for x, or there is no known node for it to begin at.
        return Transformed(x.numpy(), torch.zeros_like(x).numpy(), features, converged=True, has_structure=False)
    f = _function(learned, graph, groups, threads)
    with torch.no_grad():
        adjacent = unseen & has_neighbor_in(graph.links(), unseen)
        x, converged = fixed_point(x, unseen, adjacent, f)
        return Transformed(x.numpy(), f(x).numpy(), features, converged)


def _features(learned: Learned, graph: Graph, unseen: Tensor, threads: int | None) -> Array | None:
    """What the features of a graph make of its nodes; known ones keep what they have."""
    if learned.features is None:
        return None
    made = learned.features.apply(graph, threads)
    known = ~unseen.numpy()
    made[known] = known_vectors(learned, graph, learned.features.vectors)[0].numpy()[known]
    return made


def matching_groups(learned: Learned, graph: Graph) -> list[NeighborGroup]:
    """A graph's neighbor groups in the order of the trained ones, if it has the same and all else that is needed."""
    if graph.directed != learned.directed:
        kind = "a directed" if learned.directed else "an undirected"
        raise InputError(f"this model was trained on {kind} graph, got {graph}")
    found, types = learned.form.neighbor_groups(graph), learned.nodes.types
    if set(learned.group_names) != set(found) or set(graph.node_types) != set(types):
        raise InputError(
            f"the graph must have the node types {listed(types)} and the neighbor groups "
            f"{listed(learned.group_names)} of the training graph, got {graph}"
        )
    if learned.features is not None:
        graph.check_feature_widths(learned.features.widths)
    return [found[name] for name in learned.group_names]


def _function(learned: Learned, graph: Graph, groups: list[NeighborGroup], threads: int | None) -> NeighborFunction:
    neighborhoods = [Neighborhoods.of(graph, groups, learned.form.function.scaling, torch.device("cpu"), threads)]
    f = NeighborFunction(learned.form, neighborhoods, torch.Generator())
    f.load_state_dict(learned.f_parameters())
    return f.eval()
