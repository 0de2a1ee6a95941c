"""One method on one graph, in an environment that has it: see start.py.

    python start_peers.py METHOD GRAPH TINY OUT THREADS

GRAPH and TINY are adjacencies (scipy.sparse.save_npz). The work is done on TINY first, which compiles and loads; then
on GRAPH: vectors go to OUT (.npy), seconds and the peak of memory above the graph, in bytes, to the standard output.
Making a library's own graph object counts as neither.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

DIM = 64
Work = Callable[[], Any]  # (num_nodes, DIM)


def ours(graph: sp.csr_array, threads: int) -> Work:
    from pine.graph.csr import CSR
    from pine.model.init import start

    start.EXACT_NODES = 0
    weights = None if (graph.data == 1).all() else graph.data.astype(np.float32)
    csr = CSR(graph.indptr.astype(np.int64), graph.indices.astype(np.int32), weights, graph.shape[1])
    return lambda: start.structural_start(csr, DIM, np.random.default_rng(0), threads=threads)


def prone(graph: sp.csr_array, threads: int) -> Work:
    from nodevectors import ProNE

    return lambda: ProNE(n_components=DIM, verbose=False).fit_transform(sp.csr_matrix(graph))


def cleora_graph(graph: sp.csr_array, threads: int) -> tuple[Any, Callable[[Any], Any]]:
    """Its graph, and a function that puts vectors into our order; it knows no weights."""
    from pycleora import SparseMatrix

    upper = sp.triu(graph, format="coo")
    lines = (f"{a} {b}" for a, b in zip(upper.row.tolist(), upper.col.tolist(), strict=True))
    matrix = SparseMatrix.from_iterator(lines, "complex::reflexive::node", num_workers=threads)
    place = np.array(matrix.entity_ids).astype(np.int64)

    def in_order(vectors: Any) -> Any:
        x = np.zeros((graph.shape[0], DIM), np.float32)
        x[place] = vectors
        return x

    return matrix, in_order


def cleora(graph: sp.csr_array, threads: int) -> Work:
    """All its defaults: 40 rounds, whitened after each."""
    from pycleora import embed

    matrix, in_order = cleora_graph(graph, threads)
    return lambda: in_order(embed(matrix, DIM, num_workers=threads))


def cleora_fast(graph: sp.csr_array, threads: int) -> Work:
    """Its loop in Rust, which never whitens; four rounds, as more make all vectors one."""
    matrix, in_order = cleora_graph(graph, threads)
    return lambda: in_order(matrix.embed_fast(DIM, 4, num_workers=threads))


def randomized_svd(graph: sp.csr_array, threads: int) -> Work:
    from sklearn.utils.extmath import randomized_svd

    def work() -> Any:
        u, s, _ = randomized_svd(graph, DIM, random_state=0)
        return u * np.sqrt(s)

    return work


def spectral(graph: sp.csr_array, threads: int) -> Work:
    from sknetwork.embedding import Spectral

    return lambda: Spectral(DIM).fit_transform(sp.csr_matrix(graph))


def node2vec(graph: sp.csr_array, threads: int) -> Work:
    """Ours: walks in compiled code, ten of 80 steps from each node, as its authors have them."""
    from pine import Graph
    from pine.baselines.node2vec import Node2Vec

    upper = sp.triu(graph, format="coo")
    whole = Graph.from_edges(np.stack([upper.row, upper.col], axis=1), nodes=range(graph.shape[0]))
    return lambda: Node2Vec(dim=DIM, walks=10, threads=threads).fit(whole).embedding_


METHODS = {
    "whitened propagation": ours,
    "ProNE": prone,
    "Cleora": cleora,
    "Cleora embed_fast": cleora_fast,
    "randomized SVD": randomized_svd,
    "Spectral": spectral,
    "node2vec": node2vec,
}


def main() -> None:
    name, path, tiny, out, threads = sys.argv[1:]
    METHODS[name](sp.load_npz(tiny), int(threads))()
    work = METHODS[name](sp.load_npz(path), int(threads))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter(), time.process_time()
    x = work()
    spent = time.perf_counter() - begin[0], time.process_time() - begin[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    np.save(out, np.asarray(x, np.float32))
    print(json.dumps({"seconds": spent[0], "cpu": spent[1], "peak": 1024 * peak}))


if __name__ == "__main__":
    main()
