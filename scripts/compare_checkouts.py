"""Whether two checkouts give the same bits: every method of both that does without node features, on the embedded Cora
with half of its labels.

    python scripts/compare_checkouts.py BEFORE AFTER [--methods pine,gcn] [--full]

BEFORE and AFTER are folders of checkouts. Each is run in a process of its own, one thread, with this Python's packages.
Methods that take minutes have fewer rounds, unless --full is given; PINE has its defaults. Hashes of the vectors and of
the predictions are compared. Exit code 1: something differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

# Names of settings that both checkouts know.
FEWER_ROUNDS: dict[str, dict[str, Any]] = {
    "deepwalk": {"walks": 4},
    "node2vec": {"walks": 4},
    "struc2vec": {"walks": 1, "epochs": 1},
    "metapath2vec": {"walks": 4},
    "wys": {"steps": 5},
    "planetoid": {"graph_steps": 20, "label_steps": 200, "steps": 500},
    "gat": {"epochs": 20},
    "gcn": {"epochs": 50},
    "graphsage": {"epochs": 20},
    "appnp": {"epochs": 20},
    "gcnii": {"epochs": 5},
    "grand": {"epochs": 20},
}
UNSUPERVISED = "pine-unsupervised"


def digest(array: Any) -> str:
    import numpy as np

    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def fit_all(methods: list[str], full: bool) -> None:
    """Fit methods of the checkout that is on the path, and print a line of JSON for each."""
    import numpy as np

    import pine

    data = pine.datasets.load("cora")
    seen = np.where(np.arange(data.graph.num_nodes) % 2, np.asarray(data.labels), -1)
    for name in methods:
        method = pine.METHODS["pine" if name == UNSUPERVISED else name]
        model = method()
        known = model.get_params()
        wanted = {"seed": 0, "threads": 1, "device": "cpu"} | ({} if full else FEWER_ROUNDS.get(name, {}))
        model.set_params(**{key: value for key, value in wanted.items() if key in known})
        begin = time.perf_counter()
        model.fit(data.graph, seen if method.supervised and name != UNSUPERVISED else None)
        hashes = {"vectors": digest(model.embedding_)}
        if method.supervised and name != UNSUPERVISED:
            hashes["predictions"] = digest(model.predict_proba())
        print(json.dumps({"name": name, "seconds": time.perf_counter() - begin, **hashes}), flush=True)


def names_of(checkout: Path) -> list[str]:
    usable = "name for name, method in pine.METHODS.items() if not getattr(method, 'needs_features', False)"
    command = [sys.executable, "-c", f"import pine; print(*({usable}))"]
    return subprocess.run(command, env=environment(checkout), check=True, capture_output=True, text=True).stdout.split()


def environment(checkout: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(checkout.resolve() / "src"), "OMP_NUM_THREADS": "1"}


def run(checkout: Path, methods: list[str], full: bool) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--worker", ",".join(methods), *(["--full"] if full else [])]
    return subprocess.Popen(command, env=environment(checkout), stdout=subprocess.PIPE, text=True)


def next_result(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The next line that a checkout prints, empty where it has failed."""
    assert process.stdout is not None
    result: dict[str, Any] = json.loads(process.stdout.readline() or "{}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--methods")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker is not None:
        fit_all(given.worker.split(","), given.full)
        return
    if len(given.checkouts) != 2:
        parser.error("give two checkouts")
    methods = given.methods.split(",") if given.methods else [*names_of(given.checkouts[1]), UNSUPERVISED]
    before, after = (run(checkout, methods, given.full) for checkout in given.checkouts)
    differs = []
    print(f"{'method':<20} {'same':<6} {'s before':>9} {'s after':>9}")
    for name in methods:
        old, new = (next_result(process) for process in (before, after))
        same = bool(old) and all(old.get(key) == new.get(key) for key in ("name", "vectors", "predictions"))
        if not same:
            differs.append(name)
        times = [f"{each['seconds']:9.1f}" if each else f"{'failed':>9}" for each in (old, new)]
        print(f"{name:<20} {'yes' if same else 'NO':<6} {times[0]} {times[1]}", flush=True)
    print("the same bits" if not differs else f"not the same: {', '.join(differs)}")
    sys.exit(bool(differs))


if __name__ == "__main__":
    main()
