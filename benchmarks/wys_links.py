"""Watch Your Step predicts the held-out half of a graph's edges: AUC beside its authors' on the same splits.

    python benchmarks/wys_links.py --data FOLDER [--graphs ppi,soc-facebook,ca-HepTh] [--dim 64] [--seeds 3]

FOLDER has a folder for each graph, with train.txt.npy, test.txt.npy and test.neg.txt.npy: pairs of node numbers, as in
datasets/asymproj of https://github.com/samihaija/tf-fsvd. Vectors are learned from the training edges, and a pair
(u, v) has the score L_u . R_v. All settings are the defaults; so the last of 100 steps is scored, where the authors
score that of the best training AUC.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine import Graph
from pine.baselines.wys import WYS
from pine.links.measures import auc

# Test AUC in per cent of Abu-El-Haija et al., 2018, Table 1, as recalled: with 64 and with 128 dimensions.
AUTHORS = {"ppi": (89.8, 91.0), "soc-facebook": (99.4, 99.5), "ca-HepTh": (93.6, 93.9)}


def read(folder: Path, part: str) -> NDArray[np.int64]:
    """The pairs of a part: (count, 2)."""
    return np.asarray(np.load(folder / f"{part}.txt.npy"), np.int64)


def test_auc(model: WYS, folder: Path) -> float:
    """Of the pairs that are edges against those that are not."""
    left, right = np.split(np.asarray(model.embedding_, np.float64), 2, axis=1)
    pairs = [read(folder, part) for part in ("test", "test.neg")]
    return auc(*(np.einsum("ij,ij->i", left[each[:, 0]], right[each[:, 1]]) for each in pairs))


def measured(folder: Path, settings: dict[str, Any]) -> tuple[float, float, NDArray[np.float64]]:
    """One fit: test AUC, seconds, and the attention that was learned."""
    edges = read(folder, "train")
    count = 1 + max(int(read(folder, part).max()) for part in ("train", "test", "test.neg"))
    graph = Graph.from_edges(edges, nodes=range(count))
    begin = time.perf_counter()
    model = WYS(**settings).fit(graph)
    return test_auc(model, folder), time.perf_counter() - begin, model.attention_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the graphs")
    parser.add_argument("--graphs", default=",".join(AUTHORS))
    parser.add_argument("--dim", type=int, default=64, help="of L and R together")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print("| graph | d | AUC | authors, d = 64, 128 | attention | s |\n|---|---|---|---|---|---|")
    for name in given.graphs.split(","):
        runs = [measured(given.data / name, {"dim": given.dim, "seed": seed}) for seed in range(given.seeds)]
        aucs = 100 * np.array([run[0] for run in runs])
        attention = " ".join(f"{share:.2f}" for share in runs[0][2])
        authors = ", ".join(map(str, AUTHORS.get(name, ("?",))))
        seconds = np.mean([run[1] for run in runs])
        auc = f"{aucs.mean():.1f} ±{aucs.std():.1f}"
        print(f"| {name} | {given.dim} | {auc} | {authors} | {attention} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
