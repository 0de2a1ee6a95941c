"""A graph as PINE sees it: nodes of one type or many, and for every node its groups of neighbors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError, listed
from pine.graph.build import Features, Relation, build_relations, check_known, check_relation, checked_features
from pine.graph.column import column
from pine.graph.csr import CSR
from pine.graph.groups import By, Direction, NeighborGroup, neighbor_groups
from pine.graph.ids import NodeIds, ids_from
from pine.graph.table import edge_table

if TYPE_CHECKING:
    import networkx
    import scipy.sparse as sp

NODE = "node"
EDGE: Relation = (NODE, "to", NODE)


@dataclass(frozen=True, repr=False, eq=False)
class Graph:
    """Immutable. Nodes are numbered type after type; a position counts over all types, a node's id is the user's own.

    Build one with from_edges, from_relations, from_networkx, from_scipy or from_pyg.
    """

    _ids: Mapping[str, NodeIds]
    _relations: Mapping[Relation, CSR]
    directed: bool
    features: Mapping[str, Features]
    node_data: Mapping[str, Mapping[str, NDArray[Any]]]  # arrays that travel with the nodes, such as PyG's y and masks

    # ---- building ----

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        *,
        nodes: Any = None,
        weights: Any = "auto",
        features: Any = None,
        directed: bool = False,
        self_loops: Literal["drop", "keep"] = "drop",
        duplicates: Literal["merge", "sum", "keep"] = "merge",
        source: str | None = None,
        target: str | None = None,
        header: bool | None = None,
    ) -> Graph:
        """Build a graph of one node type.

        edges: array (num_edges, 2), list of pairs, pandas or polars frame, Arrow table, or the path of a csv, tsv,
            space-separated (each also .gz) or Parquet file. source and target name its columns; without them, columns
            with usual names (source, target, from, to, ...) or else the first two.
        nodes: the closed list of ids, in node order; isolated nodes come in this way. Without it, the ids of the
            edges: integers in ascending order, anything else in order of first appearance, sources first.
        weights: a column's name, an array, None, or "auto": a column called weight, or the third column of a file
            with three columns and no header.
        duplicates: what several edges between the same two nodes become: "merge" one edge with the largest weight,
            "sum" one edge with their weights added up, "keep" parallel edges.
        """
        return cls.from_relations(
            {EDGE: edges},
            nodes=None if nodes is None else {NODE: nodes},
            weights={EDGE: weights},
            features=None if features is None else {NODE: features},
            directed=directed,
            self_loops=self_loops,
            duplicates=duplicates,
            source=source,
            target=target,
            header=header,
        )

    @classmethod
    def from_relations(
        cls,
        relations: Mapping[Relation, Any],
        *,
        nodes: Mapping[str, Any] | None = None,
        weights: Mapping[Relation, Any] | None = None,
        features: Mapping[str, Any] | None = None,
        node_data: Mapping[str, Mapping[str, Any]] | None = None,
        directed: bool = False,
        self_loops: Literal["drop", "keep"] = "drop",
        duplicates: Literal["merge", "sum", "keep"] = "merge",
        source: str | None = None,
        target: str | None = None,
        header: bool | None = None,
    ) -> Graph:
        """Build a graph of several node types: {(source type, name, destination type): edges}, edges as in from_edges.

        Neighbors go both ways unless directed=True. Types that `nodes` lists are closed; the others get the ids that
        their edges name.
        """
        if not relations and not nodes:
            raise InputError("a graph needs at least one relation or one list of nodes")
        keys = [check_relation(relation) for relation in relations]
        check_known("weights for relation", list(weights or {}), keys)
        given = {key: (weights or {}).get(key, "auto") for key in keys}
        tables = {key: edge_table(relations[key], given[key], source, target, header, key[::2]) for key in keys}
        ids, built = build_relations(
            tables, nodes or {}, directed=directed, self_loops=self_loops, duplicates=duplicates
        )
        if not sum(map(len, ids.values())):
            raise InputError("a graph needs at least one node; the edges are empty and no nodes are given")
        return cls.assemble(ids, built, directed=directed, features=features, node_data=node_data)

    @classmethod
    def assemble(
        cls,
        ids: Mapping[str, NodeIds],
        relations: Mapping[Relation, CSR],
        *,
        directed: bool,
        features: Mapping[str, Any] | None = None,
        node_data: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Graph:
        """Put parts together that are already numbered; what goes with the nodes is checked here."""
        check_known("features for node type", list(features or {}), list(ids))
        check_known("node data for node type", list(node_data or {}), list(ids))
        checked = {type: checked_features(value, len(ids[type]), type) for type, value in (features or {}).items()}
        data: dict[str, Mapping[str, NDArray[Any]]] = {}
        for type, arrays in (node_data or {}).items():
            copies = {name: np.array(array) for name, array in arrays.items()}
            for name, array in copies.items():
                if array.ndim == 0 or len(array) != len(ids[type]):
                    raise InputError(f"{name} of type {type!r} must have one entry per node, {len(ids[type])}")
                array.flags.writeable = False
            data[type] = MappingProxyType(copies)
        proxies = [MappingProxyType(dict(part)) for part in (ids, relations, checked, data)]
        return cls(proxies[0], proxies[1], directed, proxies[2], proxies[3])

    # ---- size ----

    @property
    def node_types(self) -> tuple[str, ...]:
        """The node types, in the order in which their nodes are numbered."""
        return tuple(self._ids)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations: (source type, name, destination type)."""
        return tuple(self._relations)

    @property
    def num_nodes(self) -> int:
        """Number of nodes of all types."""
        return sum(map(len, self._ids.values()))

    @property
    def num_edges(self) -> int:
        """Number of edges of all relations; an undirected edge counts once."""
        return sum(self.edge_count(relation) for relation in self.relations)

    @property
    def nbytes(self) -> int:
        """Size of the ids and edges in memory."""
        ids, edges = self._ids.values(), self._relations.values()
        return sum(each.nbytes for each in ids) + sum(each.nbytes for each in edges)

    def count(self, type: str | None = None) -> int:
        """Number of nodes of a type."""
        return len(self._ids[self.check_type(type)])

    def edge_count(self, relation: Relation) -> int:
        """Number of edges of a relation; an undirected edge counts once."""
        csr = self.matrix(relation)
        if self.directed or relation[0] != relation[2]:
            return csr.nnz
        return (csr.nnz + int((csr.indices == csr.rows()).sum())) // 2

    def slice(self, type: str) -> slice:
        """Where the nodes of a type stand in the numbering over all types."""
        start = 0
        for each, ids in self._ids.items():
            if each == self.check_type(type):
                return slice(start, start + len(ids))
            start += len(ids)
        raise AssertionError(type)

    # ---- ids ----

    def ids(self, type: str | None = None) -> NDArray[Any]:
        """The users' ids of the nodes of a type, in node order: int64, or object for anything but integers."""
        return self._ids[self.check_type(type)].to_numpy()

    def node_ids(self, type: str | None = None) -> NodeIds:
        """The ids of a type in their compact form."""
        return self._ids[self.check_type(type)]

    def find(self, nodes: Any, type: str | None = None) -> NDArray[np.int64]:
        """Positions within their type of nodes given by id; an unknown id is an error."""
        type = self.check_type(type)
        wanted = column(nodes)
        positions = self._ids[type].find(wanted)
        unknown = np.flatnonzero(positions < 0)
        if len(unknown):
            raise InputError(f"there is no node {wanted[int(unknown[0])]!r} of type {type!r} in this graph")
        return positions

    def type_of(self, node: Any) -> str:
        """The one node type in which an id occurs."""
        types = [type for type, ids in self._ids.items() if ids.position(node) >= 0]
        if not types:
            raise InputError(f"there is no node {node!r} in this graph")
        if len(types) > 1:
            raise InputError(f"node {node!r} occurs in the types {listed(types)}; say which: type=...")
        return types[0]

    def check_type(self, type: str | None) -> str:
        """The given type if it exists; without one, the only type there is."""
        if type is None:
            if len(self._ids) > 1:
                raise InputError(f"this graph has the node types {listed(self._ids)}; say which: type=...")
            return next(iter(self._ids))
        if type not in self._ids:
            raise InputError(f"node type {type!r} does not exist; this graph has {listed(self._ids)}")
        return type

    # ---- neighbors ----

    def matrix(self, relation: Relation) -> CSR:
        """The edges of one relation, rows in the source type, columns in the destination type."""
        if relation not in self._relations:
            raise InputError(f"relation {relation!r} does not exist; this graph has {listed(self._relations)}")
        return self._relations[relation]

    def groups(self, by: By = "type", direction: Direction | None = None) -> tuple[NeighborGroup, ...]:
        """The K groups of neighbors of every node, each a matrix (num_nodes, num_nodes) over all types.

        by: "type" one group per neighbor type, "relation" one per relation and side, "all" a single group.
        direction: of a directed graph, "out" (default), "in", "both" in one group, or "split" into two groups.
        """
        return neighbor_groups(self, by, direction)

    def adjacency(self, direction: Direction | None = None) -> CSR:
        """All neighbors of every node, whatever their type: the untyped view."""
        return self.groups("all", direction)[0].matrix

    def neighbors(
        self, node: Any, type: str | None = None, *, by: By = "type", direction: Direction | None = None
    ) -> dict[str, list[Any]]:
        """The neighbors of one node by their ids: {group: ids}."""
        type = self.type_of(node) if type is None else self.check_type(type)
        position = self.slice(type).start + int(self.find([node], type)[0])
        return {
            group.name: [self.id_at(int(neighbor)) for neighbor in group.matrix.row(position)]
            for group in self.groups(by, direction)
        }

    def id_at(self, position: int) -> Any:
        """The id of the node at a position that counts over all types."""
        for ids in self._ids.values():
            if position < len(ids):
                return ids[position]
            position -= len(ids)
        raise IndexError(position)

    # ---- elsewhere ----

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, **options: Any) -> Graph:
        """Take a NetworkX graph: see pine.graph.convert.networkx."""
        from pine.graph.convert.networkx import from_networkx

        return from_networkx(graph, **options)

    def to_networkx(self) -> networkx.Graph:
        """Give a NetworkX graph with ids, types, weights and features."""
        from pine.graph.convert.networkx import to_networkx

        return to_networkx(self)

    @classmethod
    def from_scipy(cls, matrix: Any, **options: Any) -> Graph:
        """Take a square sparse matrix of weights: see pine.graph.convert.scipy."""
        from pine.graph.convert.scipy import from_scipy

        return from_scipy(matrix, **options)

    def to_scipy(self, relation: Relation | None = None) -> sp.csr_array:
        """Give the matrix of one relation, or of all neighbors of all nodes."""
        return (self.adjacency() if relation is None else self.matrix(relation)).to_scipy()

    @classmethod
    def from_pyg(cls, data: Any, **options: Any) -> Graph:
        """Take PyG's Data or HeteroData: see pine.graph.convert.pyg."""
        from pine.graph.convert.pyg import from_pyg

        return from_pyg(data, **options)

    def to_pyg(self) -> Any:
        """Give PyG's Data, or HeteroData for a typed graph."""
        from pine.graph.convert.pyg import to_pyg

        return to_pyg(self)

    def renamed(self, ids: Mapping[str, Any]) -> Graph:
        """The same graph with other ids for its nodes, in node order: {type: ids}."""
        check_known("ids for node type", list(ids), self.node_types)
        renamed = {type: ids_from(ids[type]) if type in ids else known for type, known in self._ids.items()}
        for type, known in self._ids.items():
            if len(renamed[type]) != len(known):
                raise InputError(
                    f"ids of type {type!r} must have one entry per node, {len(known)}, got {len(renamed[type])}"
                )
        return Graph(MappingProxyType(renamed), self._relations, self.directed, self.features, self.node_data)

    def with_features(self, features: Mapping[str, Any]) -> Graph:
        """The same graph with other features: {type: (count, num_features)}."""
        return Graph.assemble(
            self._ids, self._relations, directed=self.directed, features=features, node_data=self.node_data
        )

    def bare(self) -> Graph:
        """The same graph without node_data, which may hold labels."""
        return Graph.assemble(self._ids, self._relations, directed=self.directed, features=self.features)

    def __repr__(self) -> str:
        kind = "directed " if self.directed else ""
        if self.node_types == (NODE,):
            return f"Graph({self.num_nodes:,} nodes, {self.num_edges:,} {kind}edges)"
        nodes = ", ".join(f"{len(ids):,} {type}" for type, ids in self._ids.items())
        edges = ", ".join(f"{self.edge_count(each):,} {'-'.join(each)}" for each in self.relations)
        return f"Graph({nodes}; {kind}edges: {edges})"
