"""A graph as PINE sees it: nodes of one type or many, and for every node its groups of neighbors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import scipy.sparse as sp
from numpy.typing import NDArray

from pine.errors import InputError, listed, quoted
from pine.graph.build import build_relations, check_known, check_relation, checked_data
from pine.graph.build_on_disk import build_on_disk
from pine.graph.convert.dropped import warn_of_dropped
from pine.graph.convert.networkx import relations_from_networkx, to_networkx
from pine.graph.convert.other_libraries import way_in
from pine.graph.convert.pyg import relations_from_pyg, to_pyg
from pine.graph.convert.scipy import edges_from_scipy
from pine.graph.csr import CSR
from pine.graph.features import Features, Mask, checked_features
from pine.graph.groups import By, Direction, NeighborGroup, neighbor_groups
from pine.graph.nodes import EDGE, NODE, Nodes, Relation
from pine.graph.read.parquet import PARQUET
from pine.graph.read.table import edge_table

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, repr=False, eq=False)
class Graph:
    """Immutable. Nodes are numbered type after type; a position counts over all types, a node's id is the user's own.

    Build one with from_edges, from_relations, from_networkx, from_scipy or from_pyg.
    """

    nodes: Nodes
    _relations: Mapping[Relation, CSR]
    features: Mapping[str, Features]  # rows of nodes whose features are not known are zeros
    node_data: Mapping[str, Mapping[str, NDArray[Any]]]  # arrays that travel with the nodes, such as PyG's y and masks
    directed: bool
    feature_mask: Mapping[str, Mask] = field(default_factory=lambda: MappingProxyType({}))  # where rows are not known

    def __reduce__(self) -> Any:  # mappings that cannot be changed cannot be pickled either
        beside: dict[str, Any] = {
            "directed": self.directed,
            "features": dict(self.features),
            "feature_mask": dict(self.feature_mask),
            "node_data": {type: dict(arrays) for type, arrays in self.node_data.items()},
        }
        return partial(Graph.assemble, **beside), (self.nodes, dict(self._relations))

    def __deepcopy__(self, memo: Any) -> Graph:
        return self  # it cannot change

    # ---- building ----

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        *,
        nodes: Any = None,
        weights: Any = "auto",
        features: Any = None,
        feature_mask: Any = None,
        directed: bool = False,
        self_loops: Literal["drop", "keep"] = "drop",
        duplicates: Literal["merge", "sum", "keep"] = "merge",
        source: str | None = None,
        target: str | None = None,
        header: bool | None = None,
        mmap_dir: str | Path | None = None,
    ) -> Graph:
        """Build a graph of one node type.

        edges: array (num_edges, 2), list of pairs, pandas or polars frame, Arrow table, or the path of a csv, tsv,
            space-separated (each also .gz) or Parquet file. source and target name its columns; without them, columns
            with usual names (source, target, from, to, ...) or else the first two.
        nodes: the closed list of ids, in node order; isolated nodes come in this way. Without it, the ids of the
            edges: integers in ascending order, anything else in order of first appearance, sources first.
        weights: a column's name, an array, None for none, or "auto": a column called weight. Another one that may be
            weights (w, n, count, rating, ..., or a third column without a name, "2") is refused until it is told.
        header: whether the first line of a text file is one; None: if its words are no numbers and occur nowhere else.
        features: (num_nodes, num_features) in node order: an array, a sparse matrix, a pandas or polars frame, or an
            Arrow table. feature_mask: (num_nodes,), True where a node's features are known, if not all are.
        directed: edges go one way, from source to target.
        self_loops: edges from a node to itself, "drop" or "keep".
        duplicates: what several edges between the same two nodes become: "merge" one edge with the largest weight,
            "sum" one edge with their weights added up, "keep" parallel edges.
        mmap_dir: a folder on a disk, for edges that are more than memory holds: of an undirected graph in a Parquet
            file, which is read batch by batch. The rows of neighbors lie in files there, gone when the graph is.
        """
        if mmap_dir is not None:
            if directed:
                raise InputError("mmap_dir is for undirected graphs: leave directed out, or mmap_dir")
            if not isinstance(edges, str | os.PathLike) or Path(edges).suffix not in PARQUET:
                raise InputError(f"with mmap_dir edges must be the path of a Parquet file, got {quoted(edges)}")
            if not (weights is None or isinstance(weights, str)):
                raise InputError("with mmap_dir weights must be the name of a column, or None for none")
            ids, rows = build_on_disk(
                lambda: edge_table(edges, weights, source, target),
                nodes,
                Path(mmap_dir),
                self_loops=self_loops,
                duplicates=duplicates,
            )
            if not len(ids):
                raise InputError("a graph needs at least one node; the edges are empty and no nodes are given")
            return cls.assemble(
                Nodes({NODE: ids}), {EDGE: rows}, directed=False, features=features, feature_mask=feature_mask
            )
        return cls.from_relations(
            {EDGE: edges},
            nodes=None if nodes is None else {NODE: nodes},
            weights={EDGE: weights},
            features=features,
            feature_mask=feature_mask,
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
        feature_mask: Mapping[str, Any] | None = None,
        node_data: Mapping[str, Mapping[str, Any]] | None = None,
        directed: bool = False,
        self_loops: Literal["drop", "keep"] = "drop",
        duplicates: Literal["merge", "sum", "keep"] = "merge",
        source: str | None = None,
        target: str | None = None,
        header: bool | None = None,
    ) -> Graph:
        """Build a graph of several node types.

        relations: {(source type, name, destination type): edges}, edges as in from_edges.
        nodes: {type: ids}. Types that it lists are closed; the others get the ids that their edges name.
        weights: {relation: weights}, each as in from_edges.
        features, feature_mask: {type: array}, each as in from_edges.
        node_data: {type: {name: array}}, arrays with a row for every node that travel with it; no method looks at them.
        directed: edges go one way; otherwise neighbors go both ways.
        self_loops, duplicates, source, target, header: as in from_edges, for all relations.
        """
        if not relations and not nodes:
            raise InputError("a graph needs at least one relation or one list of nodes")
        keys = [check_relation(relation) for relation in relations]
        for key in keys:
            if (way := way_in(relations[key])) is not None:
                raise InputError(f"{type(relations[key]).__name__} is a graph, not edges: take it whole by {way}(...)")
        check_known("weights for relation", list(weights or {}), keys)
        given = {key: (weights or {}).get(key, "auto") for key in keys}
        tables = {key: edge_table(relations[key], given[key], source, target, header, key[::2]) for key in keys}
        for key, table in tables.items():
            is_frame = hasattr(relations[key], "columns") and table is not relations[key]
            if table.columns is not None and is_frame and isinstance(given[key], str) and given[key] == "auto":
                warn_of_dropped("Graph", table.columns.ignored)
        ids, built = build_relations(
            tables, nodes or {}, directed=directed, self_loops=self_loops, duplicates=duplicates
        )
        if not sum(map(len, ids.values())):
            raise InputError("a graph needs at least one node; the edges are empty and no nodes are given")
        return cls.assemble(
            Nodes(ids), built, directed=directed, features=features, feature_mask=feature_mask, node_data=node_data
        )

    @classmethod
    def assemble(
        cls,
        nodes: Nodes,
        relations: Mapping[Relation, CSR],
        *,
        directed: bool,
        features: Any = None,
        feature_mask: Any = None,
        node_data: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Graph:
        """Put parts together that are already numbered; what goes with the nodes is checked here.

        nodes and relations: as a graph has them; directed, features, feature_mask, node_data: as in from_relations.
        """
        given, known = _by_type(nodes, "features", features), _by_type(nodes, "feature_mask", feature_mask)
        for type in known.keys() - given.keys():
            raise InputError(f"feature_mask of type {type!r} is given without features of these nodes")
        checked = {type: checked_features(each, known.get(type), nodes.of(type), type) for type, each in given.items()}
        data: dict[str, Mapping[str, NDArray[Any]]] = {}
        for type, arrays in (node_data or {}).items():
            count = len(nodes.of(type))
            data[type] = MappingProxyType({name: checked_data(array, count, name) for name, array in arrays.items()})
        return cls(
            nodes,
            MappingProxyType(dict(relations)),
            MappingProxyType({type: matrix for type, (matrix, _) in checked.items()}),
            MappingProxyType(data),
            directed,
            MappingProxyType({type: mask for type, (_, mask) in checked.items() if mask is not None}),
        )

    # ---- size ----

    @property
    def node_types(self) -> tuple[str, ...]:
        """The node types, in the order in which their nodes are numbered."""
        return self.nodes.types

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations: (source type, name, destination type)."""
        return tuple(self._relations)

    @property
    def num_nodes(self) -> int:
        """Number of nodes of all types."""
        return len(self.nodes)

    @property
    def num_edges(self) -> int:
        """Number of edges of all relations; an undirected edge counts once."""
        return sum(self.edge_count(relation) for relation in self.relations)

    @property
    def nbytes(self) -> int:
        """Size of the ids and edges in memory."""
        return self.nodes.nbytes + sum(matrix.nbytes for matrix in self._relations.values())

    def count(self, type: str | None = None) -> int:
        """Number of nodes of a type; None: of the only one there is."""
        return len(self.nodes.of(type))

    def edge_count(self, relation: Relation) -> int:
        """Number of edges of a relation; an undirected edge counts once."""
        csr = self.matrix(relation)
        if self.directed or relation[0] != relation[2]:
            return csr.nnz
        return (csr.nnz + csr.num_loops()) // 2

    def ids(self, type: str | None = None) -> NDArray[Any]:
        """The users' ids of the nodes of a type, in node order: int64, or object for anything but integers.

        type: None for the only one there is.
        """
        return self.nodes.of(type).to_numpy()

    # ---- neighbors ----

    def matrix(self, relation: Relation) -> CSR:
        """The edges of one relation, rows in the source type, columns in the destination type."""
        if relation not in self._relations:
            raise InputError(f"relation {quoted(relation)} does not exist; this graph has {listed(self._relations)}")
        return self._relations[relation]

    def groups(self, by: By = "type", direction: Direction | None = None) -> tuple[NeighborGroup, ...]:
        """The K groups of neighbors of every node, each a matrix (num_nodes, num_nodes) over all types.

        by: "type" one group per neighbor type, "relation" one per relation and side, "all" a single group.
        direction: of a directed graph, "out" (default), "in", "both" in one group, or "split" into two groups.
        """
        return neighbor_groups(self.nodes, self._relations, self.directed, by, direction)

    def adjacency(self, direction: Direction | None = None) -> CSR:
        """All neighbors of every node, whatever their type: the untyped view; direction: as in groups."""
        return self.groups("all", direction)[0].matrix

    def links(self) -> CSR:
        """Who is linked to whom, whatever their types and the direction: a symmetric matrix over all nodes."""
        return self.adjacency("both" if self.directed else None)

    def neighbors(
        self, node: Any, type: str | None = None, *, by: By = "type", direction: Direction | None = None
    ) -> dict[str, list[Any]]:
        """The neighbors of one node by their ids: {group: ids}.

        node: its id; type: its type, where the id alone does not tell. by, direction: as in groups.
        """
        type, positions = self.nodes.find([node], type)
        number = self.nodes.slice(type).start + int(positions[0])
        return {
            group.name: [self.nodes.id_at(int(neighbor)) for neighbor in group.matrix.row(number)]
            for group in self.groups(by, direction)
        }

    # ---- other libraries ----

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, **options: Any) -> Graph:
        """Take a NetworkX graph with its node order and ids.

        graph: any kind of NetworkX graph. Edge attributes that are not read are named in a warning.
        options: type, relation, weight and features name the attributes to read (pine.graph.convert.networkx);
            directed; those of from_relations.
        """
        return cls.from_relations(**relations_from_networkx(graph, **options))

    def to_networkx(self) -> networkx.Graph:
        """Give a NetworkX graph with ids, types, weights and features, as far as they are known."""
        return to_networkx(self.nodes, self._relations, self.features, self.feature_mask, self.directed)

    @classmethod
    def from_scipy(cls, matrix: Any, **options: Any) -> Graph:
        """Take a SciPy matrix.

        matrix: square and sparse; entry (i, j) is the weight of the edge from i to j.
        options: ids of the rows, weights to keep or drop the entries (pine.graph.convert.scipy), those of from_edges.
        """
        arguments, ids = edges_from_scipy(matrix, **options)
        return cls.from_edges(**arguments).renamed(ids)

    def to_scipy(self, relation: Relation | None = None, *, matrix: bool = False) -> sp.csr_array | sp.csr_matrix:
        """Give the matrix of one relation, or of all neighbors of all nodes.

        relation: one of relations; None: all. matrix: a csr_matrix, for libraries that do not take a csr_array.
        """
        array = (self.adjacency() if relation is None else self.matrix(relation)).to_scipy()
        return sp.csr_matrix(array) if matrix else array

    @classmethod
    def from_pyg(cls, data: Any, **options: Any) -> Graph:
        """Take a graph of PyTorch Geometric.

        data: Data or HeteroData. Edge attributes that are not read are named in a warning.
        options: directed (pine.graph.convert.pyg), and those of from_relations.
        """
        arguments, ids = relations_from_pyg(data, **options)
        return cls.from_relations(**arguments).renamed(ids)

    def to_pyg(self) -> Any:
        """Give PyG's Data, or HeteroData for a typed graph."""
        return to_pyg(self.nodes, self._relations, self.features, self.feature_mask, self.node_data)

    def renamed(self, ids: Mapping[str, Any]) -> Graph:
        """The same graph with other ids for its nodes, in node order: {type: ids}."""
        return replace(self, nodes=self.nodes.renamed(ids))

    def with_features(self, features: Any, mask: Any = None) -> Graph:
        """The same graph with other features.

        features: {type: (count, num_features)}, or one array where there is one type.
        mask: True where a node's features are known, if not all are: {type: (count,)}, or one array.
        """
        given = Graph.assemble(
            self.nodes, self._relations, directed=self.directed, features=features, feature_mask=mask
        )
        return replace(self, features=given.features, feature_mask=given.feature_mask)

    def check_feature_widths(self, widths: Mapping[str, int]) -> None:
        """A graph that is given to a trained model must have the features of its training; widths: {type: width}."""
        for type, width in widths.items():
            got = self.features[type].shape[1] if type in self.features else 0
            if got != width:
                raise InputError(
                    f"this model was trained with {width} features of nodes of type {type!r}, this graph has {got}; "
                    "give it the same: Graph.from_edges(..., features=...) or graph.with_features"
                )

    def bare(self) -> Graph:
        """The same graph without node_data, which may hold labels."""
        return replace(self, node_data=MappingProxyType({}))

    def __repr__(self) -> str:
        kind = "directed " if self.directed else ""
        if self.node_types == (NODE,):
            return f"Graph({self.num_nodes:,} nodes, {self.num_edges:,} {kind}edges)"
        nodes = ", ".join(f"{len(ids):,} {type}" for type, ids in self.nodes.by_type.items())
        edges = ", ".join(f"{self.edge_count(each):,} {'-'.join(each)}" for each in self.relations)
        return f"Graph({nodes}; {kind}edges: {edges})"


def _by_type(nodes: Nodes, what: str, given: Any) -> dict[str, Any]:
    """{type: array} of types that there are; an array alone is of the only type."""
    if given is not None and not isinstance(given, Mapping):
        if len(nodes.types) > 1:
            raise InputError(f"{what} must be {{type: array}} for a graph of the types {listed(nodes.types)}")
        given = {nodes.types[0]: given}
    return {nodes.check_type(type): each for type, each in (given or {}).items() if each is not None}
