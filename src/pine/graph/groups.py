"""The K groups of neighbors that f sums over: by the neighbor's type, by relation and side, or all in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pine.errors import InputError, one_of
from pine.graph.csr import CSR, build_csr
from pine.graph.nodes import Nodes, Relation

By = Literal["type", "relation", "all"]
Direction = Literal["out", "in", "both", "split"]


@dataclass(frozen=True, eq=False)
class NeighborGroup:
    """One group: its name, the type of its neighbors (None: any), and for every node its neighbors in the group."""

    name: str
    type: str | None
    matrix: CSR


@dataclass(frozen=True)
class _Side:
    """A relation seen from one of its ends: nodes of type `row` have neighbors of type `column`."""

    relation: Relation
    side: str  # "out": the row is the relation's source; "in": its destination

    @property
    def row(self) -> str:
        return self.relation[0 if self.side == "out" else 2]

    @property
    def column(self) -> str:
        return self.relation[2 if self.side == "out" else 0]


def neighbor_groups(
    nodes: Nodes, relations: Mapping[Relation, CSR], directed: bool, by: By, direction: Direction | None
) -> tuple[NeighborGroup, ...]:
    """Sort the sides of all relations into groups and lay each group out as one matrix over all nodes."""
    one_of("by", by, ("type", "relation", "all"))
    one_of("direction", direction, (None, "out", "in", "both", "split"))
    if direction is not None and not directed:
        raise InputError(f"direction={direction!r} is for directed graphs; in an undirected graph neighbors are mutual")
    groups: dict[str, list[_Side]] = {}
    if by == "type":
        # Every type has its group, also one that nothing links to, so that K does not depend on the edges.
        suffixes = (":out", ":in") if direction == "split" else ("",)
        groups = {type + suffix: [] for type in nodes.types for suffix in suffixes}
    for side in _sides(relations, directed, direction):
        name = {"type": side.column, "relation": "-".join(side.relation), "all": "all"}[by]
        if direction == "split":
            name += f":{side.side}"
        elif by == "relation" and side.side == "in":
            name += ":in"
        groups.setdefault(name, []).append(side)
    if by == "all" and not groups:
        groups["all"] = []
    return tuple(
        NeighborGroup(name, _common_type(name, sides, by), _lay_out(nodes, relations, sides))
        for name, sides in groups.items()
    )


def _common_type(name: str, sides: Sequence[_Side], by: By) -> str | None:
    if by == "type":
        return name.removesuffix(":out").removesuffix(":in")
    types = {side.column for side in sides}
    return types.pop() if len(types) == 1 else None


def _sides(relations: Iterable[Relation], directed: bool, direction: Direction | None) -> list[_Side]:
    sides = []
    for relation in relations:
        if directed:
            wanted = {None: ("out",), "out": ("out",), "in": ("in",)}.get(direction, ("out", "in"))
        else:
            # Between nodes of one type the matrix is symmetric already.
            wanted = ("out",) if relation[0] == relation[2] else ("out", "in")
        sides += [_Side(relation, side) for side in wanted]
    return sides


def _lay_out(nodes: Nodes, relations: Mapping[Relation, CSR], sides: Sequence[_Side]) -> CSR:
    """One matrix over all nodes; a pair that two sides link counts twice, as two edges do."""
    matrices = [relations[side.relation] for side in sides]
    blocks = [m if side.side == "out" else m.transposed for side, m in zip(sides, matrices, strict=True)]
    if len(sides) == 1 and len(nodes.types) == 1:
        return blocks[0]
    empty = [np.empty(0, np.int32)]
    starts = [(nodes.slice(side.row).start, nodes.slice(side.column).start) for side in sides]
    rows = np.concatenate([*empty, *(b.rows() + start for b, (start, _) in zip(blocks, starts, strict=True))])
    columns = np.concatenate([*empty, *(b.indices + start for b, (_, start) in zip(blocks, starts, strict=True))])
    weights = None
    if any(block.weights is not None for block in blocks):
        # An edge without a weight weighs 1 beside edges that have one.
        weights = np.concatenate([np.ones(b.nnz, np.float32) if b.weights is None else b.weights for b in blocks])
    return build_csr(rows, columns, weights, (len(nodes), len(nodes)), duplicates="keep")
