"""The peers' side of walks.py, for a Python that has pecanpy, fastnode2vec and gensim.

    python walks_peers.py PEER JOB FOLDER TINY

FOLDER and TINY hold a graph each (graph.npz) and walks on it (walks.npy). The work is done once on TINY; then once on
FOLDER for every line on the standard input, which is answered by a line of JSON with the seconds that it took.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fastnode2vec
import numpy as np
from gensim.models import Word2Vec
from numba.core.event import Listener, install_listener
from pecanpy import pecanpy

Step = tuple[float, Callable[[], Any]]  # the share of its time that counts, and what is done
Job = dict[str, Any]


def word2vec(job: Job) -> Word2Vec:
    """Skip-gram as walks.py asks for it, without words yet."""
    sizes = {"vector_size": job["dim"], "window": job["window"], "workers": job["threads"], "min_count": 0}
    return Word2Vec(**sizes, sg=1, epochs=1, **output(job))


def output(job: Job) -> dict[str, int]:
    """gensim's names for it; no word is left out for being frequent."""
    tree = job["output"] == "hierarchical"
    return {"hs": int(tree), "negative": 0 if tree else job["negatives"], "sample": 0}


# ---- gensim ----


def gensim_steps(job: Job, corpus: dict[str, Any]) -> list[Step]:
    """The three parts of build_vocab, and train. What is done once for all walks counts by the share of them."""
    kept: list[Word2Vec] = []

    def scan() -> None:
        kept[:] = [word2vec(job)]
        kept[0].corpus_total_words, kept[0].corpus_count = kept[0].scan_vocab(**corpus)

    def prepare() -> None:
        kept[0].prepare_vocab()
        kept[0].prepare_weights()

    def learn() -> Any:
        totals = {"total_examples": kept[0].corpus_count, "total_words": kept[0].corpus_total_words}
        kept[0].train(**corpus, **totals, epochs=1)
        return kept[0].wv.vectors

    return [(1, scan), (job["share"], prepare), (1, learn)]


def gensim_lists(job: Job, folder: Path) -> list[Step]:
    walks, words = np.load(folder / "walks.npy"), [str(node) for node in range(job["nodes"])]
    return gensim_steps(job, {"corpus_iterable": [[words[node] for node in walk] for walk in walks.tolist()]})


def gensim_lines(job: Job, folder: Path) -> list[Step]:
    walks, path = np.load(folder / "walks.npy"), folder / "walks.txt"
    with path.open("w") as lines:
        lines.writelines(" ".join(map(str, walk)) + "\n" for walk in walks.tolist())
    return gensim_steps(job, {"corpus_file": str(path)})


# ---- fastnode2vec ----


def fastnode2vec_steps(job: Job, folder: Path) -> list[Step]:
    arrays = np.load(folder / "graph.npz")
    source, target = np.repeat(np.arange(job["nodes"]), np.diff(arrays["indptr"])), arrays["indices"]
    once = source < target  # it lists an edge under both of its ends itself
    edges = list(zip(source[once].tolist(), target[once].tolist(), strict=True))
    graph = fastnode2vec.Graph(edges, directed=False, weighted=False, verbose=False)
    if job["part"] == "whole":
        return [(1, lambda: fastnode2vec_whole(job, graph))]
    return [(1, lambda: fastnode2vec_walks(job, graph))]


def fastnode2vec_walks(job: Job, graph: Any) -> list[list[int]]:
    """Its walks are made by the threads that learn from them; here by as many threads."""

    def some(starts: Any) -> list[list[int]]:
        return [graph.generate_random_walk(job["length"], job["p"], job["q"], start) for start in starts.tolist()]

    nodes, rng = len(graph.node_names), np.random.default_rng(0)
    starts = np.concatenate([rng.permutation(nodes) for _ in range(job["walks"])])
    with ThreadPoolExecutor(job["threads"]) as pool:
        parts = pool.map(some, np.array_split(starts, 16 * job["threads"]))
        return [walk for part in parts for walk in part]


def fastnode2vec_whole(job: Job, graph: Any) -> Any:
    given = (job["dim"], job["length"], job["window"], job["p"], job["q"], job["threads"])
    model = fastnode2vec.Node2Vec(graph, *given, **output(job))
    model.train(job["walks"], verbose=False)
    return model.wv[list(range(job["nodes"]))]


# ---- pecanpy ----


def pecanpy_steps(job: Job, folder: Path, tables: bool = False) -> list[Step]:
    """With tables of every pair of edges that meet (PreComp), or without.

    Making tables counts by the share of the walks that are made. It compiles anew for every graph and every call;
    `timed` takes that off.
    """
    kind = pecanpy.FirstOrderUnweighted if job["p"] == job["q"] == 1 else pecanpy.SparseOTF
    graph = (pecanpy.PreComp if tables else kind)(job["p"], job["q"], job["threads"], random_state=0)
    graph.read_npz(str(folder / "graph.npz"), weighted=False)

    def prepare() -> None:
        graph.preprocess_transition_probs()
        graph._preprocessed = True

    def walk() -> list[list[str]]:
        return graph.simulate_walks(job["walks"], job["length"] - 1)  # it counts steps

    def whole() -> Any:  # what its embed() does, but for the hierarchical softmax, which that has not
        model, walks = word2vec(job), walk()
        model.build_vocab(walks)
        model.train(walks, total_examples=model.corpus_count, epochs=1)
        return model.wv[graph.nodes]

    return [(job["share"], prepare), (1, whole if job["part"] == "whole" else walk)]


def pecanpy_tables(job: Job, folder: Path) -> list[Step]:
    return pecanpy_steps(job, folder, tables=True)


PEERS = {
    "gensim, lists": gensim_lists,
    "gensim, a file": gensim_lines,
    "fastnode2vec": fastnode2vec_steps,
    "pecanpy": pecanpy_steps,
    "pecanpy, tables": pecanpy_tables,
}


def check(job: Job, made: Any) -> None:
    """Walks must be as many and as long as asked for, and vectors finite."""
    if job["part"] == "walks":
        assert len(made) == job["walks"] * job["nodes"], len(made)
        assert max(map(len, made)) == job["length"], max(map(len, made))
    else:
        assert made.shape[1] == job["dim"], made.shape
        assert np.isfinite(made).all()


class Compilation(Listener):  # type: ignore[misc]
    """What numba's compiler takes, by the clock and of the processor."""

    def __init__(self) -> None:
        self.depth, self.spent = 0, np.zeros(2)

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.begin = clocks()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.spent += clocks() - self.begin


def clocks() -> Any:
    return np.array([time.perf_counter(), time.process_time()])


def timed(steps: list[Step]) -> tuple[Any, Any, float]:
    """What the last step made, the seconds that count, less compilation, and those of compilation."""
    spent, compiling, made = np.zeros(2), 0.0, None
    for share, step in steps:
        compilation, begin = Compilation(), clocks()
        with install_listener("numba:compile", compilation):
            made = step()
        spent += share * (clocks() - begin - compilation.spent)
        compiling += float(compilation.spent[0])
    return made, spent, compiling


def main() -> None:
    peer, job, folder, tiny = sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
    small = job | {"nodes": len(np.load(tiny / "graph.npz")["indptr"]) - 1}
    made, _, compiling = timed(PEERS[peer](small, tiny))
    check(small, made)
    steps = PEERS[peer](job, folder)
    print(json.dumps({"compiling": compiling}), flush=True)
    for _ in sys.stdin:
        made, spent, _ = timed(steps)
        check(job, made)
        print(json.dumps({"spent": spent.tolist()}), flush=True)


if __name__ == "__main__":
    main()
