"""Vectors for nodes that come later: x_u = f(neighbors of u), where unseen nodes touch each other by damped rounds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.errors import InputError, listed
from pine.graph import CSR, Graph
from pine.graph.nodes import Nodes
from pine.model.fitting import new_function
from pine.model.objective import Neighborhoods

if TYPE_CHECKING:
    from pine.model.pine import PINE

ROUNDS = 50
DAMPING = 0.5
SETTLED = 1e-4


@torch.no_grad()
def settle(x: Tensor, unseen: Tensor, together: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
    """Fill the rows of unseen nodes; known rows are not touched.

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
            return x
    warnings.warn(
        f"vectors of nodes that are neighbors of each other did not settle within {ROUNDS} rounds; "
        "fit again to get vectors that agree",
        stacklevel=3,
    )
    return x


def known_vectors(nodes: Nodes, trained: Nodes, vectors: NDArray[np.float32]) -> tuple[Tensor, Tensor]:
    """Vectors (num_nodes, dim) of the nodes that were trained, zeros for the others, and which those are."""
    x = torch.zeros(len(nodes), vectors.shape[1])
    unseen = torch.ones(len(nodes), dtype=torch.bool)
    for type in nodes.types:
        if type in trained.types:
            found = trained.of(type).find(nodes.of(type).as_column())
            here = nodes.slice(type).start + np.flatnonzero(found >= 0)
            x[here] = torch.tensor(vectors[trained.slice(type)][found[found >= 0]])
            unseen[here] = False
    return x, unseen


def has_neighbor_in(adjacency: CSR, chosen: Tensor) -> Tensor:
    """Which nodes have a neighbor among the chosen ones: (num_nodes,) bool."""
    result = torch.zeros_like(chosen)
    result[torch.tensor(adjacency.rows()[chosen.numpy()[adjacency.indices]].astype(np.int64))] = True
    return result


def vectors_of(model: PINE, graph: Graph) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """x and f (num_nodes, dim) of all nodes of a graph that shares nodes with the one a model was trained on."""
    learned = model.learned_
    _check_kin(model, graph)
    x, unseen = known_vectors(graph.nodes, model.nodes_, learned.x)
    if unseen.all():
        raise InputError("this graph shares no node with the one that was trained on; fit a model on it")
    f = new_function(model, learned.choice.scaling, len(learned.group_names), torch.Generator(), None)
    f.load_state_dict({name: torch.tensor(array) for name, array in learned.parameters.items()})
    f.eval()
    found = {group.name: group for group in model.neighbor_groups(graph)}
    groups = [found[name] for name in learned.group_names]
    around = Neighborhoods.of(graph, groups, learned.choice.scaling, torch.device("cpu"), model.threads)

    def apply(vectors: Tensor) -> Tensor:
        with torch.no_grad():
            result: Tensor = f([vectors[place] for place in around.columns], around.neighbors)
        return result

    adjacency = graph.adjacency("both" if graph.directed else None)
    x = settle(x, unseen, unseen & has_neighbor_in(adjacency, unseen), apply)
    return x.numpy(), apply(x).numpy()


def _check_kin(model: PINE, graph: Graph) -> None:
    learned = model.learned_
    if graph.directed != learned.directed:
        kind = "a directed" if learned.directed else "an undirected"
        raise InputError(f"this model was trained on {kind} graph, got {graph}")
    unlike = set(learned.group_names) ^ {group.name for group in model.neighbor_groups(graph)}
    if unlike or set(graph.node_types) != set(model.nodes_.types):
        raise InputError(
            f"the graph must have the node types {listed(model.nodes_.types)} and the neighbor groups "
            f"{listed(learned.group_names)} of the training graph, got {graph}"
        )
