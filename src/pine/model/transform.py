"""Vectors for nodes that come later: x_u = f(neighbors of u), where unseen nodes touch each other by damped rounds.

With attributes, x_u = f(neighbors of u) + A a_u: then even a graph without a known node has vectors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from pine.errors import InputError, listed
from pine.graph import CSR, Graph, NeighborGroup
from pine.model.attributes import Attributes, attribute_columns
from pine.model.learned import Array, Learned
from pine.model.neighborhoods import NeighborFunction, neighborhoods

if TYPE_CHECKING:
    from pine.model.pine import PINE

ROUNDS = 50
DAMPING = 0.5
SETTLED = 1e-4


@torch.no_grad()
def settle(x: Tensor, unseen: Tensor, together: Tensor, f: Callable[[Tensor], Tensor]) -> tuple[Tensor, bool]:
    """Fill the rows of unseen nodes, and say whether they settled; known rows are not touched.

    x (num_nodes, dim), unseen (num_nodes,) bool, together: unseen nodes that have an unseen neighbor. The others are
    done in one round, since f of known neighbors does not move.
    """
    x = x.clone()
    for round_number in range(ROUNDS):
        new = f(x)[unseen]
        old = x[unseen]
        mixed = torch.where(together[unseen][:, None] & (round_number > 0), old + DAMPING * (new - old), new)
        x[unseen] = mixed
        if not together.any() or float((mixed - old).abs().max()) <= SETTLED * float(x.std()):
            return x, True
    return x, False


def known_vectors(model: PINE, graph: Graph, vectors: Array) -> tuple[Tensor, Tensor]:
    """Of vectors of the trained nodes, those of a graph's nodes, zeros for unseen ones, and which these are.

    (num_nodes, dim) and (num_nodes,). Without a known node there must be attributes.
    """
    nodes, trained = graph.nodes, model.nodes_
    x = torch.zeros(len(nodes), vectors.shape[1])
    unseen = torch.ones(len(nodes), dtype=torch.bool)
    for type in nodes.types:
        if type in trained.types:
            found = trained.of(type).find(nodes.of(type).as_column())
            here = nodes.slice(type).start + np.flatnonzero(found >= 0)
            x[here] = torch.tensor(vectors[trained.slice(type)][found[found >= 0]])
            unseen[here] = False
    if unseen.all() and not model.learned_.form.attributes:
        raise InputError(
            "this graph shares no node with the one that was trained on; fit a model on it, or train with node "
            "features, which carry over to other graphs: PINE(attributes=True)"
        )
    return x, unseen


def has_neighbor_in(adjacency: CSR, chosen: Tensor) -> Tensor:
    """Which nodes have a neighbor among the chosen ones: (num_nodes,) bool."""
    result = torch.zeros_like(chosen)
    result[torch.tensor(adjacency.rows()[chosen.numpy()[adjacency.indices]].astype(np.int64))] = True
    return result


@dataclass(frozen=True, eq=False)
class Transformed:
    """The nodes of a graph by a model that was trained on another: each (num_nodes, dim); settled: x agrees with f."""

    x: Array
    f: Array  # what the neighbors and the attributes make of each node
    settled: bool


def transformed(model: PINE, graph: Graph) -> Transformed:
    """x and f of all nodes of a graph that shares nodes, or attributes, with the one a model was trained on."""
    learned = model.learned_
    groups = kin_groups(model, graph)
    x, unseen = known_vectors(model, graph, learned.x)
    own = of_attributes(learned, graph, model.threads)
    f = _function(learned, graph, groups, model.threads)

    def apply(vectors: Tensor) -> Tensor:
        result: Tensor = f(vectors) if own is None else f(vectors) + own
        return result

    with torch.no_grad():
        if own is not None:
            x[unseen] = own[unseen]
        adjacency = graph.links()
        x, settled = settle(x, unseen, unseen & has_neighbor_in(adjacency, unseen), apply)
        both = apply(x)
    return Transformed(x.numpy(), both.numpy(), settled)


def vectors_of(model: PINE, graph: Graph) -> tuple[Array, Array]:
    """x and f, with a warning where x did not settle."""
    found = transformed(model, graph)
    if not found.settled:
        warnings.warn(
            f"vectors of nodes that are neighbors of each other did not settle within {ROUNDS} rounds; "
            "fit again to get vectors that agree",
            stacklevel=3,
        )
    return found.x, found.f


def kin_groups(model: PINE, graph: Graph) -> list[NeighborGroup]:
    """A graph's neighbor groups in the order of the trained ones, if it has the same and all else that is needed."""
    learned = model.learned_
    if graph.directed != learned.directed:
        kind = "a directed" if learned.directed else "an undirected"
        raise InputError(f"this model was trained on {kind} graph, got {graph}")
    found = learned.form.neighbor_groups(graph)
    if set(learned.group_names) != set(found) or set(graph.node_types) != set(model.nodes_.types):
        raise InputError(
            f"the graph must have the node types {listed(model.nodes_.types)} and the neighbor groups "
            f"{listed(learned.group_names)} of the training graph, got {graph}"
        )
    widths = [learned.parameters[f"attributes.A.{k}"].shape[0] for k in range(len(learned.attribute_types))]
    graph.check_feature_widths(dict(zip(learned.attribute_types, widths, strict=True)))
    return [found[name] for name in learned.group_names]


def _function(learned: Learned, graph: Graph, groups: list[NeighborGroup], threads: int | None) -> NeighborFunction:
    around = neighborhoods(learned.form, graph, groups, torch.device("cpu"), threads)
    f = NeighborFunction(learned.form, around, torch.Generator())
    f.load_state_dict({name: torch.tensor(array) for name, array in learned.part("f").items()})
    return f.eval()


def of_attributes(learned: Learned, graph: Graph, threads: int | None) -> Tensor | None:
    """A a of every node (num_nodes, dim), or None if the model has no attributes."""
    if not learned.form.attributes:
        return None
    cpu = torch.device("cpu")
    columns = attribute_columns(graph, learned.attribute_types, cpu, threads)
    attributes = Attributes(columns, graph.num_nodes, learned.form.dim, cpu, batch=1, dropout=0.0)
    attributes.load_state_dict({name: torch.tensor(array)[None] for name, array in learned.part("attributes").items()})
    with torch.no_grad():
        own: Tensor = attributes.eval()()
    return own[0]
