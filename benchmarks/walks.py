"""DeepWalk and node2vec beside pecanpy, fastnode2vec and gensim: each number is that peer's time over ours.

    python benchmarks/walks.py --peers PYTHON [--nodes 100000] [--walks 10] [--learned N] [--threads 2] [--limit 120]

The peers need an older numpy and so a Python of their own, which is named by --peers; without it our side is measured
alone. Graphs are planted, of 10 edges a node.

The whole work is 10 walks of 80 nodes from every node. --walks 1 is a tenth of it on both sides, and what a peer
prepares once for all walks counts by a tenth. Walks and skip-gram are timed apart, skip-gram on the same walks on both
sides (the first N of them with --learned), and then together, as users call them.

A cell is "time by the clock / time of the processor", each the median over rounds in which all took turns; other load
on the machine changes the second less. Compilation is counted on neither side. A peer that needs more than --limit
seconds is stopped, and its cell says how many times our time that is at least.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from planted import as_graph, planted_graph

from pine import Graph
from pine.baselines import DeepWalk, Node2Vec
from pine.baselines.skip_gram.skip_gram import NEGATIVES, skip_gram
from pine.graph.csr import build_csr
from pine.graph.sampling.node2vec_walks import Node2VecWalker
from pine.graph.sampling.walks import Walker

WALKS, LENGTH, WINDOW, DIM = 10, 80, 10, 64
Spent = tuple[float, float]  # seconds by the clock, and of the processor
TINY = 600  # nodes of the graph that everything is compiled on
GENSIM = ("gensim, lists", "gensim, a file")  # what it reads walks from
TABLES = "pecanpy, tables"  # made once for all walks
FIRST, SECOND = ("fastnode2vec", "pecanpy"), ("fastnode2vec", "pecanpy", TABLES)


@dataclass(frozen=True)
class Work:
    """A row of the table."""

    name: str
    part: str  # walks, skip-gram or whole
    peers: tuple[str, ...]
    output: Literal["hierarchical", "negative"] = "negative"
    p: float = 1.0
    q: float = 1.0


WORKS = (
    Work("walks, first order", "walks", FIRST),
    Work("walks, p = 0.5, q = 2", "walks", SECOND, p=0.5, q=2.0),
    Work("skip-gram, 5 negatives", "skip-gram", GENSIM),
    Work("skip-gram, hierarchical softmax", "skip-gram", GENSIM, output="hierarchical"),
    Work("DeepWalk, hierarchical softmax", "whole", FIRST, output="hierarchical"),
    Work("node2vec, p = 0.5, q = 2, 5 negatives", "whole", SECOND, p=0.5, q=2.0),
)


def dense_graph(num_nodes: int) -> Graph:
    """Two planted graphs of 5 edges a node, one over the other."""
    both = [planted_graph(num_nodes, seed=seed)[0] for seed in (0, 1)]
    source, target = (np.concatenate(ends) for ends in zip(*[(csr.rows(), csr.indices) for csr in both], strict=True))
    return as_graph(build_csr(source, target, None, (num_nodes, num_nodes)))


# ---- ours ----


def made_walks(walker: Walker | Node2VecWalker, num_nodes: int, walks: int, threads: int) -> list[NDArray[Any]]:
    """So many passes of a walk from every node."""
    rng = np.random.default_rng(0)
    return [walker.walks(rng.permutation(num_nodes), LENGTH, int(rng.integers(2**63)), threads) for _ in range(walks)]


def our_way(work: Work, graph: Graph, made: list[NDArray[Any]], threads: int) -> Callable[[], Any]:
    """What is timed on our side."""
    if work.part == "walks":
        kind = Walker.of if work.p == work.q == 1 else lambda rows: Node2VecWalker.of(rows, work.p, work.q)
        return lambda: made_walks(kind(graph.links()), graph.num_nodes, len(made), threads)
    if work.part == "skip-gram":
        return lambda: our_skip_gram(work.output, graph.num_nodes, made, threads)
    sizes: dict[str, Any] = {"dim": DIM, "walks": len(made), "length": LENGTH, "window": WINDOW, "threads": threads}
    if work.p == work.q == 1:
        return lambda: DeepWalk(output=work.output, **sizes).fit(graph).embedding_
    return lambda: Node2Vec(p=work.p, q=work.q, **sizes).fit(graph).embedding_


def our_skip_gram(output: str, num_nodes: int, made: list[NDArray[Any]], threads: int) -> NDArray[np.float32]:
    """Counting the words included, as it is for gensim."""
    counts = sum(np.bincount(walks.ravel(), minlength=num_nodes) for walks in made)
    settings: dict[str, Any] = {"dim": DIM, "window": WINDOW, "output": output, "threads": threads}
    return skip_gram(made, sum(map(len, made)), np.asarray(counts), rng=np.random.default_rng(0), **settings)


def timed(way: Callable[[], Any]) -> Spent:
    """The time that passed, and that of all threads together."""
    begin = time.perf_counter(), time.process_time()
    made = way()
    end = time.perf_counter(), time.process_time()
    assert isinstance(made, list) or np.isfinite(made).all()
    return end[0] - begin[0], end[1] - begin[1]


# ---- the peers ----


@dataclass
class Peer:
    """A process that does a job each time it is asked to: see walks_peers.py."""

    process: subprocess.Popen[bytes]
    errors: Path
    counted: float  # the least share of its time that counts
    compiling: float = 0.0
    spent: list[Spent] = field(default_factory=list)
    problem: str = ""

    @classmethod
    def start(cls, python: str, name: str, job: dict[str, Any], folder: Path, tiny: Path) -> Peer:
        script = Path(__file__).with_name("walks_peers.py")
        errors = folder / f"{name}.errors"
        with errors.open("wb") as told:
            process = subprocess.Popen(
                [python, str(script), name, json.dumps(job), str(folder), str(tiny)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=told,
                bufsize=0,
                env=os.environ | {"NUMBA_NUM_THREADS": str(job["threads"])},
            )
        return cls(process, errors, job["share"] if name == TABLES else 1.0)

    def ready(self) -> None:
        """Wait until it is prepared and warm."""
        self.compiling = self._answer(None).get("compiling", 0.0)

    def work(self, limit: float) -> None:
        """Once more, if it can; what it compiles on the way is added to the limit."""
        if self.problem:
            return
        assert self.process.stdin
        self.process.stdin.write(b"\n")
        answer = self._answer(limit + self.compiling)
        if "spent" in answer:
            self.spent.append(tuple(answer["spent"]))

    def _answer(self, limit: float | None) -> dict[str, Any]:
        assert self.process.stdout
        if not select.select([self.process.stdout], [], [], limit)[0]:
            self.problem = "slow"
            self.end()  # at once: it would slow down the others
            return {}
        line = self.process.stdout.readline()
        if not line:
            self.problem = "failed"
            print(self.errors.read_text()[-2000:], flush=True)
            return {}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def cell(self, ours: list[Spent], limit: float) -> str:
        """Its time over ours, by the clock and of the processor: the medians of the rounds."""
        if self.problem == "failed":
            return "failed"
        if not self.spent:
            return f"more than {rounded(self.counted * limit / ours[0][0])}"
        ratios = [np.divide(its, own) for its, own in zip(self.spent, ours, strict=False)]  # it may have been stopped
        return " / ".join(rounded(ratio) for ratio in np.median(ratios, axis=0))


def rounded(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


# ---- the table ----


def report(work: Work, graph: Graph, made: list[NDArray[Any]], folder: Path, given: argparse.Namespace) -> None:
    """Print a row."""
    our_way(work, *tiny_inputs(), given.threads)()  # compiles
    ours_again = our_way(work, graph, made, given.threads)
    share = sum(map(len, made)) / (WALKS * graph.num_nodes)
    sizes = {"nodes": graph.num_nodes, "walks": given.walks, "share": share, "length": LENGTH}
    settings = {"dim": DIM, "window": WINDOW, "negatives": NEGATIVES, "threads": given.threads, "output": work.output}
    job = {"part": work.part, "p": work.p, "q": work.q, **sizes, **settings}
    names = work.peers if given.peers else ()
    peers = {name: Peer.start(given.peers, name, job, folder, folder / "tiny") for name in names}
    try:
        for peer in peers.values():
            peer.ready()
        ours = []
        for _ in range(given.rounds):
            ours.append(timed(ours_again))
            for peer in peers.values():
                peer.work(given.limit)
    finally:
        for peer in peers.values():
            peer.end()
    cells = [peers[name].cell(ours, given.limit) if name in peers else "" for name in (*GENSIM, *SECOND)]
    print(f"| {work.name} | {' | '.join(cells)} | {min(ours)[0]:.2f} s |", flush=True)


def tiny_inputs() -> tuple[Graph, list[NDArray[Any]]]:
    graph = dense_graph(TINY)
    return graph, made_walks(Walker.of(graph.links()), TINY, 1, 1)


def write(folder: Path, graph: Graph, learned: list[NDArray[Any]]) -> None:
    """A graph as pecanpy reads it, and walks."""
    folder.mkdir(exist_ok=True)
    links, ids = graph.links(), np.arange(graph.num_nodes).astype(str)
    ones = np.ones(links.nnz, np.float32)
    np.savez(folder / "graph.npz", indptr=links.indptr, indices=links.indices, data=ones, IDs=ids)
    np.save(folder / "walks.npy", np.concatenate(learned))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", help="a Python that has pecanpy, fastnode2vec and gensim")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--walks", type=int, default=WALKS)
    parser.add_argument(
        "--learned", type=int, help="how many of the walks skip-gram alone learns from; all if not said"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--parts", default="walks,skip-gram,whole")
    given = parser.parse_args()
    graph = dense_graph(given.nodes)
    made = made_walks(Walker.of(graph.links()), given.nodes, given.walks, given.threads)
    print(
        f"{given.nodes:,} nodes, {graph.num_edges:,} edges, {given.walks} of {WALKS} walks, {given.threads} threads\n"
    )
    print(f"| work | {' | '.join((*GENSIM, *SECOND))} | ours here |\n|---|{'---|' * len((*GENSIM, *SECOND))}---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        learned = [np.concatenate(made)[: given.learned]]
        write(folder, graph, learned)
        write(folder / "tiny", *tiny_inputs())
        for work in WORKS:
            if work.part in given.parts.split(","):
                report(work, graph, learned if work.part == "skip-gram" else made, folder, given)


if __name__ == "__main__":
    main()
